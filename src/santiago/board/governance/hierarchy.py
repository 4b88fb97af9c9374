"""Reads the product truth: visions, pillars, objectives, outcomes, capabilities, links to scenarios, and overrides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from santiago.board.governance.documents import SIGEE, text_of, tree_of, whole_number
from santiago.contract.record import record
from santiago.planner.structured.tree import Array, Object, as_bool, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from santiago.board.governance.documents import Faults

TRUTH = f"{SIGEE}/product-truth"
LAYERS = ("core", "system", "experimental")
CONTRACT = {"unit_normal": 2, "unit_boundary": 2, "unit_failure": 2, "boundary_smoke": 5}
"""The test contract: how many tests of each kind a scenario must have."""
SLACK = timedelta(minutes=1)
"""How far ahead the clock of another machine may be."""


class Level(NamedTuple):
    """One level of the hierarchy: its file, the key of its list, and the key that names the entry above."""

    file: str
    list: str
    above: str


LEVELS = (
    Level("vision.yaml", "visions", ""),
    Level("pillars.yaml", "pillars", "vision_id"),
    Level("objectives.yaml", "objectives", "pillar_id"),
    Level("outcomes.yaml", "outcomes", "objective_id"),
    Level("capabilities.yaml", "capabilities", "outcome_id"),
)
LINKS = Level("traceability.yaml", "links", "")
OVERRIDES = Level("core-overrides.yaml", "overrides", "")
FILES = (*LEVELS, LINKS, OVERRIDES)


@record
class Entry:
    file: str
    line: int
    id: str
    above: str
    layer: str
    content: str
    """All keys and values as text, to see whether the entry changed."""


@record
class Link:
    """Says that a scenario shows a capability."""

    line: int
    scenario: str
    outcome: str
    capability: str
    prefix: str
    layer: str
    content: str


@record
class Override:
    """A person's permission to change the core layer for some time."""

    line: int
    id: str
    enabled: bool
    expires_at: str

    def is_active(self, now: datetime) -> bool:
        ends = moment(self.expires_at)
        return self.enabled and ends is not None and ends > now


@record
class Truth:
    """The content of all files of the product truth."""

    revisions: Mapping[str, int]
    """File → revision. Files without one are left out."""
    entries: Mapping[str, tuple[Entry, ...]]
    """List → its entries. A list is left out where its file is missing, or has no such list."""
    links: tuple[Link, ...]
    overrides: tuple[Override, ...]


def now() -> datetime:
    return datetime.now(UTC)


