"""Reads the catalogue of scenarios: one file each, with its steps, its tests, and the scenarios that it depends on."""

from __future__ import annotations

from collections import Counter
from fnmatch import filter as matching
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.board.governance.documents import SIGEE, Fault, Faults, names_in, text_of, tree_of
from santiago.board.governance.hierarchy import CONTRACT, LAYERS
from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.judge.commandline import programs
from santiago.planner.structured.tree import Array, as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from santiago.planner.structured.tree import Object

CATALOGUE = f"{SIGEE}/dag/scenarios"
ENDING = ".scenario.yml"
MOST, MOST_FILES = 64 << 10, 2000
"""The largest scenario file in bytes, and the most scenarios in one project."""
SEPARATOR = "|||"
"""Separates the commands of a bundle."""
STEPS = ("red_run", "impl_run", "green_run", "verify")
BUNDLES = {f"{kind}_tests": number for kind, number in CONTRACT.items()}
"""Key → how many commands it must have."""
REQUIRED = ("id", "title", "owner", "outcome_id", "capability_id", "stability_layer", "changed_paths", *STEPS)
KEYS = (*REQUIRED, "depends_on", "linked_nodes", *BUNDLES)
_ID = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_DO_NOTHING = frozenset({"true", ":"})


@record
class Scenario:
    """One scenario, as its file says."""

    file: str
    id: str
    outcome: str
    capability: str
    layer: str
    depends_on: tuple[str, ...]
    linked: tuple[str, ...]
    changed_paths: tuple[str, ...]
    steps: Mapping[str, str]
    """Key → command."""
    bundles: Mapping[str, tuple[str, ...]]
    """Key → commands."""
    lines: Mapping[str, int]
    """Key → line."""
    text: str

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    @property
    def commands(self) -> tuple[str, ...]:
        """Every command that the scenario would run, once."""
        tests = (command for bundle in self.bundles.values() for command in bundle)
        return tuple(dict.fromkeys((*self.steps.values(), *tests)))


@record
class Catalogue:
    """All scenarios of a project by id, and their faults."""

    scenarios: Mapping[str, Scenario]
    faults: tuple[Fault, ...]


def files_in(project: Path, folder: str) -> tuple[str, ...]:
    """Return the scenario files of a folder, by name."""
    try:
        found = sorted(path.name for path in (project / folder).iterdir() if path.name.endswith(ENDING))
    except OSError:
        return ()
    return tuple(f"{folder}/{name}" for name in found)


def read(project: Path) -> Catalogue:
    """Read the catalogue of a project. Check each scenario, then all of them together."""
    faults = Faults()
    names = files_in(project, CATALOGUE)
    if len(names) > MOST_FILES:
        faults.add(
            CATALOGUE, 0, f"there are more than {MOST_FILES:,} scenarios", "Remove those that are no longer used."
        )
    found = [_read(project, name, faults) for name in names[:MOST_FILES]]
    scenarios = {one.id: one for one in found if one is not None}
    for one in scenarios.values():
        _check_known(one, "depends_on", one.depends_on, scenarios, faults)
        _check_known(one, "linked_nodes", one.linked, scenarios, faults)
        if not one.linked and len(scenarios) > 1:
            line = one.lines.get("linked_nodes", 1)
            faults.add(one.file, line, "linked_nodes names no scenario", "Name at least one that this one works with.")
    if path := _cycle(scenarios):
        first = scenarios[path[0]]
        message = f"scenarios wait for each other: {' -> '.join(path)}"
        faults.add(first.file, first.lines.get("depends_on", 0), message, "Remove one of these depends_on.")
    return Catalogue(scenarios=scenarios, faults=faults.in_order())


def _read(project: Path, name: str, faults: Faults) -> Scenario | None:
    text = text_of(project, name, faults, MOST)
    tree = tree_of(name, text, faults) if text is not None else None
    if text is None or tree is None:
        return None
    lines = {key: entry.line for key in KEYS if (entry := tree.field(key))}
    found = Scenario(
        file=name,
        id=tree.text("id"),
        outcome=tree.text("outcome_id"),
        capability=tree.text("capability_id"),
        layer=tree.text("stability_layer"),
        depends_on=names_in(tree.get("depends_on")),
        linked=names_in(tree.get("linked_nodes")),
        changed_paths=names_in(tree.get("changed_paths")),
        steps={key: tree.text(key) for key in STEPS},
        bundles={key: _bundle(tree, key) for key in BUNDLES},
        lines=lines,
        text=text,
    )
    _check_words(found, tree, faults)
    _check_commands(found, faults)
    return found if _ID.fullmatch(found.id) else None


