"""Forecasts: what earlier runs say about a plan or about the rest of a run, and how far they were off."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from santiago.app.earlier_runs import begun, enough
from santiago.artifacts import registry
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import read_log
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.phases import ENDED
from santiago.contract.steps import Attempt, Propose
from santiago.simulation.drawn_run import Task
from santiago.simulation.forecast import Spread, forecast
from santiago.util.clock import between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from santiago.app.loading import Run
    from santiago.contract.events import Event
    from santiago.simulation.history import History

_STORIES = 300
"""For more stories a forecast is made only where somebody asks for it, since it takes seconds."""
_WORK = 1_500
"""How many stories are simulated in all for a forecast that nobody asked for."""


def task_of(run: Run, now: str) -> Task:
    """Return what is left of a run. One that is over is simulated from its beginning."""
    state, run_input = run.state, run.run_input
    if not run.begun or state.phase in ENDED:
        return Task(plan=run.plan, limits=run_input.limits, policy=run_input.policy)
    under_way: dict[Attempt | Propose, int] = {}
    for story in state.in_order(state.running):
        step = Attempt(
            story=story.id, number=story.attempts, base=(story.base or "", *story.onto), tests=story.writes_tests,
            timeout_ms=run_input.limits.attempt_ms, shows=story.showing,
        )  # fmt: skip
        tried = run.history.of(story.id)
        under_way[step] = between(tried[-1].started, now) if tried else 0
    return Task(
        plan=run.plan, limits=run_input.limits, policy=run_input.policy, now=now, under_way=under_way,
        events=tuple(read_log(run.out_dir / LOG)),
    )  # fmt: skip


class Outlook(NamedTuple):
    """A forecast in short, for where people decide."""

    ms: Spread
    micro_usd: Spread | None
    jobs: int
    attempts: int
    left: bool = False
    """Whether it is about the rest of a run."""


def outlook(task: Task, jobs: int, history: History) -> Outlook | None:
    """Return the forecast that is shown without being asked for; None where it would take long."""
    if len(task.plan.stories) > _STORIES:
        return None
    found = forecast(task, history, jobs, max(10, min(50, _WORK // max(1, len(task.plan.stories)))))
    return Outlook(found.ms, found.micro_usd, jobs, len(history.attempts), bool(task.events))


# How far forecasts were off


class Compared(NamedTuple):
    """A run that ended, with what would have been said before it began."""

    run_id: str
    said: Outlook
    ms: int
    micro_usd: int | None

    @property
    def is_within(self) -> bool:
        return self.said.ms.low <= self.ms <= self.said.ms.high


def compared(root: Path) -> Iterator[Compared]:
    """Yield the runs of this repository that ended, oldest first, each with the forecast from what was known before it."""
    from santiago.app.loading import load

    common = registry.common_git_dir(root)
    for one in reversed(begun(common) if common else []):
        with suppress(SantiagoError):
            run = load(one.out_dir)
            if run.state.phase not in ENDED:
                continue
            task = Task(plan=run.plan, limits=run.run_input.limits, policy=run.run_input.policy)
            events = list(read_log(one.out_dir / LOG))
            jobs = run.history.start.get("jobs", run.run_input.policy.jobs)
            history = enough(root, before=events[0].timestamp, apart=one.run_id)
            said = outlook(task, jobs, history) if history else None
            cost = None if run.state.unpriced else run.state.cost_micro_usd
            if said is not None:
                yield Compared(one.run_id, said, lasted(events), cost)


def lasted(events: Sequence[Event]) -> int:
    """Return how long a run was at work in all its starts, with waits, without the time between them."""
    total, since, last = 0, "", ""
    for event in events:
        if event.event in (EventKind.RUN_CREATED, EventKind.RUN_STARTED):
            total += between(since, last) if since else 0
            since = event.timestamp
        last = event.timestamp
    return total + (between(since, last) if since else 0)
