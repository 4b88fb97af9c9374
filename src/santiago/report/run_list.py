"""The runs of a repository, newest first: state, document and age of each, and what to do next with it."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from santiago.app.finding import runs_here, target
from santiago.app.loading import Run, load
from santiago.app.paths import near
from santiago.artifacts.registry import earlier_of
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import RunPhase
from santiago.contract.record import record
from santiago.report.asking import asked
from santiago.report.failure import report_of
from santiago.report.measures import ago
from santiago.report.remedies import after_rest, answers, taking_over
from santiago.report.run_status import is_taken_over, standing_of, word_of
from santiago.util.text import fit, flat

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.artifacts.registry import Registered

MOST = 40
"""How many runs are offered. Older ones can be named on the command line."""


@record
class RunRow:
    """One run of the repository."""

    run_id: str
    out_dir: Path
    created: str
    title: str
    document: str
    word: str
    """Its state in one word."""
    state: str
    """Its state in a few words."""
    resumable: bool
    questions: tuple[str, ...]
    """Ids of the questions that wait for an answer."""
    next: tuple[str, str]
    """The command that takes it further, and what that does; empty if nothing is left to do."""

    def on_board(self) -> RunRow:
        """Return a run whose stories are tickets: the loop goes on with it."""
        resumes = self.next[0].startswith("santiago resume")
        return replace(self, next=("santiago loop", "go on with its tickets")) if resumes else self

    def taken_over(self, by: str) -> RunRow:
        """Return a run that a newer one goes on from: to go on with it as well would do the same work twice."""
        return replace(self, state=f"taken over by {by}", next=("", ""))

    def text(self, now: str) -> str:
        """Return the run on one line."""
        return f"{self.run_id:<20}  {fit(self.title, 28)}  {ago(self.created, now):<12}  {self.state}"

    def data(self) -> dict[str, Any]:
        """Return the run for programs."""
        return {
            "run_id": self.run_id, "out_dir": str(self.out_dir), "title": self.title, "document": self.document,
            "state": self.word, "standing": self.state, "resumable": self.resumable, "created": self.created,
            "questions": list(self.questions), "next": self.next[0] or None,
        }  # fmt: skip


def run_rows(most: int | None = MOST) -> list[RunRow]:
    """Return the newest runs of this repository, or all of them; raise if there are none."""
    known = runs_here()[:most]
    later = {earlier_of(run): run.run_id for run in known}
    rows = map(row_of, known)
    return [row.taken_over(later[row.run_id]) if row.run_id in later and row.resumable else row for row in rows]


def row_of(known: Registered) -> RunRow:
    """Return one run, even if it is damaged."""
    try:
        run = load(known.out_dir)
    except SantiagoError:
        looked_at = (f"santiago audit {quote(near(known.out_dir))}", "say what is wrong with its files")
        return RunRow(
            run_id=known.run_id, out_dir=known.out_dir, created=known.created, title="", document="", word="damaged",
            state="damaged", resumable=False, questions=(), next=looked_at,
        )  # fmt: skip
    return RunRow(
        run_id=known.run_id,
        out_dir=known.out_dir,
        created=known.created,
        title=flat(run.plan.title),
        document=flat(run.plan.source.path),
        word=word_of(run),
        state=standing_of(run),
        resumable=run.resumable,
        questions=tuple(one.id for one in asked(run.state, run.out_dir)[0]),
        next=next(iter(_going_on(run)), ("", "")),
    )


def _going_on(run: Run) -> list[tuple[str, str]]:
    """Return the commands that take a run further, the best first; none if its work is merged."""
    if run.worker:
        return [*answers(run.state, run.out_dir), (f"santiago watch{target(run.out_dir)}", "look on while it runs")]
    if not run.begun:
        return [(f"santiago resume {quote(near(run.out_dir))}", "begin")]
    if run.state.phase is RunPhase.SUCCESS:
        return [] if is_taken_over(run) else taking_over(report_of(run))
    return after_rest(report_of(run))
