"""The first lines of a run on a screen: its state, progress, usage against limits, and who works on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.counting import count
from santiago.executor.budget import Budget
from santiago.executor.tally import summary
from santiago.report import spending
from santiago.report.measures import clock, limit
from santiago.report.run_status import headline_of
from santiago.util.text import flat

if TYPE_CHECKING:
    from santiago.app.loading import Run


def headline(run: Run, now: str) -> list[str]:
    """Return the parts of the first line, the most important first."""
    state = run.state
    budget, line, found = Budget(run.run_input.limits, state), headline_of(run), summary(run.plan, state)
    brief = f"{found.completed}/{count(len(run.plan.stories), 'story', 'stories')}"
    brief += f", {found.unproven} not proven" if found.unproven else ""
    parts = [
        line.word,
        line.text if line.word in ("success", "finished") else brief,
        f"{state.counted}/{count(budget.run_attempts, 'attempt')}",
        f"{clock(run.used_ms(now))} of {limit(budget.run_ms)}",
        *spending.of_run(state, run.run_input.limits, brief=True),
    ]
    agent = flat(run.history.start.get("agent", "")) or flat(run.run_input.agent.mode)
    return [*parts, agent] if agent else parts


def subline(run: Run, *, pauses: bool) -> list[str]:
    """Return the parts of the second line: pauses after chunks, gates, who works on the run, why it stopped."""
    closed = run.run_input.policy.closed - {"chunk"}
    parts = [f"pause after each chunk: {'on' if pauses else 'off'}"]
    parts += [f"asks for: {', '.join(sorted(closed))}"] if closed else []
    if run.worker:
        parts.append(f"held by {flat(run.worker)}")
    elif run.begun and run.state.reason:
        parts.append(f"{run.state.reason}")
    return parts


def pauses_now(run: Run) -> bool:
    """Tell whether the run pauses after each chunk, as a person said last, or else as its policy says."""
    return "chunk" in run.run_input.policy.closed if run.state.pauses is None else run.state.pauses
