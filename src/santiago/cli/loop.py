"""`santiago loop`: work the board off until everything is done, or somebody has to decide."""

from __future__ import annotations

import json

import click


@click.command("loop")
@click.option("--max-cycles", type=click.IntRange(1), default=30, show_default=True)
@click.option(
    "--no-progress-limit", type=click.IntRange(1), default=2, show_default=True, help="Cycles without anything done."
)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Tickets side by side.")
@click.option(
    "--watch", "minutes", type=click.IntRange(1), metavar="MINUTES", help="At the end wait so long for new work."
)
@click.option("--trust-commands", is_flag=True, help="Run commands that come from documents without asking.")
@click.option("--trust-project", is_flag=True, help="Trust the settings that come with the repository, as they are.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
def command(
    max_cycles: int, no_progress_limit: int, jobs: int, minutes: int | None, trust_commands: bool, trust_project: bool,
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

    from santiago.app.board.loop import Loop
    from santiago.app.board.waiting import wait_for_change
    from santiago.app.board.working import Means
    from santiago.board.opening import open_board
    from santiago.cli.board_consents import consents
    from santiago.cli.start.trust import approve
    from santiago.cli.view.text import say

    with open_board(Path.cwd(), os.environ) as opened:
        approve(opened.place.project, asked=not no_input and sys.stdin.isatty(), trusted=trust_project)
        means = Means(opened=opened, consents=consents(trusted=trust_commands, no_input=no_input), jobs=jobs)
        while True:
            ended = Loop(
                means=means,
                max_cycles=max_cycles,
                no_progress_limit=no_progress_limit,
                say=lambda text: say(text, err=as_json),
            ).run()
            if minutes is None or not wait_for_change(opened, minutes):
                break
    for notice in opened.notices:
        say(f"note: {notice}", err=True)
    code = 0 if ended.reason is None else 10
    if as_json:
        found = {
            "status": ended.status,
            "reason": ended.reason,
            "cycles": ended.cycles,
            "no_progress": ended.no_progress,
        }
        click.echo(
            json.dumps({**found, "done": list(ended.done), "ids": list(ended.ids)}, indent=2, ensure_ascii=False)
        )
        return code
    say(f"AUTOLOOP_TERMINAL_STATUS:{ended.status}")
    say(f"AUTOLOOP_TOTAL_CYCLES:{ended.cycles}")
    say(f"AUTOLOOP_NO_PROGRESS_COUNT:{ended.no_progress}")
    if ended.ids:
        say(
            f"LOOP_USER_CONFIRMATION_IDS:{','.join(ended.ids)}"
            if ended.status == "STOP_USER_CONFIRMATION"
            else f"AUTOLOOP_IDS:{','.join(ended.ids)}"
        )
    return code
