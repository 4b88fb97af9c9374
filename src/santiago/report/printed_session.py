"""A planning session as one page: its subject, the plan, what changed, the turns, and the commands that go on from there."""

from __future__ import annotations

from contextlib import suppress
from difflib import unified_diff
from functools import partial
from typing import TYPE_CHECKING

from santiago.app.compiling import Job
from santiago.app.loading import load as load_run
from santiago.app.paths import near
from santiago.app.planning.session_word import moved_since
from santiago.artifacts.names import INPUT
from santiago.artifacts.run_locations import RUNS
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import SessionPhase
from santiago.report.endings import is_the_agents
from santiago.report.page import Line, Page
from santiago.report.plan_page import changes, other_checks, story_lines
from santiago.report.session_review import as_data, outcome_of, review_of
from santiago.sessions.draft_check import sources
from santiago.sessions.session_acts import exhausted, too_many
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.plan import Plan
    from santiago.report.session_review import Review

MORE_TURNS = 5
"""How many turns are offered where all are used."""
MOST_DIFFERENCE = 300
"""How many lines of a document's difference are shown."""


def session_page(planning: Planning, revision: int | None = None) -> Page:
    """Return a session as a page: its subject, the plan, what changed, the turns, and the next commands."""
    review = review_of(planning, revision)
    return Page(partial(_session, planning, review), partial(as_data, review))


def _session(planning: Planning, review: Review, columns: int) -> Iterator[Line]:
    held = f", held by {review.worker}" if review.worker else ""
    yield Line(harmless(f"{review.session_id}  {review.state}{held}"), label="Session")
    yield Line(flat(review.title)[:200], label="About")
    if review.plan is not None:
        yield from _planned(planning, review, review.plan, columns)
    for turn in review.turns:
        said = f': "{flat(turn.text)[:100]}"' if turn.text else ""
        told = f"{turn.number} by {', '.join(turn.agents)}, {turn.actor}{said} -> {flat(outcome_of(turn))[:400]}"
        yield Line(harmless(told), label="Turn")
    yield Line(review.spent, label="Spent")
    if review.agent:
        yield Line(f"{flat(review.agent)} does the work", label="Agent")
    yield from (Line(f"{name}: {flat(text)}", "warn", label="Asks") for name, text in review.others)
    for command, does in next_commands(planning, review):
        yield Line(f"next: {harmless(command)}   # {does}", verbatim=True)


def _planned(planning: Planning, review: Review, plan: Plan, columns: int) -> Iterator[Line]:
    yield Line(f"revision {review.revision}: {', '.join(review.counts())}", label="Plan")
    yield Line()
    if review.artifact == "document":
        yield from (*story_lines(plan, columns), Line())
        yield from _difference(planning, review.revision)
        yield from _sources(planning, plan, review.revision)
    else:
        yield from (*story_lines(plan, columns, planning.run_input), Line())
        yield from other_checks(plan, _job(planning))
        if review.diff is not None:
            yield changes(review.diff)
    for finding in plan.findings:
        if finding.level != "note":
            yield Line(
                harmless(finding.message),
                "bad" if finding.level == "error" else "warn",
                label=finding.level.capitalize(),
            )


def _job(planning: Planning) -> Job:
    """Return the job that a run of a session would be. Its settings stand in a file of the session."""
    folder = planning.folder
    return Job(folder, planning.title, folder, planning.run_input, source=folder / INPUT)


def _difference(planning: Planning, revision: int) -> Iterator[Line]:
    """Yield the difference of a document from its previous revision, or from the document that it began with."""
    old = planning.content(revision - 1).decode() if revision > 1 else planning.files.source()
    new, began = planning.content(revision).decode(), planning.asked.document or "nothing"
    lines = list(unified_diff(old.splitlines(), new.splitlines(), began, planning.asked.output, lineterm=""))
    yield from (Line(harmless(line), verbatim=True) for line in lines[:MOST_DIFFERENCE])
    if len(lines) > MOST_DIFFERENCE:
        more = count(len(lines) - MOST_DIFFERENCE, "more line")
        yield Line(f"… and {more}, in {near(planning.folder / 'revisions')}")