def _bundle(tree: Object, key: str) -> tuple[str, ...]:
    node = tree.get(key)
    texts = [as_text(one) for one in node.items] if isinstance(node, Array) else as_text(node).split(SEPARATOR)
    return tuple(text.strip() for text in texts if text.strip())


def _check_words(one: Scenario, tree: Object, faults: Faults) -> None:
    for key in REQUIRED:
        if not tree.text(key) and not names_in(tree.get(key)):
            faults.add(one.file, one.lines.get(key, 1), f"{key} is missing", f"Write `{key}: …`.")
    stem = one.file.rpartition("/")[2].removesuffix(ENDING)
    if one.id and not _ID.fullmatch(one.id):
        remedy = "Use letters, digits, _ and -, at most 100."
        faults.add(one.file, one.lines["id"], f"{one.id!r} cannot be an id", remedy)
    elif one.id and one.id != stem:
        faults.add(one.file, one.lines["id"], f"the id {one.id} is not the file's name {stem}", "Make them the same.")
    if one.layer and one.layer not in LAYERS:
        line = one.lines["stability_layer"]
        faults.add(one.file, line, f"stability_layer is {one.layer!r}", f"Write one of {', '.join(LAYERS)}.")


def _check_commands(one: Scenario, faults: Faults) -> None:
    """Check that there are as many tests as the test contract asks for, and that every command does something."""
    for key, number in BUNDLES.items():
        commands, line = one.bundles[key], one.lines.get(key, 1)
        if len(commands) != number:
            message = f"test contract: {key} has {count(len(commands), 'command')} and must have {number}"
            faults.add(one.file, line, message, f"Write {number}, with {SEPARATOR} between them.")
        for twice in (command for command, times in Counter(commands).items() if times > 1):
            faults.add(
                one.file, line, f"test contract: {key} names `{twice}` twice", "Let each test show something else."
            )
    keyed = [*one.steps.items(), *((key, command) for key in BUNDLES for command in one.bundles[key])]
    for key, command in keyed:
        if command and shows_nothing(command):
            message = f"test contract: `{command}` as {key} shows nothing, whatever the code does"
            faults.add(one.file, one.lines.get(key, 1), message, "Write a command that can fail.")


def concerns(one: Scenario, files: tuple[str, ...]) -> bool:
    """Tell whether one of these files is the scenario's own file, or matches its changed_paths."""
    return one.file in files or any(_matches(glob, files) for glob in one.changed_paths)


def _matches(glob: str, files: tuple[str, ...]) -> bool:
    """Tell whether a glob matches one of the files. `*` also crosses folders, and a folder matches all that is in it.

    Matching too much only costs time. Matching too little would skip a verification.
    """
    folder = f"{glob.rstrip('/')}/"
    forms = {glob, glob.replace("**/", ""), f"{folder}*"}
    return any(matching(files, form) for form in sorted(forms))


def shows_nothing(command: str) -> bool:
    """Tell whether a command is made of `true` and `:` only."""
    found = programs(command)
    return bool(found) and all(program.name in _DO_NOTHING for program in found)


def _cycle(scenarios: Mapping[str, Scenario]) -> tuple[str, ...]:
    """Return a cycle of scenarios that wait for each other, which begins and ends with its smallest name; else nothing."""
    needs = {name: [dep for dep in one.depends_on if dep in scenarios] for name, one in sorted(scenarios.items())}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        ring = list(error.args[1])[:0:-1]  # each depends on the one after it
        start = ring.index(min(ring))
        return (*ring[start:], *ring[:start], ring[start])
    return ()


def _check_known(
    one: Scenario, key: str, names: Iterable[str], scenarios: Mapping[str, Scenario], faults: Faults
) -> None:
    for name in names:
        if name == one.id:
            faults.add(one.file, one.lines[key], f"{key} names the scenario itself", "Remove it.")
        elif name not in scenarios:
            faults.add(
                one.file, one.lines[key], f"{key} names {name}, which does not exist", "Write it, or remove the name."
            )
