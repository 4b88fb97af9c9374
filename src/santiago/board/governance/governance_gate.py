"""The governance part of the done gate: lists everything that a ticket's change still lacks, each with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.artifacts.run_locations import name_inside
from santiago.board.done_gate import Missing
from santiago.board.governance import impact, ranges, scenario_copies, scenarios, truth_validation
from santiago.board.governance.hierarchy import CONTRACT, OVERRIDES, TRUTH, path_of
from santiago.board.governance.scenario_results import digest_of, load, state_file
from santiago.board.governance.truth_validation import is_on
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from santiago.board.governance.documents import Fault
    from santiago.board.governance.impact import Impact
    from santiago.board.governance.scenarios import Scenario

_COMPARED = ("base", "head", "changed_files", "impacted")
"""What an impact result must have in common with the change."""


@record
class Change:
    """The work of a ticket: its commits and its evidence."""

    ticket: str
    base: str | None
    """The commit that the work began on; None for the commit before `head`."""
    head: str | None
    """The commit that would be accepted; None where the ticket changed nothing in the repository."""
    evidence: tuple[Path, ...]
    """Files that were handed in as evidence."""
    recorded_runs: frozenset[str] | None = None
    """Digests of the scenario runs that the board recorded for the ticket; None where this is not checked."""


def missing(project: Path, root: Path, change: Change) -> tuple[Missing, ...]:
    """Return everything that governance still asks of a change; nothing where governance is off.

    If the ticket has a commit, the product truth of that commit is checked, not the one on disk.
    """
    if not is_on(project):
        return ()
    found = [_of_fault(one) for one in scenario_copies.without_source(project, root)]
    if change.head is None:
        return (*found, *map(_of_fault, truth_validation.validate(project, strict=True)))
    try:
        concerned = impact.of_range(project, change.base or f"{change.head}^", change.head, enforce=True)
        with ranges.governance_at(project, change.head) as folder:
            found += _of_truth(folder, concerned)
            found += _of_impact(project, root, concerned, change)
            found += _of_tests(project, root, scenarios.read(folder).scenarios, concerned, change)
    except SantiagoError as error:
        found.append(Missing(what=f"the impact of the change cannot be computed: {error.message}", remedy=error.hint))
    return tuple(found)


def _of_truth(folder: Path, concerned: Impact) -> Iterator[Missing]:
    """Require that the commit contains the product truth, and that it has no faults there."""
    if is_on(folder):
        yield from map(_of_fault, truth_validation.validate(folder, strict=True))
    else:
        what = f"{TRUTH} is not part of {_short(concerned.head)}"
        yield Missing(what=what, remedy=f"Commit {' and '.join(ranges.FOLDERS)}.")


def _of_fault(one: Fault) -> Missing:
    return Missing(what=f"{one.where}: {one.message}", remedy=one.remedy)


def _of_impact(project: Path, root: Path, concerned: Impact, change: Change) -> Iterator[Missing]:
    """Require an impact result for this very range if truth or scenarios changed, and a permission for the core layer."""
    if not concerned.guard.passes:
        what = f"{concerned.guard.reason}: {', '.join(concerned.core)}"
        yield Missing(what=what, remedy=f"Have a person add one to {path_of(OVERRIDES)}, with a reason and an end.")
    if not concerned.touches_truth:
        return
    remedy = f"Run `santiago truth impact --base {concerned.base} --head {concerned.head} --ticket {change.ticket}`."
    handed_in = {}
    for path in (*(project / path for path in change.evidence), impact.file_of(root, change.ticket)):
        data = load(path) if path.suffix == ".json" else None
        if data and data.get("kind") == impact.KIND:
            handed_in[name_inside(path, project)] = data
    now = concerned.to_data()
    if not handed_in:
        yield Missing(what="product truth or scenarios changed, and there is no impact result", remedy=remedy)
    elif not any(all(data.get(key) == now[key] for key in _COMPARED) for data in handed_in.values()):
        told = ", ".join(f"{name} is for {_span(data)}" for name, data in handed_in.items())
        yield Missing(what=f"no impact result is for {_span(now)} as it is now: {told}", remedy=remedy)


def _span(data: dict[str, Any]) -> str:
    return f"{_short(data.get('base'))}..{_short(data.get('head'))}"


def _short(commit: object) -> str:
    return str(commit)[:12] if commit else "files"


def _of_tests(
    project: Path, root: Path, known: Mapping[str, Scenario], concerned: Impact, change: Change
) -> Iterator[Missing]:
    """Require that the scenarios which the change concerns ran for this ticket, on this commit, and passed."""
    names = concerned.impacted["scenarios"]
    if not names:
        return
    path = state_file(root, change.ticket)
    remedy = (
        f"Run `santiago scenario run --ticket {change.ticket}` on {_short(concerned.head)}, with nothing uncommitted."
    )
    data = load(path)
    if data is None:
        what = f"no scenarios were run for {change.ticket}, and its change concerns {', '.join(names)}"
        yield Missing(what=what, remedy=remedy)
        return
    where = name_inside(path, project)
    if change.recorded_runs is not None and digest_of(path) not in change.recorded_runs:
        yield Missing(what=f"{where}: the board has no record of this run", remedy=remedy)
    told = [f"{where}: {fault}" for fault in _faults_of_run(data, concerned, change.ticket)]
    yield from (Missing(what=what, remedy=remedy) for what in told)
    for name in names:
        for lack in _missing_tests(project, data, known[name]):
            yield Missing(what=f"{name}: {lack}", remedy=remedy)


def _faults_of_run(data: dict[str, Any], concerned: Impact, ticket: str) -> Iterator[str]:
    """Say what is wrong with a run of scenarios as a whole."""
    if data.get("ticket") != ticket:
        yield f"it is a run for {data.get('ticket') or 'no ticket'}"
    if data.get("status") != "PASS" or data.get("dry_run") is not False:
        yield f"the run ended as {data.get('status')}{' (dry run)' if data.get('dry_run') else ''}, not as PASS"
    if data.get("commit") != concerned.head:
        yield f"it ran on {_short(data.get('commit'))}, and the change ends at {_short(concerned.head)}"
    if data.get("clean") is not True:
        yield "it ran on files that were not committed"


def _missing_tests(project: Path, data: dict[str, Any], one: Scenario) -> Iterator[str]:
    """Say which kinds of tests of a scenario have too few results that passed and still have their log."""
    rows = data.get("results")
    listed = rows if isinstance(rows, list) else []
    results = [row for row in listed if isinstance(row, dict) and row.get("scenario") == one.id]
    folder = project / str(data.get("evidence_dir") or "")
    for bundle, number in CONTRACT.items():
        wanted = one.bundles[f"{bundle}_tests"]
        passed = {
            row["command"]
            for row in results
            if row.get("bundle") == bundle and row.get("result") == "pass" and row.get("command") in wanted
            and _has_log(project, folder, row)
        }  # fmt: skip
        if len(passed) < number:
            yield f"{len(passed)} of {number} {bundle} tests have a result that passed"


def _has_log(project: Path, folder: Path, row: dict[str, Any]) -> bool:
    """Tell whether the log of a test is still there, unchanged."""
    path = folder / Path(str(row.get("log"))).name
    return is_inside(path, project) and path.is_file() and digest_of(path) == row.get("log_sha256")
