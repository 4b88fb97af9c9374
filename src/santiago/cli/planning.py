"""A planning session on the command line: messages while agents work, and the plan afterwards."""

from __future__ import annotations

import sys
from contextlib import suppress
from difflib import unified_diff
from functools import partial
from typing import TYPE_CHECKING

from santiago.app.compiling import Job
from santiago.app.loading import load as load_run
from santiago.app.paths import near
from santiago.app.planning.go_on import go_on
from santiago.app.planning.planning_sessions import load_session
from santiago.app.planning.session_word import moved_since
from santiago.artifacts.names import INPUT
from santiago.artifacts.repository import RUNS
from santiago.cli.consent import ask_consent, ask_unfenced
from santiago.cli.view import screens
from santiago.cli.view.terminal import columns_of, paint, say, show_lines
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.phases import SessionPhase
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.report.check_origins import of_document, origin_of
from santiago.report.endings import is_the_agents
from santiago.report.plan_page import changes, other_checks, story_lines
from santiago.report.review import review_of
from santiago.sessions.draft_check import sources
from santiago.sessions.session_acts import exhausted, too_many
from santiago.util.clock import time_of_day
from santiago.util.text import count, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from santiago.app.planning.begin import Wanted
    from santiago.app.planning.planning_sessions import Planning
    from santiago.contract.events import Event, Fact
    from santiago.contract.plan import Plan
    from santiago.contract.session import SessionState
    from santiago.report.page import Tone
    from santiago.report.review import Review

MORE_TURNS = 5
"""How many turns are offered where all are used."""
MOST_LINES = 300
"""How many lines of a document's difference are printed."""


def carry_on(
    folder: Path,
    actor: str,
    *,
    facts: Sequence[Fact] = (),
    quiet: bool = False,
    asked: bool = False,
    unfenced: bool = False,
) -> Planning:
    """Go on with a session until it waits for a person, and print what happens; return its state."""
    listeners, consent = [] if quiet else [_tell], partial(ask_unfenced, asked=asked, said=unfenced)
    go_on(folder, actor, facts=facts, listeners=listeners, consent_unfenced=consent)
    return load_session(folder)


def ask_commands(planning: Planning, *, asked: bool, trusted: bool) -> None:
    """Ask whether the commands of the latest revision may run; raise if not."""
    plan = planning.plan(planning.state.revision)
    if commands := [one.command for one in of_document(plan, planning.run_input)]:
        places = f"`santiago review {planning.session_id} --plain`"
        ask_consent(commands, places, asked=asked, trusted=trusted, of=origin_of(plan))


def plan_with(wanted: Wanted, *, trusted: bool = False, as_json: bool = False, who: str | None = None) -> int:
    """Begin a session, carry out its first turn, and show the outcome."""
    import os
    from pathlib import Path

    from santiago.app.actor import actor
    from santiago.app.planning.begin import begin
    from santiago.artifacts.repository import find_root
    from santiago.cli.consent import approve

    asked, root = may_ask(no_input=False), find_root(Path.cwd())
    if root is not None:
        approve(root, asked=asked, trusted=trusted)
    me = actor(who)
    folder = begin(wanted, me, dict(os.environ))
    planning = carry_on(folder, me, quiet=as_json, asked=asked)
    if planning.state.review is not None and asked and not as_json and screens.has_screen():
        return screens.review(planning)
    print_session(planning, as_json=as_json)
    return exit_code(planning)


def answer_in(
    folder: Path, question: str, given: str, text: str, me: str, *, revision: int | None, as_json: bool
) -> int:
    """Answer a question of a session. If no process works on it, carry the answer out at once."""
    from santiago.app.planning import session_word

    planning = load_session(folder)
    asked = planning.state.questions.get(question)
    if asked is None or asked.answer is not None:
        session_word.refuse_answered(planning, question)
    assert asked is not None
    if asked.kind == "plan":
        session_word.say_on_plan(planning, given, text, me, revision=revision)
    else:
        session_word.answer(planning, asked, given, text, me)
    before = ended(planning)
    if not planning.worker:
        planning = carry_on(folder, me, quiet=as_json, asked=may_ask(no_input=False))
    print_session(planning, as_json=as_json)
    return exit_code(planning, before)


def print_session(planning: Planning, revision: int | None = None, *, as_json: bool) -> None:
    """Print a session, for people or for programs."""
    if not as_json:
        show(planning, revision)
        return
    import json

    import click

    from santiago.report.review import as_data

    click.echo(json.dumps(as_data(review_of(planning, revision)), indent=2, ensure_ascii=False))


def may_ask(*, no_input: bool) -> bool:
    return not no_input and sys.stdin.isatty()


def _tell(events: Sequence[Event], state: SessionState) -> None:
    for event in events:
        if line := _line(event, state):
            say(f"{paint(time_of_day(event.timestamp), 'dim')} {harmless(line)}", err=True)


