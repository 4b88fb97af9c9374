"""What a change concerns: which scenarios, which entries of the product truth, and what must be verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.artifacts.run_locations import keep_out_of_git, refuse_linked
from santiago.board.governance import hierarchy, ranges, scenario_results, scenarios
from santiago.board.governance.documents import Faults
from santiago.board.governance.hierarchy import LAYERS, LEVELS, LINKS, TRUTH, path_of
from santiago.board.governance.scenario_results import state_file
from santiago.board.governance.scenarios import CATALOGUE, concerns
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from santiago.board.governance.hierarchy import Truth
    from santiago.board.governance.scenarios import Scenario

KIND = "change_impact"
_TRUTH_FILES = frozenset(path_of(level) for level in (*LEVELS, LINKS))


@record
class Guard:
    """Whether the change may touch the core layer, and why."""

    enforced: bool
    passes: bool
    reason: str

    def to_data(self) -> dict[str, Any]:
        return {"enforced": self.enforced, "pass": self.passes, "reason": self.reason}


@record
class Impact:
    base: str | None
    """The commits before and after the change. Both are None where files were named instead."""
    head: str | None
    changed_files: tuple[str, ...]
    impacted: Mapping[str, tuple[str, ...]]
    """List of the hierarchy, or `scenarios` → ids that the change concerns."""
    layer_counts: Mapping[str, int]
    core: tuple[str, ...]
    """Those of the scenarios that are in the core layer."""
    guard: Guard
    required: tuple[str, ...]
    """Commands that verify the change."""

    @property
    def touches_truth(self) -> bool:
        """Whether product truth or scenarios themselves changed."""
        return any(name.startswith((f"{TRUTH}/", f"{CATALOGUE}/")) for name in self.changed_files)

    def to_data(self) -> dict[str, Any]:
        return {
            "contract_version": 1,
            "kind": KIND,
            "status": "PASS" if self.guard.passes else "FAIL",
            "base": self.base,
            "head": self.head,
            "changed_files": list(self.changed_files),
            "impacted": {name: list(ids) for name, ids in self.impacted.items()},
            "layer_counts": dict(self.layer_counts),
            "core_impacted_scenarios": list(self.core),
            "layer_guard": self.guard.to_data(),
            "required_verification": list(self.required),
        }


def of_range(project: Path, base: str, head: str, *, enforce: bool) -> Impact:
    """Return what the change between two commits concerns, by the governance files of both."""
    first, last = ranges.commit_of(project, base), ranges.commit_of(project, head)
    files = ranges.changed_files(project, first, last)
    with ranges.governance_at(project, first) as before, ranges.governance_at(project, last) as after:
        truths = [hierarchy.read(folder, Faults()) for folder in (before, after)]
        return _impact(after, files, truths, (first, last), enforce=enforce)


def of_files(project: Path, files: Iterable[str], *, enforce: bool) -> Impact:
    """Return what any change of these files would concern, by the governance files on disk."""
    return _impact(project, tuple(sorted(set(files))), [], (None, None), enforce=enforce)


def file_of(root: Path, ticket: str) -> Path:
    """Return where the impact result of a ticket is kept."""
    return state_file(root, ticket).with_name("change-impact.json")


def keep(root: Path, ticket: str, found: Impact) -> Path:
    """Write the impact result of a ticket to where the done gate looks for it."""
    path = file_of(root, ticket)
    refuse_linked(path.parent)
    keep_out_of_git(root)
    scenario_results.keep(path, found.to_data())
    return path


def _impact(
    folder: Path, files: tuple[str, ...], truths: list[Truth], commits: tuple[str | None, str | None], *, enforce: bool
) -> Impact:
    truth, catalogue = hierarchy.read(folder, Faults()), scenarios.read(folder).scenarios
    found = {one.id for one in catalogue.values() if concerns(one, files)}
    picked: set[str] = set()
    if _TRUTH_FILES.intersection(files):
        picked = _changed_ids(*truths) if truths else set()
        below = [_scenarios_below(one, picked) for one in (*truths, truth)]
        found |= set().union(*below) & catalogue.keys() if picked else catalogue.keys()
    found = _closure(found, catalogue)
    core = tuple(sorted(name for name in found if catalogue[name].layer == "core"))
    return Impact(
        base=commits[0],
        head=commits[1],
        changed_files=files,
        impacted={**_entries_above(truth, found, picked), "scenarios": tuple(sorted(found))},
        layer_counts={layer: sum(catalogue[name].layer == layer for name in found) for layer in LAYERS},
        core=core,
        guard=_guard(truth, core, enforce=enforce),
        required=_required(found, files, commits),
    )


def _changed_ids(before: Truth, after: Truth) -> set[str]:
    """Return the ids of entries that were added, removed or changed, and of scenarios whose links were."""

    def contents(truth: Truth) -> set[tuple[str, str]]:
        entries = {(one.id, one.content) for entries in truth.entries.values() for one in entries}
        return entries | {(link.scenario, link.content) for link in truth.links}

    return {name for name, _ in contents(before) ^ contents(after)}


def _scenarios_below(truth: Truth, picked: set[str]) -> set[str]:
    """Return the scenarios below these ids in the hierarchy."""
    known = set(picked)
    for level in LEVELS:
        known |= {one.id for one in truth.entries.get(level.list, ()) if one.above in known}
    return {link.scenario for link in truth.links if known & {link.scenario, link.capability, link.outcome}}


def _closure(found: set[str], catalogue: Mapping[str, Scenario]) -> set[str]:
    """Return the scenarios and all that can be reached from them by dependencies, in both directions, or by links."""
    beside: dict[str, set[str]] = {name: set() for name in catalogue}
    for name, one in catalogue.items():
        for other in (*one.depends_on, *one.linked):
            if other in catalogue:
                beside[name].add(other)
        for other in one.depends_on:
            if other in catalogue:
                beside[other].add(name)
    reached, left = set(found), list(found)
    while left:
        new = beside[left.pop()] - reached
        reached |= new
        left += new
    return reached


def _entries_above(truth: Truth, found: set[str], picked: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the entries above these scenarios, the changed entries, and the entries above those, by list."""
    known = picked | {link.capability for link in truth.links if link.scenario in found}
    known |= {link.outcome for link in truth.links if link.scenario in found}
    for level in reversed(LEVELS):
        known |= {one.above for one in truth.entries.get(level.list, ()) if one.id in known}
    return {
        level.list: tuple(sorted(one.id for one in truth.entries.get(level.list, ()) if one.id in known))
        for level in LEVELS
    }


def _guard(truth: Truth, core: tuple[str, ...], *, enforce: bool) -> Guard:
    if not core or not enforce:
        return Guard(enforced=enforce, passes=True, reason="")
    now = hierarchy.now()
    active = [one for one in truth.overrides if one.is_active(now)]
    if active:
        return Guard(enforced=True, passes=True, reason=f"allowed until {active[0].expires_at} by {active[0].id}")
    over = [f"{one.id or f'line {one.line}'} expired on {one.expires_at}" for one in truth.overrides if one.enabled]
    told = f" ({', '.join(over)})" if over else ""
    return Guard(enforced=True, passes=False, reason=f"the core layer is concerned, and no override is active{told}")


def _required(found: set[str], files: tuple[str, ...], commits: tuple[str | None, str | None]) -> tuple[str, ...]:
    if not found and not any(name.startswith((f"{TRUTH}/", f"{CATALOGUE}/")) for name in files):
        return ()
    told = ["santiago truth validate --strict", "santiago scenario compile --check-only"]
    if found:
        span = f" --base {commits[0]} --head {commits[1]} --at {commits[1]}" if commits[0] else ""
        told.append(f"santiago scenario run --changed-only{span} --ticket ID")
    return tuple(told)