def moment(text: str) -> datetime | None:
    """Return a text as a time in UTC; None where it is not one."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.utcoffset() == timedelta(0) else None


def path_of(level: Level) -> str:
    return f"{TRUTH}/{level.file}"


def read(project: Path, faults: Faults) -> Truth:
    """Read all files that exist, and add what is wrong with them to the faults."""
    present = [path_of(level) for level in FILES if (project / path_of(level)).exists()]
    texts = {name: text_of(project, name, faults) for name in present}
    return parse({name: text for name, text in texts.items() if text is not None}, faults)


def parse(texts: Mapping[str, str], faults: Faults) -> Truth:
    """Read the product truth from texts, which are given by the names of their files."""
    trees = {name: tree_of(name, text, faults) for name, text in texts.items()}
    files = {level: _File(level, tree, faults) for level in FILES if (tree := trees.get(path_of(level))) is not None}
    revisions = {level.file: found for level, file in files.items() if (found := file.head()) is not None}
    entries = {level: tuple(files[level].entries()) for level in LEVELS if level in files}
    return Truth(
        revisions=revisions,
        entries={level.list: found for level, found in entries.items() if files[level].has_list},
        links=tuple(files[LINKS].links()) if LINKS in files else (),
        overrides=tuple(files[OVERRIDES].overrides()) if OVERRIDES in files else (),
    )


class _File:
    """One file of the product truth, which is checked while it is read."""

    def __init__(self, level: Level, tree: Object, faults: Faults) -> None:
        self.level, self.tree, self.faults = level, tree, faults
        self.name = path_of(level)

    def head(self) -> int | None:
        """Check the keys that every file begins with, and return the revision."""
        revision = self.number("revision")
        self.number("version")
        self.needed(self.tree, "owner", "Name who is responsible for this file.")
        written = self.time(self.tree, "updated_at")
        if written is not None and written > now() + SLACK:
            line = self.line("updated_at")
            self.fault(line, "updated_at is in the future", "Write the time of the last change, in UTC.")
        return revision

    def entries(self) -> Iterator[Entry]:
        known: dict[str, int] = {}
        for item in self.items():
            name = self.needed(item, "id", "Give each entry an id of its own.")
            if name in known:
                self.fault(
                    item.line,
                    f"the id {name} is used twice (also on line {known[name]})",
                    "Give one of them another id.",
                )
            known.setdefault(name, item.line)
            above = self.needed(item, self.level.above, "Name the entry above it.") if self.level.above else ""
            layer = self.layer(item, "stability_layer_default") if self.level.list == "capabilities" else ""
            yield Entry(file=self.name, line=item.line, id=name, above=above, layer=layer, content=flat(item))

    def links(self) -> Iterator[Link]:
        known: dict[str, int] = {}
        for item in self.items():
            scenario = self.needed(item, "scenario_id", "Name the scenario that shows the capability.")
            if scenario in known:
                earlier = f"the scenario {scenario} is linked twice (line {known[scenario]})"
                self.fault(item.line, earlier, "Keep one link for each scenario.")
            known.setdefault(scenario, item.line)
            prefix = self.needed(item, "dag_node_prefix", "Write how the names of the scenario's steps begin.")
            if scenario and prefix and not scenario.startswith(prefix):
                odd = f"the scenario {scenario} does not begin with its dag_node_prefix {prefix}"
                self.fault(item.line, odd, "Write a prefix that the scenario's id begins with.")
            self.contract(item)
            yield Link(
                line=item.line,
                scenario=scenario,
                outcome=self.needed(item, "outcome_id", "Name the outcome."),
                capability=self.needed(item, "capability_id", "Name the capability."),
                prefix=prefix,
                layer=self.layer(item, "stability_layer"),
                content=flat(item),
            )

    def overrides(self) -> Iterator[Override]:
        for item in self.items():
            for key in ("approved_by", "reason"):
                self.needed(item, key, "Say who allowed it, and why.")
            for key in ("created_at", "expires_at"):
                self.time(item, key)
            if item.text("layer") != "core":
                self.fault(
                    item.line, "the layer of an override is not core", "Write `layer: core`; no other needs one."
                )
            enabled = as_bool(item.get("enabled")) is not False
            yield Override(line=item.line, id=item.text("id"), enabled=enabled, expires_at=item.text("expires_at"))

    def contract(self, item: Object) -> None:
        """Check that a link asks for exactly the tests of the test contract."""
        asked = item.get("required_test_contract")
        for kind, number in CONTRACT.items():
            if whole_number(asked.get(kind) if isinstance(asked, Object) else None) != number:
                line = asked.line if asked else item.line
                self.fault(line, f"test contract: it does not ask for {kind}: {number}", f"Write `{kind}: {number}`.")

    def layer(self, item: Object, key: str) -> str:
        found = self.needed(item, key, f"Write one of {', '.join(LAYERS)}.")
        if found and found not in LAYERS:
            self.fault(self.line(key, item), f"{key} is {found!r}", f"Write one of {', '.join(LAYERS)}.")
        return found

    @property
    def has_list(self) -> bool:
        return isinstance(self.tree.get(self.level.list), Array)

    def items(self) -> Iterator[Object]:
        """Yield the entries of the file's list. Anything else in the list is a fault."""
        found = self.tree.get(self.level.list)
        if not isinstance(found, Array):
            remedy = f"Write `{self.level.list}:` and the entries below it, or `{self.level.list}: []`."
            self.fault(self.line(self.level.list), f"there is no list {self.level.list}", remedy)
            return
        for item in found.items:
            if isinstance(item, Object):
                yield item
            else:
                self.fault(item.line, "this entry has no keys", "Write `- id: …` and its keys below.")

    def number(self, key: str) -> int | None:
        found = whole_number(self.tree.get(key))
        if found is None:
            self.fault(self.line(key), f"{key} is not a whole number from 1 on", f"Write `{key}: 1`, and count up.")
        return found

    def time(self, item: Object, key: str) -> datetime | None:
        found = moment(item.text(key))
        if found is None:
            remedy = f"Write `{key}: 2026-01-31T12:00:00Z`, in UTC."
            self.fault(self.line(key, item), f"{key} is not a time in UTC", remedy)
        return found

    def needed(self, item: Object, key: str, remedy: str) -> str:
        found = item.text(key)
        if not found:
            self.fault(self.line(key, item), f"{key} is missing", remedy)
        return found

    def line(self, key: str, item: Object | None = None) -> int:
        """Return the line of a key, or of the entry that lacks it."""
        owner = item or self.tree
        entry = owner.field(key)
        return entry.line if entry else owner.line

    def fault(self, line: int, message: str, remedy: str) -> None:
        self.faults.add(self.name, line, message, remedy)
