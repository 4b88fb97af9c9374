"""Checks a project's product truth: files, hierarchy, links, scenarios, and starters that were not replaced."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.board.governance import hierarchy, scenarios
from santiago.board.governance.documents import SIGEE, Fault, Faults
from santiago.board.governance.hierarchy import FILES, LEVELS, LINKS, OVERRIDES, TRUTH, path_of
from santiago.board.governance.scenarios import CATALOGUE, ENDING
from santiago.contract.lazy_regex import pattern
from santiago.util import regular

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.board.governance.hierarchy import Truth
    from santiago.board.governance.scenarios import Catalogue

_STARTER = pattern(r"\b(?:(?:VIS|PIL|OBJ|OUT|CAP)-BOOT-[A-Za-z0-9_-]*|bootstrap_foundation_[A-Za-z0-9_-]*)")


def is_on(project: Path) -> bool:
    """Tell whether a project has governance: it has a product truth."""
    return (project / TRUTH).is_dir()


def revision(project: Path) -> int | None:
    """Return the revision that all files of the hierarchy have; None where one lacks it or differs."""
    truth = hierarchy.read(project, Faults())
    found = {truth.revisions.get(level.file) for level in (*LEVELS, LINKS)}
    return found.pop() if len(found) == 1 else None


def validate(project: Path, *, strict: bool) -> tuple[Fault, ...]:
    """Return all faults, by file and line. With `strict`, everything must also be there and agree.

    An expired override is no fault: only changes of the core layer need an active one.
    """
    faults = Faults()
    truth = hierarchy.read(project, faults)
    catalogue = scenarios.read(project)
    faults += catalogue.faults
    _check_hierarchy(truth, faults)
    _check_links(truth, faults)
    if strict:
        _check_whole(project, truth, faults)
        _check_layers(truth, catalogue, faults)
        faults += starters(project)
    return faults.in_order()


def notes(project: Path) -> tuple[str, ...]:
    """Return what a person should know although it is no fault: overrides that have expired."""
    truth, now = hierarchy.read(project, Faults()), hierarchy.now()
    over = [one for one in truth.overrides if one.enabled and not one.is_active(now)]
    return tuple(
        f"{path_of(OVERRIDES)}:{one.line}: the override {one.id} expired on {one.expires_at}; only changes of the core layer need another"
        for one in over
    )


def starters(project: Path) -> tuple[Fault, ...]:
    """Return a fault for each line that still contains a starter."""
    files = (*(path_of(level) for level in FILES), *scenarios.files_in(project, CATALOGUE))
    faults = Faults()
    for name in files:
        text = (regular.content(project / name, 1 << 20) or b"").decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if not line.lstrip().startswith("#") and (found := _STARTER.search(line)):
                message = f"the starter {found[0]} is still there"
                faults.add(name, number, message, "Put an entry of your own product in its place.")
    return tuple(faults)


def _check_hierarchy(truth: Truth, faults: Faults) -> None:
    """Check that each entry names an existing one above it.

    Where the file of the level above is missing, this says nothing; strict validation does.
    """
    for upper, level in pairwise(LEVELS):
        if upper.list not in truth.entries:
            continue
        known = {one.id for one in truth.entries[upper.list]}
        for one in truth.entries.get(level.list, ()):
            if one.above and one.above not in known:
                message = f"{level.above} of {one.id} names {one.above}, which is not in {upper.file}"
                faults.add(one.file, one.line, message, f"Name one of {upper.file}, or add it there.")


def _check_links(truth: Truth, faults: Faults) -> None:
    outcomes = {one.id for one in truth.entries.get("outcomes", ())}
    capabilities = {one.id: one for one in truth.entries.get("capabilities", ())}
    for link in truth.links:
        where = path_of(LINKS), link.line
        if link.outcome and link.outcome not in outcomes and "outcomes" in truth.entries:
            faults.add(*where, f"there is no outcome {link.outcome}", "Name one of outcomes.yaml.")
        owner = capabilities.get(link.capability)
        if owner is None:
            if link.capability and "capabilities" in truth.entries:
                faults.add(*where, f"there is no capability {link.capability}", "Name one of capabilities.yaml.")
        elif link.outcome and owner.above and owner.above != link.outcome:
            message = f"{link.capability} belongs to {owner.above}, and the link says {link.outcome}"
            faults.add(*where, message, "Name the capability's own outcome.")


def _check_whole(project: Path, truth: Truth, faults: Faults) -> None:
    """Check that all files exist, that no list but the overrides is empty, and that all have the same revision."""
    for level in FILES:
        if not (project / path_of(level)).exists():
            faults.add(path_of(level), 0, "it is missing", f"Write it; `{SIGEE}` starters show its form.")
    for level in (*LEVELS, LINKS):
        if (truth.links if level == LINKS else truth.entries.get(level.list)) == () and level.file in truth.revisions:
            faults.add(path_of(level), 0, f"{level.list} is empty", "Write at least one entry.")
    numbers = {level.file: truth.revisions[level.file] for level in (*LEVELS, LINKS) if level.file in truth.revisions}
    if len(set(numbers.values())) > 1:
        told = ", ".join(f"{file} {number}" for file, number in numbers.items())
        faults.add(TRUTH, 0, f"the files have different revisions: {told}", "Give all of them the same one.")


def _check_layers(truth: Truth, catalogue: Catalogue, faults: Faults) -> None:
    """Check that each link agrees with its capability and with its scenario, and that each scenario has a link."""
    linked = {link.scenario: link for link in truth.links}
    layers = {one.id: one.layer for one in truth.entries.get("capabilities", ())}
    for link in truth.links:
        layer = layers.get(link.capability)
        if layer and link.layer and link.layer != layer:
            message = f"the link of {link.scenario} says {link.layer}, and {link.capability} says {layer}"
            faults.add(path_of(LINKS), link.line, message, "Make them the same.")
        if link.scenario and link.scenario not in catalogue.scenarios:
            name = f"{CATALOGUE}/{link.scenario}{ENDING}"
            faults.add(path_of(LINKS), link.line, f"the scenario {link.scenario} has no file", f"Write {name}.")
    for one in catalogue.scenarios.values():
        owner = linked.get(one.id)
        if owner is None:
            faults.add(one.file, one.lines.get("id", 0), "no link leads to it", f"Add one to {path_of(LINKS)}.")
            continue
        pairs = (("stability_layer", one.layer, owner.layer), ("outcome_id", one.outcome, owner.outcome),
                 ("capability_id", one.capability, owner.capability))  # fmt: skip
        for key, here, there in pairs:
            if here != there:
                message = f"{key} is {here}, and its link says {there}"
                faults.add(one.file, one.lines.get(key, 0), message, "Make them the same.")
