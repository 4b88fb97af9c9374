"""`santiago runs`: the runs of this repository, newest first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from santiago.report.run_list import RunRow


@click.command("runs")
@click.option("--all", "every", is_flag=True, help="All of them, not only the newest.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(every: bool, as_json: bool) -> None:
    """List the runs of this repository: state, document, age, and what to do next with each."""
    from santiago.app.finding import runs_here
    from santiago.cli.opened_board import routed
    from santiago.cli.view.text import say
    from santiago.contract.errors import SantiagoError
    from santiago.report.run_list import MOST, run_rows
    from santiago.util.clock import SystemClock

    try:
        known = len(runs_here())
    except SantiagoError:
        if not as_json:
            raise
        known = 0
    rows = run_rows(None if every else MOST) if known else []
    boarded = routed([row.run_id for row in rows])
    rows = [row.on_board() if row.run_id in boarded else row for row in rows]
    if as_json:
        told = {"contract_version": 1, "runs": [row.data() for row in rows], "more": known - len(rows)}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    now = SystemClock().utc()
    for row in rows:
        _show(row, now)
    if known > len(rows):
        say(f"and {known - len(rows)} older: `santiago runs --all`")


def _show(row: RunRow, now: str) -> None:
    from santiago.cli.view.text import paint, say
    from santiago.report.marks import RUNS
    from santiago.report.measures import ago
    from santiago.util.text import count

    state = paint(row.state, RUNS.get(row.word, ""), stderr=False)
    asks = f"   {count(len(row.questions), 'open question')}" if row.questions else ""
    say(f"{row.run_id}  {state}   {row.document or row.title}   {ago(row.created, now)}{asks}")
    command, does = row.next
    if command:
        say(f"      next: {command}   # {does}")
