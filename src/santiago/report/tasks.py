"""A run as the task lists of coding agents show one: TaskList entries, and the argument of `update_plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.phases import ENDED, StoryPhase
from santiago.contract.views import selected
from santiago.util.text import count, flat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.contract.plan import Plan, Story
    from santiago.contract.state import RunState, StoryState


def tasks(plan: Plan, state: RunState) -> list[dict[str, Any]]:
    """Return a task for each story and substep, in the order of the work; those that were left out are none.

    At most one task without open substeps is in progress; the story that it is a part of is in progress with it.
    """
    planned = {story.id: story for story in plan.stories}
    current = _current(state)
    active = {current.id, current.parent} if current else set()
    return [
        {
            "id": story.id,
            "subject": _subject(planned, story),
            "status": _status(story, active),
            "blockedBy": [name for name in _needs(planned, state, story) if not state.stories[name].satisfied],
            "activeForm": f"Working on: {_subject(planned, story)}",
        }
        for story in map(state.stories.__getitem__, state.order)
        if not story.skipped
    ]


def update_plan(plan: Plan, state: RunState) -> dict[str, Any]:
    """Return the same as a plan of steps, where only one may be in progress: of a story and its substep, the substep."""
    listed = tasks(plan, state)
    current = _current(state)
    steps = [
        {"step": task["subject"], "status": "pending" if _is_outer(task, current) else task["status"]}
        for task in listed
    ]
    done = sum(task["status"] == "completed" for task in listed)
    left_out = len(state.order) - len(listed)
    more = f", {left_out} left out" if left_out else ""
    return {"plan": steps, "explanation": f"{done} of {count(len(listed), 'task')} completed{more}; run {state.phase}"}


def _current(state: RunState) -> StoryState | None:
    """Return the one that is worked on, or about which a person is asked; none once the run has ended otherwise."""
    story = state.stories.get(selected(state) or "")
    return None if story is None or (state.phase in ENDED and not story.asked) else story


def _is_outer(task: Mapping[str, Any], current: StoryState | None) -> bool:
    return current is not None and task["id"] == current.parent


def _status(story: StoryState, active: set[str | None]) -> str:
    if story.phase is StoryPhase.DONE:
        return "completed"
    return "in_progress" if story.id in active else "pending"


def _needs(planned: Mapping[str, Story], state: RunState, story: StoryState) -> tuple[str, ...]:
    """Return what a task waits for as the plan declares it; substeps come one after the other, and before their story."""
    whole = planned[story.parent or story.id].depends_on
    if story.parent is None:
        return (*whole, *story.parts)
    parts = state.stories[story.parent].parts
    return (*whole, *parts[: parts.index(story.id)])


def _subject(planned: Mapping[str, Story], story: StoryState) -> str:
    """Return a title; that of a substep stands in its story's detailed plan, and not in the log."""
    if story.parent is not None:
        return f"{story.id} of {flat(planned[story.parent].title)}"
    return flat(planned[story.id].title)
