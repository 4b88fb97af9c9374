"""The body of `santiago loop`: work on the board's tickets until all are done, or somebody has to decide."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from signal import SIGHUP, SIGTERM
from typing import TYPE_CHECKING, Any

from santiago.app.board import queue_loop
from santiago.app.board.ticket_context import TicketContext
from santiago.app.board.working import StoppedError, only_loop
from santiago.app.start.start_options import StartOptions
from santiago.board.board_clock import utc
from santiago.board.board_handle import open_board
from santiago.cli.board_consents import consents
from santiago.cli.board_views import tell
from santiago.cli.consent import approve
from santiago.cli.opened_board import speaks_codes, warn
from santiago.cli.view.lines import Lines, timed
from santiago.cli.view.terminal import say, show_data, show_lines
from santiago.contract.board import fields_of
from santiago.contract.counting import count, few
from santiago.contract.events import EventKind
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.report.board_pages import empty_page, headline, stuck, word
from santiago.report.page import Line
from santiago.report.whole_board import whole_board
from santiago.util.clock import SystemClock, time_of_day
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.board.queue_loop import Ended, Said
    from santiago.app.start.request import Request
    from santiago.app.start.start_options import Places
    from santiago.board.board_handle import BoardHandle
    from santiago.contract.events import Event
    from santiago.contract.state import RunState
    from santiago.report.page import Tone


PATIENCE_S = 600.0
"""How long the loop waits while a person has work on the same run judged."""
MOST = 10
"""How many tickets are explained at the end."""
_TONES: dict[str, Tone] = {"accepted": "good", "blocked": "bad", "asks": "warn", "back": "warn"}
_OF_RUN = frozenset({EventKind.STOP_REQUESTED})


def loop(
    max_cycles: int, no_progress_limit: int, jobs: int, minutes: int | None, agent: str | None, yes: bool, trust_commands: bool, trust_project: bool,
    no_input: bool, as_json: bool, places: Places,
) -> int:  # fmt: skip
    """Work on the tickets, and say what was done."""
    with open_board(Path.cwd(), os.environ) as opened, only_loop(opened.place):
        approve(opened.place.project, asked=not no_input and sys.stdin.isatty(), trusted=trust_project)
        options = StartOptions(jobs=jobs, engine=places.engine, remote=places.remote, insecure=places.insecure)
        asking = consents(trusted=trust_commands, units=yes, no_input=no_input)
        context = TicketContext(
            opened=opened,
            consents=asking,
            options=options,
            agent=agent,
            follow=_follow,
            patience_s=PATIENCE_S,
        )
        codes = list[str]()

        def said(one: Said) -> None:
            codes.append(one.code)
            if as_json or speaks_codes():
                say(one.code, err=as_json)
            elif one.word:
                line = Line(harmless(one.text), _TONES.get(one.word, ""), label=one.word)
                say(timed(line, time_of_day(SystemClock().utc())), err=True)

        try:
            while True:
                ended = queue_loop.Loop(context, max_cycles, no_progress_limit, said).run()
                if minutes is None or not queue_loop.wait_for_change(opened, minutes):
                    break
        except StoppedError as stop:
            say("stopped; `santiago loop` goes on where this one ended", err=True)
            return ExitCode.TERMINATED if stop.signals[:1] in ((SIGTERM,), (SIGHUP,)) else ExitCode.INTERRUPTED
        _explain(opened, ended)
        cards = queue_loop.accepted(opened, ended.done)
        branches, unproven = queue_loop.unmerged(opened, cards), queue_loop.unproven(opened, cards)
        _tell_results(branches, unproven)
        if not as_json:
            _tell(opened, ended)
    for notice in opened.notices:
        warn(notice)
    if as_json:
        show_data({
            "status": ended.status, "reason": ended.reason, "cycles": ended.cycles, "no_progress": ended.no_progress,
            "done": ended.done, "ids": ended.ids, "branches": branches, "not_proven": unproven,
            "lines": [*codes, *_codes(ended)],
        })  # fmt: skip
    return ExitCode.OK if ended.reason is None else ExitCode.BLOCKED


def _codes(ended: Ended) -> list[str]:
    """Return how the loop ended, in the words that other programs read."""
    word = "LOOP_USER_CONFIRMATION_IDS" if ended.status == "STOP_USER_CONFIRMATION" else "AUTOLOOP_IDS"
    return [
        f"AUTOLOOP_TERMINAL_STATUS:{ended.status}",
        f"AUTOLOOP_TOTAL_CYCLES:{ended.cycles}",
        f"AUTOLOOP_NO_PROGRESS_COUNT:{ended.no_progress}",
        *([f"{word}:{','.join(ended.ids)}"] if ended.ids else []),
    ]


def _tell(opened: BoardHandle, ended: Ended) -> None:
    """Print how the loop ended, and what to do next; an empty board says how to fill it."""
    if speaks_codes():
        for code in _codes(ended):
            say(code)
    elif word(data := whole_board(opened, 0, utc(), MOST)) == "EMPTY" and ended.reason is None:
        show_lines(empty_page(data))
        return
    else:
        say(_sentence(ended, data))
        say()
    tell(opened, user_facing=True)


def _sentence(ended: Ended, data: dict[str, Any]) -> str:
    """Return how a loop ended, in a sentence that names the tickets it is about."""
    if ended.reason is None:
        return "everything on the board is done"
    which = few(ended.ids, MOST)
    stopped = f"stopped after {count(ended.cycles, 'cycle')}"
    if word(data) == "STUCK":
        return f"{stopped}: {headline(data)[0]}"
    if ended.reason is Reason.NEEDS_USER_CONFIRMATION:
        return f"{stopped}: somebody has to decide on {which}"
    return f"{stopped}: {MEANINGS[ended.reason].sentence}" + (f" ({which})" if which else "")


def _explain(opened: BoardHandle, ended: Ended) -> None:
    """Print on standard error why tickets do not go on, and what helps."""
    with opened.store.reading() as at:
        cards = [card for name in ended.ids if (card := at.card(name)) is not None]
    told = [lines for card in cards if (lines := stuck({**fields_of(card), "queue": card.queue, "spent": card.spent}))]
    for line in [line for lines in told[:MOST] for line in lines]:
        say(line, err=True)
    if len(told) > MOST:
        say(f"and {len(told) - MOST} more: `santiago queue triage-blocked`", err=True)


def _tell_results(branches: Sequence[str], unproven: Sequence[str]) -> None:
    """Print on standard error where the accepted work is, and which of it is not proven."""
    if unproven:
        say(f"not proven: {few(unproven, MOST)}  (no test fails without their work)", err=True)
    for branch in branches:
        say(f"the accepted work is on the branch {branch}", err=True)
        say(f"  next: git merge {branch}", err=True)


def _matters(event: Event, state: RunState) -> bool:
    """Tell whether people are told of an event. The loop asks its own planner whether a result is good, and tells of tickets."""
    if event.event is EventKind.STORY_BLOCKED:
        return False  # its ticket is blocked as well, and only the board's commands help that
    asked = state.questions.get(event.context.get("question", ""))
    return (bool(event.story_id) and (asked is None or asked.kind != "result")) or event.event in _OF_RUN


def _follow(request: Request) -> None:
    """Print on standard error what happens to each story."""
    lines = Lines(request.plan, request.effective.limits, request.out_dir)

    def take(events: Sequence[Event], state: RunState) -> None:
        for event in events:
            if (line := lines.of(event, state)) is not None and _matters(event, state):
                say(timed(line, time_of_day(event.timestamp)), err=True)

    request.listeners.append(take)
