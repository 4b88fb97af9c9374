"""`santiago runs`: the runs of this repository, newest first."""

from __future__ import annotations

from santiago.app.finding import runs_here
from santiago.cli.opened_board import routed
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import SantiagoError
from santiago.report.marks import RUNS
from santiago.report.measures import ago
from santiago.report.run_list import MOST, RunRow, run_rows
from santiago.util.clock import SystemClock
from santiago.util.text import count


def runs(every: bool, as_json: bool) -> None:
    """List the runs of this repository."""
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
        show_data({"contract_version": 1, "runs": [row.data() for row in rows], "more": known - len(rows)})
        return
    now = SystemClock().utc()
    for row in rows:
        _show(row, now)
    if known > len(rows):
        say(f"and {known - len(rows)} older: `santiago runs --all`")


def _show(row: RunRow, now: str) -> None:
    state = paint(row.state, RUNS.get(row.word, ""), stderr=False)
    asks = f"   {count(len(row.questions), 'open question')}" if row.questions else ""
    say(f"{row.run_id}  {state}   {row.document or row.title}   {ago(row.created, now)}{asks}")
    command, does = row.next
    if command:
        say(f"      next: {command}   # {does}")
