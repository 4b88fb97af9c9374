"""Following a planning session: it is read again when its log grows, but each revision only once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from santiago.app.loading import load as load_run
from santiago.app.loading import working
from santiago.app.planning.planning_sessions import load_session
from santiago.artifacts.names import LOG, has_begun
from santiago.artifacts.run_locations import RUNS
from santiago.contract.phases import SessionPhase
from santiago.contract.views import screen
from santiago.report.asking import answers_left
from santiago.report.run_status import standing
from santiago.report.session_review import review_of, screen_of
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.state import Question
    from santiago.contract.views import Screen
    from santiago.report.session_review import Review

Control = Literal[
    "continue", "edit", "finalize", "cancel", "take_up", "answer", "plan_on", "run", "begin", "more_turns"
]
DECIDING: frozenset[Control] = frozenset({"continue", "edit", "finalize", "cancel"})
OVER: frozenset[Control] = frozenset({"more_turns", "finalize", "cancel"})
"""Controls that are left when all turns are used."""


class FollowingSession:
    """A session as it is now, with its latest or an earlier revision shown."""

    def __init__(self, folder: Path, utc: Callable[[], str] | None = None, *, compared: bool = True) -> None:
        """Read a session. Comparing with the revision before takes longer; without `compared`, `compare` can do it later."""
        self.folder, self.utc = folder, utc or SystemClock().utc
        self._size = self._written()
        self._plans: dict[int, Plan] = {}
        self.earlier = 0
        """The revision that is shown, if it is not the latest."""
        self.compared = compared
        self.ran = ""
        """The screen state of the session's run, when it was last read."""
        self._read()

    def compare(self) -> None:
        """Compare the shown revision with the one before it."""
        self.compared = True
        self.review = review_of(self.planning, self.earlier or None)

    def look(self) -> bool:
        """Read the session again if its log has grown; return whether it has. Damage raises an error that names the line."""
        size = self._written()
        if size == self._size:
            return False
        self._size = size
        self._read()
        return True

    def ask_worker(self) -> bool:
        """Find out who works on the session, and whether an answer waits; read it again if that has changed."""
        if working(self.folder) == self.planning.worker and self._letters() == self.letters:
            return False
        self._size = self._written()
        self._read()
        return True

    def show(self, revision: int) -> Review:
        """Show another revision. If it is the latest, later ones are shown as they come."""
        self.earlier = revision if 0 < revision < self.planning.state.revision else 0
        self.compare()
        return self.review

    @property
    def before(self) -> Plan | None:
        """The plan of the revision before the shown one."""
        return self.planning.plan(self.review.revision - 1) if self.review.revision > 1 else None

    @property
    def run_dir(self) -> Path | None:
        """The folder of the run that was made from the session."""
        return self.planning.root / RUNS / self.review.run if self.review.run else None

    def ask_run(self) -> None:
        """Read the state of the run that was made from the session."""
        self.ran = standing(self.run_dir) if self.run_dir else ""

    @property
    def screen(self) -> Screen:
        """The screen state of the session, or of its run if it became one."""
        return execution_screen(self.run_dir) if self.run_dir else screen_of(self.planning)

    def _read(self) -> None:
        self.planning = load_session(self.folder)
        self.planning.plans = self._plans
        self.letters = self._letters()
        """Questions with an answer that no process has read yet."""
        self.review = review_of(self.planning, self.earlier or None, compared=self.compared)

    @property
    def waiting(self) -> bool:
        """Whether an answer about the plan is still to be carried out."""
        state = self.planning.state
        return state.phase is SessionPhase.REVIEW and (state.review is None or state.review.id in self.letters)

    @property
    def turns_used(self) -> bool:
        """Whether all allowed turns are used."""
        state, limits = self.planning.state, self.planning.run_input.limits
        return len(state.turns) >= limits.planning_max_turns + state.raised.get("planning_max_turns", 0)

    @property
    def asked(self) -> list[Question]:
        """Questions of agents that nobody has answered."""
        asked = self.planning.state.open_questions()
        return [one for one in asked if one.kind == "agent" and one.id not in self.letters]

    def _letters(self) -> frozenset[str]:
        return answers_left(self.folder) if self.planning.state.open_questions() else frozenset()

    def _written(self) -> int:
        try:
            return (self.folder / LOG).stat().st_size
        except OSError:
            return 0


def execution_screen(out_dir: Path) -> Screen:
    """Return the screen state of a run. A run that has not ended and is not running can be resumed."""
    if not has_begun(out_dir):
        return "NORMAL"
    run = load_run(out_dir)
    state = screen(run.state.phase, resumable=run.resumable)
    return "EXECUTION_RESUMABLE" if state == "EXECUTION_ACTIVE" and not run.worker else state


def controls_of(following: FollowingSession) -> frozenset[Control]:
    """Return what can be done now. A person can decide only on the latest revision, and only if no process works on it."""
    review = following.review
    found: set[Control] = {"answer"} if following.asked else set()
    if review.run:
        planned: set[Control] = {"begin"} if following.ran.startswith("planned") else set()
        return frozenset(found | planned | {"plan_on", "run"})
    if review.worker and review.state == "drafting":
        return frozenset(found | {"cancel"})
    if following.earlier or review.worker:
        return frozenset(found)
    if review.question and not following.waiting:
        return frozenset(found | (OVER if following.turns_used else DECIDING))
    return frozenset(found if review.state == "finalized" else {*found, "take_up"})
