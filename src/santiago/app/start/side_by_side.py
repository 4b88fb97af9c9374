"""How many stories can run at the same time, and why not more: a warning for a start that asks for more jobs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from santiago.app.shortage import named
from santiago.executor.schedule import followed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.plan import Plan, Story
    from santiago.contract.policy import Limits, RunInput
    from santiago.contract.state import RunState


def of_jobs(plan: Plan, to_do: Sequence[Story], run_input: RunInput, jobs: int) -> list[str]:
    """Return a warning if fewer stories than asked for can run at the same time: why, and what helps."""
    if jobs == 1 or len(to_do) < 2:
        return []
    if run_input.policy.stepwise:
        return [
            f"{jobs} at a time are asked for, but only one runs: with --gate step, each story waits for your answer"
        ]
    most = _widest(plan, to_do, optimistic=run_input.policy.optimistic)
    if most >= min(jobs, len(to_do)):
        return []
    told = f"{jobs} at a time are asked for, but {'only one' if most == 1 else f'at most {most}'} can run"
    bare = [] if run_input.policy.optimistic else [story for story in to_do if not story.files]
    if not bare:
        return [f"{told}: the others wait for stories that they depend on, or that change the same files"]
    which = (
        "no story names its" if len(bare) == len(to_do) else f"{named(bare)} {'names' if len(bare) == 1 else 'name'} no"
    )
    why = f"{which} files, so it is not known which stories change the same ones"
    return [f"{told}: {why}; write `Files: …` in the document, or use --optimistic"]


def _widest(plan: Plan, to_do: Sequence[Story], *, optimistic: bool) -> int:
    """Return how many stories of one chunk can run together at most, if each takes the same time."""
    behind, level = followed(plan, optimistic=optimistic), dict.fromkeys((story.id for story in to_do), 0)
    for story in to_do:
        waits_for = [level[name] for name in (*story.depends_on, *behind[story.id]) if name in level]
        level[story.id] = 1 + max(waits_for, default=0)
    return max(Counter((story.chunk, level[story.id]) for story in to_do).values(), default=1)


_HOLDS = (
    ("run_timeout_minutes", "story_timeout_minutes"),
    ("run_max_attempts", "story_max_attempts"),
    ("story_timeout_minutes", "attempt_timeout_minutes"),
)
"""Pairs of limits. If the first is lower, it is reached before the second can be used up."""


def of_limits(limits: Limits, state: RunState, jobs: int) -> list[str]:
    """Return warnings on limits that keep another limit from being used up, or stories from running at the same time."""
    notes = [
        f"limits.{high} is {_shown(most)}, but limits.{low} ends the work earlier, at {_shown(least)}"
        for low, high in _HOLDS
        if (least := getattr(limits, low)) < (most := getattr(limits, high) or 0)
    ]
    given = [name for name in ("run_max_tokens", "run_max_cost_usd") if getattr(limits, name) is not None]
    if jobs > 1 and given and not state.attempts:
        notes.append(f"limits.{' and '.join(given)} is set, so the first attempt runs alone: it shows what one costs")
    return notes


def _shown(value: int) -> str:
    return str(getattr(value, "written", value))
