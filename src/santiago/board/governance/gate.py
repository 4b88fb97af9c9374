"""The governance part of the done gate: everything that a ticket's change still lacks, at once, each with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.artifacts.repository import name_inside
from santiago.board.governance import compiling, impact, ranges, scenarios, truth
from santiago.board.governance.hierarchy import CONTRACT, OVERRIDES, TRUTH, path_of
from santiago.board.governance.summary import digest_of, load, state_file
from santiago.board.governance.truth import is_on
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record
from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from santiago.board.governance.faults import Fault
    from santiago.board.governance.impact import Impact
    from santiago.board.governance.scenarios import Scenario

__all__ = ["Change", "Missing", "is_on", "missing"]


@record
class Change:
    """The work of a ticket."""

    ticket: str
    base: str | None
    """The commit that the work began on; None for the one before `head`."""
    head: str | None
    """The commit that would be accepted; None where the ticket changed nothing in the repository."""
    evidence: tuple[Path, ...]
    """Files that were handed in."""
    vouched: frozenset[str] | None = None
    """Digests of the runs of scenarios that the board recorded for the ticket; None where nobody asked it."""


@record
class Missing:
    """One thing that stands in the way."""

    what: str
    remedy: str


def missing(project: Path, root: Path, change: Change) -> tuple[Missing, ...]:
    """Return all that governance lacks for a change, by the files of the commit that would be accepted; nothing where it is off."""
    if not is_on(project):
        return ()
    found = [_of_fault(one) for one in compiling.without_source(project, root)]
    if change.head is None:
        return (*found, *map(_of_fault, truth.validate(project, strict=True)))
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
    """The product truth is part of the commit, and holds there."""
    if is_on(folder):
        yield from map(_of_fault, truth.validate(folder, strict=True))
    else:
        what = f"{TRUTH} is not part of {_short(concerned.head)}"
        yield Missing(what=what, remedy=f"Commit {' and '.join(ranges.FOLDERS)}.")


def _of_fault(one: Fault) -> Missing:
    return Missing(what=f"{one.where}: {one.message}", remedy=one.remedy)


def _of_impact(project: Path, root: Path, concerned: Impact, change: Change) -> Iterator[Missing]:
    """A change of product truth or scenarios brings the impact result of its own range; the core layer needs a permission."""
    if not concerned.guard.passes:
        what = f"{concerned.guard.reason}: {', '.join(concerned.core)}"
        yield Missing(what=what, remedy=f"Have a person add one to {path_of(OVERRIDES)}, with a reason and an end.")
    if not concerned.touches_truth:
        return
    remedy = f"Run `santiago truth impact --base {concerned.base} --head {concerned.head} --ticket {change.ticket}`."
    kept = impact.file_of(root, change.ticket)
    paths = [*(project / path for path in change.evidence), kept]
    handed_in = {name_inside(path, project): data for path in paths if (data := _impact_in(path))}
    if not handed_in:
        yield Missing(what="product truth or scenarios changed, and there is no impact result", remedy=remedy)
    elif not any(_is_same(data, concerned) for data in handed_in.values()):
        told = ", ".join(f"{name} is for {_span(data)}" for name, data in handed_in.items())
        own = f"{_short(concerned.base)}..{_short(concerned.head)}"
        yield Missing(what=f"no impact result is for {own} as it is now: {told}", remedy=remedy)


def _impact_in(path: Path) -> dict[str, Any] | None:
    data = load(path) if path.suffix == ".json" else None
    return data if data and data.get("kind") == impact.KIND else None


def _is_same(data: dict[str, Any], concerned: Impact) -> bool:
    now = concerned.to_data()
    return all(data.get(key) == now[key] for key in ("base", "head", "changed_files", "impacted"))


def _span(data: dict[str, Any]) -> str:
    return f"{_short(data.get('base'))}..{_short(data.get('head'))}"


def _short(commit: object) -> str:
    return str(commit)[:12] if commit else "files"


def _of_tests(
    project: Path, root: Path, known: Mapping[str, Scenario], concerned: Impact, change: Change
) -> Iterator[Missing]:
    """The scenarios that a change concerns have their tests run for this ticket, on this commit, all with a pass."""
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
    if change.vouched is not None and digest_of(path) not in change.vouched:
        yield Missing(what=f"{where}: the board has no record of this run", remedy=remedy)
    told = [f"{where}: {odd}" for odd in _odd(data, concerned, change.ticket)]
    yield from (Missing(what=what, remedy=remedy) for what in told)
    for name in names:
        for lack in _lacking(project, data, known[name]):
            yield Missing(what=f"{name}: {lack}", remedy=remedy)


def _odd(data: dict[str, Any], concerned: Impact, ticket: str) -> Iterator[str]:
    if data.get("ticket") != ticket:
        yield f"it is a run for {data.get('ticket') or 'no ticket'}"
    if data.get("status") != "PASS" or data.get("dry_run") is not False:
        yield f"the run ended as {data.get('status')}{' (dry run)' if data.get('dry_run') else ''}, not as PASS"
    if data.get("commit") != concerned.head:
        yield f"it ran on {_short(data.get('commit'))}, and the change ends at {_short(concerned.head)}"
    if data.get("clean") is not True:
        yield "it ran on files that were not committed"


def _lacking(project: Path, data: dict[str, Any], one: Scenario) -> Iterator[str]:
    """Say which tests of a scenario have no result of their own: a number that nobody ran is none."""
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
    """Tell whether the output of a test is kept as it was."""
    path = folder / Path(str(row.get("log"))).name
    return is_inside(path, project) and path.is_file() and digest_of(path) == row.get("log_sha256")
