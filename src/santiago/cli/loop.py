"""`santiago loop`: work on the board's tickets until all are done, or somebody has to decide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.cli import opened_board, queue_views
from santiago.cli.options import agent_option
from santiago.contract.events import EventKind
from santiago.contract.reasons import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.board.loop import Ended
    from santiago.app.start.request import Request
    from santiago.board.opening import Opened
    from santiago.contract.events import Event
    from santiago.contract.state import RunState


PATIENCE_S = 600.0
"""How long the loop waits while a person has work on the same run judged."""
MOST = 10
"""How many tickets are explained at the end."""
_OF_RUN = frozenset({EventKind.STOP_REQUESTED})


@click.command("loop")
@click.option("--max-cycles", type=click.IntRange(1), default=30, show_default=True)
@click.option(
    "--no-progress-limit", type=click.IntRange(1), default=2, show_default=True, help="Cycles without anything done."
)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Tickets side by side.")
@click.option(
    "--watch", "minutes", type=click.IntRange(1), metavar="MINUTES", help="At the end wait so long for new work."
)
@agent_option("The agent for developers' tickets; it also plans a request without a document, where no planner is set.")
@click.option("--yes", is_flag=True, help="Take the units of every proposal as they are.")
@click.option("--trust-commands", is_flag=True, help="Run commands that come from documents without asking.")
@click.option("--trust-project", is_flag=True, help="Trust the settings that come with the repository, as they are.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
def command(
    max_cycles: int, no_progress_limit: int, jobs: int, minutes: int | None, agent: str | None, yes: bool, trust_commands: bool, trust_project: bool,
    no_input: bool, as_json: bool,
) -> int:  # fmt: skip
    """Route requests, have agents carry tickets out, review them, and archive what is done.

    \b
    santiago queue add --queue planner-inbox --id REQ-1 --title "CSV export" --source doc:docs/prd.md
    santiago loop --trust-commands
    """
    import os
    import sys
    from pathlib import Path
    from signal import SIGHUP, SIGTERM

    from santiago.app.board import results
    from santiago.app.board.loop import Loop
    from santiago.app.board.only_loop import only_loop
    from santiago.app.board.waiting import wait_for_change
    from santiago.app.board.working import Means, StoppedError
    from santiago.board.opening import open_board
    from santiago.cli.board_consents import consents
    from santiago.cli.start.trust import approve
    from santiago.cli.view.text import say

    with open_board(Path.cwd(), os.environ) as opened, only_loop(opened.place):
        approve(opened.place.project, asked=not no_input and sys.stdin.isatty(), trusted=trust_project)
        asking = consents(trusted=trust_commands, units=yes, no_input=no_input)
        means = Means(opened=opened, consents=asking, jobs=jobs, agent=agent, follow=_follow, patience_s=PATIENCE_S)
        try:
            while True:
                ended = Loop(means, max_cycles, no_progress_limit, lambda text: say(text, err=as_json)).run()
                if minutes is None or not wait_for_change(opened, minutes):
                    break
        except StoppedError as stop:
            say("stopped; `santiago loop` goes on where this one ended", err=True)
            return ExitCode.TERMINATED if stop.signals[:1] in ((SIGTERM,), (SIGHUP,)) else ExitCode.INTERRUPTED
        _explain(opened, ended)
        cards = results.accepted(opened, ended.done)
        branches, unproven = results.unmerged(opened, cards), results.unproven(opened, cards)
        _tell_results(branches, unproven)
        if not as_json:
            _tell(ended)
            queue_views.tell(opened, user_facing=True)
    for notice in opened.notices:
        opened_board.warn(notice)
    if as_json:
        found: dict[str, object] = {
            "status": ended.status,
            "reason": ended.reason,
            "cycles": ended.cycles,
            "no_progress": ended.no_progress,
        }
        found |= {"done": ended.done, "ids": ended.ids, "branches": branches, "not_proven": unproven}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    return ExitCode.OK if ended.reason is None else ExitCode.BLOCKED


def _tell(ended: Ended) -> None:
    """Print how the loop ended, in the words that other programs read."""
    from santiago.cli.view.text import say

    say(f"AUTOLOOP_TERMINAL_STATUS:{ended.status}")
    say(f"AUTOLOOP_TOTAL_CYCLES:{ended.cycles}")
    say(f"AUTOLOOP_NO_PROGRESS_COUNT:{ended.no_progress}")
    if ended.ids:
        word = "LOOP_USER_CONFIRMATION_IDS" if ended.status == "STOP_USER_CONFIRMATION" else "AUTOLOOP_IDS"
        say(f"{word}:{','.join(ended.ids)}")


def _explain(opened: Opened, ended: Ended) -> None:
    """Print on standard error why tickets do not go on, and what helps."""
    from santiago.cli.view.text import say
    from santiago.contract.board import fields_of
    from santiago.report.board_pages import stuck

    with opened.store.reading() as at:
        cards = [card for name in ended.ids if (card := at.card(name)) is not None]
    told = [lines for card in cards if (lines := stuck({**fields_of(card), "spent": card.spent}))]
    for line in [line for lines in told[:MOST] for line in lines]:
        say(line, err=True)
    if len(told) > MOST:
        say(f"and {len(told) - MOST} more: `santiago queue triage-blocked`", err=True)


def _tell_results(branches: Sequence[str], unproven: Sequence[str]) -> None:
    """Print on standard error where the accepted work is, and which of it is not proven."""
    from santiago.cli.view.text import say

    if unproven:
        more = f" and {len(unproven) - MOST} more" if len(unproven) > MOST else ""
        say(f"not proven: {', '.join(unproven[:MOST])}{more}  (no test fails without their work)", err=True)
    for branch in branches:
        say(f"the accepted work is on the branch {branch}", err=True)
        say(f"  next: git merge {branch}", err=True)


def _follow(request: Request) -> None:
    """Print on standard error what happens to each story."""
    from santiago.cli.view.lines import Lines
    from santiago.cli.view.text import say
    from santiago.util.clock import time_of_day

    lines = Lines(request.plan, request.effective.limits, request.out_dir)

    def take(events: Sequence[Event], state: RunState) -> None:
        for event in events:
            if (event.story_id or event.event in _OF_RUN) and (line := lines.of(event, state)) is not None:
                say(line.painted(time_of_day(event.timestamp)), err=True)

    request.listeners.append(take)
