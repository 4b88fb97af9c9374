"""Reading a run from its folder, without disturbing a process that works on it."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

from santiago.app.history import History
from santiago.app.substeps import with_substeps
from santiago.artifacts.file_errors import corrupt, possible
from santiago.artifacts.files import read_bytes, read_json
from santiago.artifacts.lock import NAME as LOCK
from santiago.artifacts.lock import SIGNATURE, holder, last_sign
from santiago.artifacts.names import INPUT, LOG, PLAN
from santiago.artifacts.reader import Reader
from santiago.contract import codec
from santiago.contract.fold import Fold, undisturbed
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import RunInput
from santiago.contract.record import lean
from santiago.contract.state import initial
from santiago.executor.schedule import followed
from santiago.util.clock import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.events import Event
    from santiago.contract.plan import Story
    from santiago.contract.state import RunState


@lean(kw_only=True)
class Run:
    """Everything that read-only commands need of a run."""

    out_dir: Path
    plan: Plan
    run_input: RunInput
    state: RunState
    stories: tuple[Story, ...]
    """All of them in plan order, each followed by its substeps, which are not in the plan."""
    history: History
    begun: bool
    """Whether its log has events. A refused start may have left an empty log."""
    worker: str | None
    """Who works on it now, in words."""

    @property
    def run_id(self) -> str:
        return self.state.run_id or self.run_input.run_id or self.out_dir.name

    def used_ms(self, now: str) -> int:
        """Return the time used, with what has passed since the log last counted it."""
        history, state = self.history, self.state
        if not self.worker or not history.marked:
            return state.used_ms
        if sign := last_sign(self.out_dir):  # the working process knows best how long it waited
            return max(state.used_ms, sign.used_ms)
        rests = between(history.waits_since, now) if state.wait_until and not state.running else 0
        return state.used_ms + max(0, between(history.marked, now) - history.rested_ms - rests)

    @property
    def resumable(self) -> bool:
        return self.state.phase is not RunPhase.SUCCESS

    def story(self, name: str) -> Story | None:
        return next((story for story in self.stories if story.id == name), None)

    @property
    def titles(self) -> dict[str, str]:
        return {story.id: story.title for story in self.stories}


def frozen(out_dir: Path) -> tuple[Plan, RunInput]:
    """Return a run's plan and input."""
    plan = codec.decode(Plan, read_bytes(out_dir / PLAN, codec.MAX_BYTES), str(out_dir / PLAN))
    known = {story.id for story in plan.stories}
    named = chain(*(chunk.stories for chunk in plan.chunks), *(story.depends_on for story in plan.stories))
    if unknown := next((name for name in named if name not in known), None):
        raise corrupt(out_dir / PLAN, f"it names {unknown}, but has no such story")
    return plan, frozen_input(out_dir)


def frozen_input(out_dir: Path) -> RunInput:
    return codec.decode(RunInput, read_bytes(out_dir / INPUT, 2**20), str(out_dir / INPUT))


def empty_fold(plan: Plan, run_input: RunInput) -> Fold:
    return Fold(initial(plan, followed(plan, optimistic=run_input.policy.optimistic)))


def load(out_dir: Path) -> Run:
    """Read a run; damage raises with the line."""
    plan, run_input = frozen(out_dir)
    fold, history = empty_fold(plan, run_input), History()
    # Asked before the log is read: if the worker ends meanwhile, the log is complete when it is read.
    worker = working(out_dir)
    if (out_dir / LOG).exists():
        replay(out_dir, fold, history.take)
    state = fold.state
    begun = state.seq > 0
    stories = with_substeps(plan, state, out_dir)
    return Run(
        out_dir=out_dir, plan=plan, run_input=run_input, state=state, stories=stories, history=history, begun=begun, worker=worker,
    )  # fmt: skip


def replay(out_dir: Path, fold: Fold, take: Callable[[Event], None]) -> None:
    """Fold a whole log. An impossible event raises too, even if its line is whole."""
    apply = possible(out_dir / LOG, fold.apply)
    with undisturbed():
        for event in Reader(out_dir / LOG):
            apply(event)
            take(event)


def working(out_dir: Path) -> str | None:
    """Return who works on a run, in words; None where nobody does.

    The lock itself is tried only if the process that signed it is alive: trying takes the lock for a moment, and a run that
    starts in that moment would be refused.
    """
    signed = read_json(out_dir / LOCK, SIGNATURE)
    try:
        if signed["host"] == os.uname().nodename and not _alive(int(signed["pid"])):
            return None
    except (ValueError, TypeError, KeyError, OverflowError):
        return None
    return holder(out_dir)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
