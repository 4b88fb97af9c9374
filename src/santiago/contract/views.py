"""The words that other tools use for states, as functions of the folded state. They are computed when shown, never stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, assert_never

from santiago.contract.phases import WAITING, RunPhase, StoryPhase
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.contract.state import RunState, StoryState

StoryStatus000 = Literal["pending", "in_progress", "done", "failed", "blocked"]
RunStatus000 = Literal["initialized", "executing", "run_verification", "success", "failed", "blocked"]
Screen = Literal["NORMAL", "PLANNING_ACTIVE", "PLAN_REVIEW_READY", "EXECUTION_ACTIVE", "EXECUTION_RESUMABLE"]

_ASKS = (Reason.AGENT_ASKED, Reason.NEEDS_USER_CONFIRMATION)


def selected(state: RunState) -> str | None:
    """Return the one story that is under way, or comes next; None where nothing does.

    Where substeps are under way, one of them is returned and not their parent.
    """
    if state.phase in (RunPhase.SUCCESS, RunPhase.FAILED):
        return None
    names = state.running | state.proposed | state.collected | state.verified
    ready = [story for story in state.ready_stories() if not story.deferred and not story.skipped]
    there = (story for story in map(state.stories.__getitem__, names) if not story.is_unproven)  # nobody works on it
    active = [story for story in there if not story.deferred and not story.skipped]
    active += [story for story in ready if story.asked]
    if active:
        return min(active, key=lambda story: story.index).id
    goes_on = state.phase in (RunPhase.EXECUTING, RunPhase.PAUSED)
    goes_on |= state.phase is RunPhase.BLOCKED and state.reason in _ASKS
    return ready[0].id if ready and goes_on else None


def story_statuses(state: RunState) -> dict[str, StoryStatus000]:
    """Return the story state of every story in the words of the execution model, in plan order."""
    chosen = selected(state)
    return {story.id: _story_status(story, chosen) for story in state.stories.values()}


def story_status(state: RunState, story: StoryState) -> StoryStatus000:
    """Return the story state of the execution model."""
    return _story_status(story, selected(state))


def _story_status(story: StoryState, chosen: str | None) -> StoryStatus000:
    match story.phase:
        case StoryPhase.PLANNED | StoryPhase.READY:
            return "in_progress" if _has_parts_under_way(story) or chosen == story.id else "pending"
        case StoryPhase.PROPOSED | StoryPhase.RUNNING | StoryPhase.EVIDENCE_COLLECTED | StoryPhase.VERIFIED:
            return "pending" if story.deferred else "in_progress"
        case StoryPhase.DONE:
            return "done"
        case StoryPhase.FAILED:
            return "failed"
        case StoryPhase.BLOCKED:
            return "blocked"
        case _:
            assert_never(story.phase)


def _has_parts_under_way(story: StoryState) -> bool:
    """Tell whether a story is carried out by its substeps; it waits for them, and then for its own verdict."""
    return bool(story.parts) and story.phase in WAITING and not story.deferred and not story.skipped


def step_states(state: RunState) -> dict[str, str | None]:
    """Return the step state of every story, in plan order."""
    chosen = selected(state)
    return {story.id: _step_state(state, story, chosen) for story in state.stories.values()}


def step_state(state: RunState, story: StoryState) -> str | None:
    """Return the step state of the step-by-step executor; None where it has no word for it."""
    return _step_state(state, story, selected(state))


def _step_state(state: RunState, story: StoryState, chosen: str | None) -> str | None:
    substep = "Substep " if story.parent else ""
    implementing = "Adjusting" if story.adjusting else f"{substep}Implementing"
    match story.phase:
        case StoryPhase.PLANNED:
            return implementing if _has_parts_under_way(story) else "Tasks Created"
        case StoryPhase.READY:
            if _is_revised(state, story):
                return "Plan Revised"
            begun = story.adjusting or (story.detail is not None and story.detail.approved)
            if _has_parts_under_way(story) or (begun and chosen == story.id):
                return implementing
            return f"{substep or 'Step '}Selected" if chosen == story.id else "Tasks Created"
        case StoryPhase.PROPOSED:
            return "Plan Proposed"
        case StoryPhase.RUNNING | StoryPhase.EVIDENCE_COLLECTED:
            return implementing
        case StoryPhase.VERIFIED:
            return f"{substep or 'Step '}Done"
        case StoryPhase.DONE:
            return "Marked Complete"
        case StoryPhase.FAILED | StoryPhase.BLOCKED:
            return None
        case _:
            assert_never(story.phase)


def _is_revised(state: RunState, story: StoryState) -> bool:
    """Tell whether a person asked for changes of a story's detailed plan, and no new plan is proposed yet."""
    if story.detail is None or story.detail.approved or story.deferred:
        return False
    asked = (one for one in reversed(state.questions.values()) if one.story == story.id and one.kind == "detail")
    latest = next(asked, None)
    return latest is not None and latest.answer in ("adjust", "change")


_OF_RUN: Mapping[RunPhase, tuple[RunStatus000, str | None, str | None, Screen, Screen]] = {
    RunPhase.CREATED: ("initialized", "Plan Loaded", "Plan Loaded", "NORMAL", "NORMAL"),
    RunPhase.EXECUTING: ("executing", None, "Resume Flow", "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    RunPhase.PAUSED: ("executing", "Resume Flow", "Resume Flow", "EXECUTION_RESUMABLE", "EXECUTION_RESUMABLE"),
    RunPhase.RUN_VERIFICATION: ("run_verification", None, "Resume Flow", "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    RunPhase.SUCCESS: ("success", "Plan Complete", "Plan Complete", "NORMAL", "NORMAL"),
    RunPhase.FAILED: ("failed", None, None, "NORMAL", "EXECUTION_RESUMABLE"),
    RunPhase.BLOCKED: ("blocked", None, None, "NORMAL", "EXECUTION_RESUMABLE"),
}
"""Phase of a run → its state in the execution model; in the step-by-step executor, while a process works on the run and while
none does; in the planning review, if it cannot be resumed and if it can."""


def run_status(phase: RunPhase) -> RunStatus000:
    """Return the run state of the execution model."""
    return _OF_RUN[phase][0]


def run_step_state(state: RunState, *, held: bool) -> str | None:
    """Return the run's state in the step-by-step executor; None where the active step's state is shown.

    `held` tells whether a process works on the run. A process that died recorded no pause.
    """
    return _OF_RUN[state.phase][1 if held else 2]


def screen(phase: RunPhase, *, resumable: bool = False) -> Screen:
    """Return the screen state of the planning review; a run that ended may still be resumable."""
    found = _OF_RUN[phase]
    return found[4] if resumable else found[3]
