"""A run as the task lists of coding agents show one: TaskList entries, and the argument of `update_plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.app.loading import titles_of
from santiago.contract.phases import StoryPhase
from santiago.contract.views import selected
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.app.loading import Run
    from santiago.contract.plan import Plan, Story
    from santiago.contract.state import RunState, StoryState


def document(run: Run) -> dict[str, Any]:
    """Return both."""
    about = run.plan, run.state, titles_of(run.plan, run.state, run.out_dir)
    return {"contract_version": 1, "run_id": run.run_id, "tasks": tasks(*about), "update_plan": update_plan(*about)}


def tasks(plan: Plan, state: RunState, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a task for each story and substep, in the order of the work, without skipped ones.

    `titles` are those of all of them; the log does not have the titles of substeps.
    At most one task without open substeps is in progress. If it is a substep, its story is in progress too.
    """
    planned = {story.id: story for story in plan.stories}
    current = _current(state)
    active = {current.id, current.parent} if current else set()
    return [
        {
            "id": story.id,
            "subject": titles[story.id],
            "status": _status(story, active),
            "blockedBy": [name for name in _needs(planned, state, story) if not state.stories[name].satisfied],
            "activeForm": f"Working on: {titles[story.id]}",
        }
        for story in map(state.stories.__getitem__, state.order)
        if not story.skipped
    ]


def update_plan(plan: Plan, state: RunState, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the same as a plan of steps. Only one may be in progress: a substep, rather than its story."""
    listed = tasks(plan, state, titles)
    current = _current(state)
    outer = current.parent if current is not None else ""
    steps = [
        {"step": task["subject"], "status": "pending" if task["id"] == outer else task["status"]} for task in listed
    ]
    done = sum(task["status"] == "completed" for task in listed)
    left_out = len(state.order) - len(listed)
    more = f", {left_out} left out" if left_out else ""
    return {"plan": steps, "explanation": f"{done} of {count(len(listed), 'task')} completed{more}; run {state.phase}"}


def _current(state: RunState) -> StoryState | None:
    """Return the story that is worked on, or that waits for a person."""
    return state.stories.get(selected(state) or "")


def _status(story: StoryState, active: set[str | None]) -> str:
    if story.phase is StoryPhase.DONE:
        return "completed"
    return "in_progress" if story.id in active else "pending"


def _needs(planned: Mapping[str, Story], state: RunState, story: StoryState) -> tuple[str, ...]:
    """Return the declared dependencies of a task. Substeps come one after the other, and before their story."""
    whole = planned[story.parent or story.id].depends_on
    if story.parent is None:
        return (*whole, *story.parts)
    parts = state.stories[story.parent].parts
    return (*whole, *parts[: parts.index(story.id)])