def _line(event: Event, state: SessionState) -> str:
    context, agent = event.context, event.context.get("agent", "")
    does = "merges the drafts" if context.get("kind") == "merge" else "drafts"
    match event.event:
        case EventKind.TURN_STARTED:
            who = ", ".join(context.get("agents", ()))
            return f"turn {event.attempt}: {who}"
        case EventKind.DRAFT_STARTED:
            again = " again, with what is wrong" if context.get("round", 1) > 1 else ""
            return f"  {agent} {does}{again}"
        case EventKind.DRAFT_ENDED if event.status == "ok":
            return f"  {agent} is done"
        case EventKind.DRAFT_ENDED:
            found = context.get("findings", ())
            why = "; ".join(found[:3]) or flat(context.get("message", "")) or context.get("reason", "")
            return f"  {agent} brought nothing usable: {why}"
        case EventKind.TURN_ENDED if event.status == "ok":
            return f"turn {len(state.turns)}: revision {context.get('revision')}"
        case EventKind.TURN_ENDED:
            return f"turn {len(state.turns)}: no plan"
        case EventKind.SESSION_FINALIZED:
            return f"revision {context.get('revision')} is final: {context.get('run') or context.get('path')}"
        case EventKind.SESSION_CANCELLED:
            return "cancelled"
        case EventKind.SESSION_REOPENED:
            return "taken up again"
        case EventKind.NOTE:
            return f"note: {context.get('message', '')}"
        case _:
            return ""


def show(planning: Planning, revision: int | None = None) -> None:
    """Print a session: its subject, the plan, what changed, and the next commands."""
    review = review_of(planning, revision)
    _row("Session", f"{review.session_id}  {review.state}{_holds(review)}")
    _row("About", flat(review.title)[:200])
    if review.plan is not None:
        _row("Plan", f"revision {review.revision}: {_counts(review)}")
        say()
        run_input = planning.run_input if review.artifact == "plan" else None
        show_lines(story_lines(review.plan, columns_of(stderr=False), run_input))
        say()
        if review.artifact == "document":
            _difference(planning, review.revision)
            _sources(planning, review.plan, review.revision)
        else:
            show_lines(other_checks(review.plan, _job(planning)))
            if review.diff is not None:
                show_lines([changes(review.diff)])
        for finding in review.plan.findings:
            if finding.level != "note":
                _row(finding.level.capitalize(), finding.message, "warn")
    for turn in review.turns:
        said = f': "{flat(turn.text)[:100]}"' if turn.text else ""
        _row("Turn", f"{turn.number} by {', '.join(turn.agents)}, {turn.actor}{said} -> {flat(turn.outcome)[:400]}")
    _row("Spent", review.spent)
    if review.agent:
        _row("Agent", f"{flat(review.agent)} does the work")
    for name, text in review.others:
        _row("Asks", f"{name}: {flat(text)}", "warn")
    for command, does in next_commands(planning, review):
        say(f"next: {harmless(command)}   # {does}", verbatim=True)


def _job(planning: Planning) -> Job:
    """Return the job that a run of a session would be. Its settings stand in a file of the session."""
    folder = planning.folder
    return Job(folder, planning.title, folder, planning.run_input, source=folder / INPUT)


def _difference(planning: Planning, revision: int) -> None:
    """Print the difference of a document from its previous revision, or from the document that it began with."""
    old = planning.content(revision - 1).decode() if revision > 1 else planning.files.source()
    new, name = planning.content(revision).decode(), planning.asked.output
    lines = list(
        unified_diff(old.splitlines(), new.splitlines(), planning.asked.document or "nothing", name, lineterm="")
    )
    for line in lines[:MOST_LINES]:
        say(harmless(line), verbatim=True)
    if len(lines) > MOST_LINES:
        say(f"… and {count(len(lines) - MOST_LINES, 'more line')}, in {near(planning.folder / 'revisions')}")


def _sources(planning: Planning, plan: Plan, revision: int) -> None:
    """Print how a draft accounts for the document that it began with."""
    if not planning.files.source():
        return
    found = sources(planning.content(revision).decode(), plan)
    for name, lines in found.used:
        _row("Uses", f"line {lines} for {name}")
    for lines, why in found.left:
        _row("Leaves", f"line {lines}: {why}", "warn")


def _holds(review: Review) -> str:
    return f", held by {review.worker}" if review.worker else ""


def _counts(review: Review) -> str:
    plan = review.plan
    assert plan is not None
    criteria = sum(len(one.criteria) for one in plan.requirements)
    return ", ".join(
        (
            count(len(plan.stories), "story", "stories"),
            count(len(plan.chunks), "chunk"),
            count(criteria, "criterion", "criteria"),
        )
    )


def _row(label: str, text: str, tone: Tone = "good") -> None:
    say(f"{paint(f'{label:9}', tone, stderr=False)} {harmless(text)}")


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
        return [*rows, *_turns(planning, base), *_final(planning, review, base)]
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


def _turns(planning: Planning, base: str) -> list[tuple[str, str]]:
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


def ended(planning: Planning) -> int:
    """Return how many turns of a session have ended."""
    return sum(turn.ended for turn in planning.state.turns)


def exit_code(planning: Planning, before: int = 0) -> int:
    """Return the exit code for the latest turn; 0 if no turn ended since there were `before` of them."""
    state = planning.state
    if state.turn is not None:
        return ExitCode.INTERRUPTED
    if ended(planning) == before or state.turns[-1].revision:
        return ExitCode.OK
    reason = state.turns[-1].reason
    return MEANINGS[Reason(reason)].exit_code if reason else ExitCode.FAILED
