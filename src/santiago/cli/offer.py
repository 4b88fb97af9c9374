"""What bare `santiago` says on a terminal inside a repository that has runs: what there is, and how to look at it."""

from __future__ import annotations

from santiago.app.finding import running_or_newest, runs_here
from santiago.cli.view.text import paint, say
from santiago.contract.errors import SantiagoError
from santiago.report.run_status import standing


def offer() -> None:
    """Name the run that is running, or the newest one; say nothing where there is none."""
    try:
        out_dir, _ = running_or_newest(None)
        known = runs_here()
    except SantiagoError:
        return
    more = f" and {len(known) - 1} more" if len(known) > 1 else ""
    say()
    say(f"{paint('Here:', 'cyan', bold=True, stderr=False)} run {out_dir.name}, {standing(out_dir)}{more}")
    say("next: santiago watch   # look at it, answer, stop, go on")
