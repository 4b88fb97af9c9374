"""A planning session on the command line: what people say is carried out, with messages while agents work."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from santiago.app.actor import actor
from santiago.app.loading import frozen
from santiago.app.planning import session_word
from santiago.app.planning.begin import Wanted, begin, by_settings, drafters_of, refuse_absent
from santiago.app.planning.go_on import go_on
from santiago.app.planning.planning_sessions import load_session
from santiago.app.start.agents import named
from santiago.app.start.risky_settings import said_by
from santiago.app.start.start_options import StartOptions
from santiago.artifacts.run_locations import RUNS, find_root
from santiago.cli.consent import approve, ask_consent, ask_unfenced
from santiago.cli.options import body_at
from santiago.cli.view import open_screens
from santiago.cli.view.terminal import paint, say, show_page
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.report.check_origins import of_document, origin_of
from santiago.report.printed_session import session_page
from santiago.util.clock import time_of_day
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.planning.planning_sessions import Planning
    from santiago.cli.review import Said
    from santiago.contract.events import Event, Fact
    from santiago.contract.session import Drafter, SessionState


def look(planning: Planning, said: Said) -> int:
    """Print a session."""
    show_page(session_page(planning, said.revision), as_json=said.as_json)
    return ExitCode.OK


def act(planning: Planning, said: Said) -> int:
    """Do what a person says on a session, carry it out, and show the outcome."""
    me, wish = actor(said.who), said.wish
    if said.finalize and said.revision is None:
        raise click.UsageError(f"Say which revision you looked at: --revision {planning.state.revision}")
    facts = session_word.more_turns(planning, said.add_turns, me) if said.add_turns else []
    if said.names_agent and not said.finalize:
        facts += session_word.other_drafters(_drafters(planning, said), me)
    if wish == "take-up":
        facts += session_word.take_up(planning, me)
    elif wish is not None:
        starts = said.finalize and planning.asked.artifact == "plan" and not said.no_start
        session_word.say_on_plan(
            planning, wish, said.adjust or said.edit or "", me, revision=said.revision, moved=said.moved_base,
            consent=partial(_ask_commands, planning, said) if starts else lambda: None, via="terminal",
        )  # fmt: skip
    if wish == "cancel" and planning.worker and planning.state.turn is not None:
        say(f"{planning.session_id}: {planning.worker} was asked to end the turn", err=True)
        return ExitCode.OK
    before = _ended(planning)
    planning = _carry_on(
        planning.folder, me, facts, quiet=said.as_json, asked=said.may_ask, unfenced=said.sandbox == "off"
    )
    if wish == "approve" and planning.state.run and not said.no_start:
        return _execute(planning, said)
    show_page(session_page(planning), as_json=said.as_json)
    return ExitCode.OK if wish == "cancel" else _exit_code(planning, before)


def _drafters(planning: Planning, said: Said) -> tuple[Drafter, ...]:
    """Return the agents that a person names; raise if one of them cannot begin, or if others are at work."""
    if (turn := planning.state.turn) is not None:
        base = f"santiago review {planning.session_id}"
        hint = f"`{base} --cancel` ends it; `{base} --take-up --agent NAME` then goes on with another agent."
        raise SantiagoError(Kind.INPUT, f"a turn of {', '.join(turn.agents)} is under way", hint=hint)
    names = (said.agent,) if said.agent else tuple(one.label for one in planning.asked.drafters)
    wanted = Wanted(subject="", agents=names, model=said.model, playbook=said.playbook)
    found = drafters_of(wanted, os.environ)
    refuse_absent(found, planning.run_input, os.environ)
    return found


def _ask_commands(planning: Planning, said: Said) -> None:
    """Ask whether the commands of the latest revision may run; raise if not."""
    plan = planning.plan(planning.state.revision)
    if commands := [one.command for one in of_document(plan, planning.run_input)]:
        places = f"`santiago review {planning.session_id} --plain`"
        ask_consent(commands, places, asked=said.may_ask, trusted=said.trust_commands, of=origin_of(plan))


def _execute(planning: Planning, said: Said) -> int:
    """Execute the run that was made from an approved revision."""
    out_dir = planning.root / RUNS / planning.state.run
    plan, run_input = frozen(out_dir)
    other = named(run_input.agent, said.agent, said.playbook, said.model) if said.names_agent else None
    flags = StartOptions(
        jobs=said.jobs, gate=said.gate, sandbox=said.sandbox, as_json=said.as_json, plain=said.plain, actor=said.who,
        no_input=said.no_input, trust_commands=True,  # the person agreed to them before the plan became final
    )  # fmt: skip
    words = said_by(agent=said.agent, model=said.model, playbook=said.playbook)
    done: int = body_at("running:start")(out_dir, run_input, plan, flags, base=planning.root, agent=other, said=words)
    return done


def begin_with(subject: str, root: Path, who: str | None) -> int:
    return plan_with(by_settings(subject, root), who=who)


def plan_with(wanted: Wanted, *, trusted: bool = False, as_json: bool = False, who: str | None = None) -> int:
    """Begin a session, carry out its first turn, and show the outcome."""
    asked, root = sys.stdin.isatty(), find_root(Path.cwd())
    if root is not None:
        approve(root, asked=asked, trusted=trusted)
    me = actor(who)
    folder = begin(wanted, me, dict(os.environ))
    planning = _carry_on(folder, me, quiet=as_json, asked=asked)
    if planning.state.review is not None and asked and not as_json and open_screens.has_screen():
        return open_screens.review(planning)
    show_page(session_page(planning), as_json=as_json)
    return _exit_code(planning)


def answer_in(
    folder: Path, question: str, given: str, text: str, me: str, *, revision: int | None, as_json: bool
) -> int:
    """Answer a question of a session. If no process works on it, carry the answer out at once."""
    planning = load_session(folder)
    asked = planning.state.questions.get(question)
    if asked is None or asked.answer is not None:
        session_word.refuse_answered(planning, question)
    assert asked is not None
    if asked.kind == "plan":
        session_word.say_on_plan(planning, given, text, me, revision=revision, via="terminal")
    else:
        session_word.answer(planning, asked, given, text, me, "terminal")
    before = _ended(planning)
    if not planning.worker:
        planning = _carry_on(folder, me, quiet=as_json, asked=sys.stdin.isatty())
    show_page(session_page(planning), as_json=as_json)
    return _exit_code(planning, before)


def _carry_on(
    folder: Path, me: str, facts: Sequence[Fact] = (), *, quiet: bool, asked: bool, unfenced: bool = False
) -> Planning:
    """Go on with a session until it waits for a person, and print what happens; return its state."""
    listeners, consent = [] if quiet else [_tell], partial(ask_unfenced, asked=asked, said=unfenced)
    go_on(folder, me, facts=facts, listeners=listeners, consent_unfenced=consent)
    return load_session(folder)


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


def _ended(planning: Planning) -> int:
    """Return how many turns of a session have ended."""
    return sum(turn.ended for turn in planning.state.turns)


def _exit_code(planning: Planning, before: int = 0) -> int:
    """Return the exit code for the latest turn; 0 if no turn ended since there were `before` of them."""
    state = planning.state
    if state.turn is not None:
        return ExitCode.INTERRUPTED
    if _ended(planning) == before or state.turns[-1].revision:
        return ExitCode.OK
    reason = state.turns[-1].reason
    return MEANINGS[Reason(reason)].exit_code if reason else ExitCode.FAILED
