"""What to expect before anything is spent. The simulation is loaded only where earlier runs tell enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.artifacts import registry
from santiago.artifacts.names import has_begun

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.app.forecasting import Outlook
    from santiago.app.loading import Run
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.executor.scope import Scope
    from santiago.simulation.history import History


def of_plan(plan: Plan, run_input: RunInput, jobs: int | None = None, scope: Scope | None = None) -> Outlook | None:
    """Return what a plan, or a part of it, will take, by earlier runs of its repository; None if these tell too little."""
    history = _history(Path(run_input.repo_path))
    if history is None:
        return None
    from santiago.app.forecasting import outlook
    from santiago.simulation.drawn_run import Task

    task = Task(plan=plan, limits=run_input.limits, policy=run_input.policy)
    return outlook(replace(task, scope=scope) if scope else task, _jobs(run_input, jobs), history)


def of_rest(
    root: Path, loaded: Callable[[], Run], now: str, jobs: int | None = None, scope: Scope | None = None
) -> Outlook | None:
    """Return what is left of a run, by what it did so far and by earlier runs. It is loaded only where these tell enough."""
    history = _history(root)
    if history is None:
        return None
    from santiago.app.forecasting import outlook, task_of

    run = loaded()
    task = task_of(run, now)
    jobs = _jobs(run.run_input, jobs or run.history.start.get("jobs"))
    return outlook(replace(task, scope=scope) if scope else task, jobs, history)


def _history(root: Path) -> History | None:
    """Return what earlier runs of a repository tell; None if that is too little."""
    common = registry.common_git_dir(root)
    if common is None or not any(has_begun(run.out_dir) for run in registry.runs(common)):
        return None
    from santiago.app.earlier_runs import enough

    return enough(root)


def _jobs(run_input: RunInput, jobs: int | None) -> int:
    return 1 if run_input.policy.stepwise else jobs or run_input.policy.jobs
