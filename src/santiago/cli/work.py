"""The body of `santiago work`: says at the terminal what a worker does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.config import load
from santiago.app.start.engine_terms import no_engine, terms
from santiago.app.work.worker import Duty
from santiago.app.work.worker import work as carry_out
from santiago.cli.view.lines import timed
from santiago.cli.view.terminal import say
from santiago.report.page import Line
from santiago.util.clock import SystemClock, time_of_day
from santiago.util.text import harmless

if TYPE_CHECKING:
    from santiago.app.start.start_options import Places


def work(
    places: Places, jobs: int, pool: str, judges: bool, repo: Path | None, once: bool, idle: float | None, unfenced: bool
) -> int:  # fmt: skip
    """Carry out orders, and print a line for each."""
    # No project's own settings count: a worker's machine trusts what its user says.
    settings = {name: one.value for name, one in load(Path.cwd(), project=False).items()}
    found = terms((places.engine, places.remote), settings, insecure=places.insecure)
    if found is None:
        raise no_engine()
    duty = Duty(
        terms=found, jobs=jobs, pool=pool, judges=judges, offered=repo, once=once,
        idle_ms=None if idle is None else int(idle * 60_000), unfenced=unfenced,
    )  # fmt: skip
    return carry_out(duty, _tell)


def _tell(text: str) -> None:
    say(timed(Line(harmless(text)), time_of_day(SystemClock().utc())), err=True)
