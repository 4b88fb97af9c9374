"""The runs of a repository to choose from, newest first: title, time and state of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.finding import runs_here
from santiago.app.loading import frozen
from santiago.contract.errors import SantiagoError
from santiago.contract.record import record
from santiago.report.measures import ago
from santiago.report.run_status import standing
from santiago.util.text import fit, flat

if TYPE_CHECKING:
    from pathlib import Path

MOST = 40
"""How many runs are offered. Older ones can be named on the command line."""


@record
class RunRow:
    """One run to choose."""

    run_id: str
    out_dir: Path
    title: str
    created: str
    state: str

    def text(self, now: str) -> str:
        """Return the run on one line."""
        return f"{self.run_id:<20}  {fit(self.title, 28)}  {ago(self.created, now):<12}  {self.state}"


def run_rows() -> list[RunRow]:
    """Return the newest runs of this repository; raise if there are none."""
    return [
        RunRow(
            run_id=run.run_id,
            out_dir=run.out_dir,
            title=_title(run.out_dir),
            created=run.created,
            state=standing(run.out_dir),
        )
        for run in runs_here()[:MOST]
    ]


def _title(out_dir: Path) -> str:
    try:
        return flat(frozen(out_dir)[0].title)
    except SantiagoError:
        return ""