def _sources(planning: Planning, plan: Plan, revision: int) -> Iterator[Line]:
    """Yield how a draft accounts for the document that it began with."""
    if planning.files.source():
        found = sources(planning.content(revision).decode(), plan)
        yield from (Line(f"line {lines} for {harmless(name)}", label="Uses") for name, lines in found.used)
        yield from (Line(f"line {lines}: {harmless(why)}", "warn", label="Leaves") for lines, why in found.left)


def next_commands(planning: Planning, review: Review) -> list[tuple[str, str]]:
    """Return the next commands, each with what it does. None of them would be refused."""
    base, state = f"santiago review {review.session_id}", planning.state
    rows = [
        (f'santiago answer {review.session_id} {name} "YOUR ANSWER"', "the next turn knows it")
        for name, _ in review.others
    ]
    if review.run:
        return _of_run(planning.root / RUNS / review.run)
    if review.question and review.worker:  # who holds it takes the answer up, and `review` could not go on
        answer = f"santiago answer {review.session_id} {review.question}"
        final = [] if moved_since(planning) else [(f"{answer} approve", "make it final")]
        return [*rows, *final, (f"{answer} cancel", "end the review without a run")]
    if review.question:
        return [*rows, *_another_turn(planning, base), *_final(planning, review, base)]
    if review.state == "no plan yet" and is_the_agents(review.turns[-1].reason if review.turns else ""):
        return [
            *rows,
            ("santiago doctor --online", "does the agent answer now?"),
            (f"{base} --take-up", "go on once it does"),
            (f"{base} --take-up --agent NAME", "or have another agent plan it"),
        ]
    if review.state == "interrupted" or state.owed or state.phase is SessionPhase.CANCELLED:
        more = "" if state.revision or state.phase is not SessionPhase.CANCELLED else _more_turns(planning)
        return rows if more is None else [*rows, (f"{base}{more} --take-up", "go on with it")]
    return rows


def _of_run(out_dir: Path) -> list[tuple[str, str]]:
    """Return what can be done with the run that a session became."""
    looking = (f"santiago status {out_dir.name}", "where it stands")
    try:
        run = load_run(out_dir)
    except SantiagoError:
        return []  # its folder was removed, or is damaged
    if run.worker:
        return [(f"santiago watch {out_dir.name}", "it is running; look on"), looking]
    goes_on = run.resumable or not run.begun
    return [*([(f"santiago resume {out_dir.name}", "carry it out")] if goes_on else []), looking]


def _another_turn(planning: Planning, base: str) -> list[tuple[str, str]]:
    """Return the commands for another turn, as far as the session's limits allow one."""
    more = _more_turns(planning)
    if more is None:
        return []
    return [
        (f'{base}{more} --continue "WHAT SHOULD BE DIFFERENT"', "another turn of all agents"),
        (f'{base}{more} --edit "WHAT SHOULD BE DIFFERENT"', "a quick edit by one agent"),
    ]


def _more_turns(planning: Planning) -> str | None:
    """Return the flag that another turn needs; empty if it needs none, None if no flag would help."""
    state, limits = planning.state, planning.run_input.limits
    if exhausted(state, limits):
        return None
    return f" --add-turns {MORE_TURNS}" if too_many(state, limits) else ""


def _final(planning: Planning, review: Review, base: str) -> list[tuple[str, str]]:
    if review.revision != planning.state.revision:
        return []  # an earlier one is shown, and only the latest can become final
    final = "make it final and carry it out" if review.artifact == "plan" else f"write it to {review.output}"
    newer = ""
    with suppress(SantiagoError):  # one may look at a session whose repository is gone
        newer = moved_since(planning)
    flag, why = (" --moved-base", f"{final}, although there are newer commits") if newer else ("", final)
    return [(f"{base} --finalize --revision {review.revision}{flag}", why)]
