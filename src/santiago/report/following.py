"""Following a run while it grows: it is read once from its beginning, then only what was added, in pieces."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from santiago.app.loading import History, Run, empty_fold, frozen, with_substeps, working
from santiago.artifacts.file_errors import possible
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import Tail
from santiago.contract.fold import undisturbed
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.plan import Story

PIECE = 1000
"""How many events are read at a time, so that the caller can do something else in between."""


class Following:
    """The state of a run as far as its log was read. Memory grows with its stories and attempts, not with its events."""

    def __init__(self, out_dir: Path, utc: Callable[[], str] | None = None) -> None:
        self.out_dir = out_dir
        self.utc = utc or SystemClock().utc
        plan, run_input = frozen(out_dir)
        self._fold, self._tail = empty_fold(plan, run_input), Tail(out_dir / LOG)
        self._apply = possible(out_dir / LOG, self._fold.apply)
        self._size = 0
        self.run = Run(
            out_dir=out_dir, plan=plan, run_input=run_input, state=self._fold.state, stories=plan.stories,
            history=History(), begun=False, worker=working(out_dir),
        )  # fmt: skip
        self.by_id: dict[str, Story] = {story.id: story for story in plan.stories}
        self.behind = True
        """Whether there may be more to read."""

    def look(self, most: int = PIECE) -> bool:
        """Read on; return whether there was anything new. Damage raises an error that names the line."""
        size = self._written()
        if size == self._size and not self.behind:
            return False
        self._size = size
        taken = 0
        with undisturbed():
            for event in islice(self._tail.read(), most):
                self._apply(event)
                self.run.history.take(event)
                taken += 1
        self.behind = taken == most
        self.run.begun = self.run.begun or taken > 0
        if len(self._fold.state.stories) != len(self.by_id):
            self.run.stories = with_substeps(self.run.plan, self._fold.state, self.out_dir)
            self.by_id = {story.id: story for story in self.run.stories}
        return taken > 0

    def ask_worker(self) -> bool:
        """Find out who works on the run; return whether that has changed."""
        worker = working(self.out_dir)
        changed, self.run.worker = worker != self.run.worker, worker
        if changed:
            self.behind = True  # a process that released the lock has written everything
        return changed

    def catch_up(self) -> Run:
        """Read all that there is."""
        while self.look():
            pass
        return self.run

    def _written(self) -> int:
        try:
            return (self.out_dir / LOG).stat().st_size
        except OSError:
            return 0
