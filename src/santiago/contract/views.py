"""The vocabularies of the source documents, as total functions of the folded state; computed when shown, never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from santiago.contract.phases import RunPhase, StoryPhase

if TYPE_CHECKING:
    from santiago.contract.plan import Role
    from santiago.contract.state import StoryState

StoryStatus000 = Literal["pending", "in_progress", "done", "failed", "blocked"]
RunStatus000 = Literal["initialized", "planning", "executing", "run_verification", "success", "failed", "blocked"]
TicketStatus = Literal["pending", "in_progress", "review", "done", "blocked"]
Queue = Literal["planner-inbox", "developer-todo", "scientist-todo", "planner-review", "blocked", "archive"]
Screen = Literal["NORMAL", "PLANNING_ACTIVE", "PLAN_REVIEW_READY", "EXECUTION_ACTIVE", "EXECUTION_RESUMABLE"]


def story_status(phase: StoryPhase) -> StoryStatus000:
    """Return the story state of the execution model."""
    match phase:
        case StoryPhase.PLANNED | StoryPhase.READY:
            return "pending"
        case StoryPhase.PROPOSED | StoryPhase.RUNNING | StoryPhase.EVIDENCE_COLLECTED | StoryPhase.VERIFIED:
            return "in_progress"
        case StoryPhase.DONE:
            return "done"
        case StoryPhase.FAILED:
            return "failed"
        case StoryPhase.BLOCKED:
            return "blocked"
        case _:
            assert_never(phase)


def run_status(phase: RunPhase) -> RunStatus000:
    """Return the run state of the execution model."""
    match phase:
        case RunPhase.CREATED:
            return "initialized"
        case RunPhase.PLANNING | RunPhase.PLAN_REVIEW:
            return "planning"
        case RunPhase.EXECUTING | RunPhase.PAUSED:
            return "executing"
        case RunPhase.RUN_VERIFICATION:
            return "run_verification"
        case RunPhase.SUCCESS:
            return "success"
        case RunPhase.FAILED:
            return "failed"
        case RunPhase.BLOCKED:
            return "blocked"
        case _:
            assert_never(phase)


def step_state(story: StoryState) -> str | None:
    """Return the step state of the step-by-step executor; None where it has no word for it."""
    substep = "Substep " if story.parent else ""
    match story.phase:
        case StoryPhase.PLANNED:
            return "Tasks Created"
        case StoryPhase.READY:
            return f"{substep}Selected" if substep else "Step Selected"
        case StoryPhase.PROPOSED:
            return "Plan Revised" if story.change_requested else "Plan Proposed"
        case StoryPhase.RUNNING:
            return "Adjusting" if story.change_requested else f"{substep}Implementing"
        case StoryPhase.EVIDENCE_COLLECTED:
            return "Implementing"
        case StoryPhase.VERIFIED:
            return f"{substep}Done" if substep else "Step Done"
        case StoryPhase.DONE:
            return "Marked Complete"
        case StoryPhase.FAILED | StoryPhase.BLOCKED:
            return None
        case _:
            assert_never(story.phase)


def run_step_state(phase: RunPhase) -> str | None:
    """Return the run's state in the step-by-step executor; None where the active step's state is shown."""
    match phase:
        case RunPhase.CREATED:
            return "Plan Loaded"
        case RunPhase.PAUSED:
            return "Resume Flow"
        case RunPhase.SUCCESS:
            return "Plan Complete"
        case (
            RunPhase.PLANNING
            | RunPhase.PLAN_REVIEW
            | RunPhase.EXECUTING
            | RunPhase.RUN_VERIFICATION
            | RunPhase.FAILED
            | RunPhase.BLOCKED
        ):
            return None
        case _:
            assert_never(phase)


def ticket_status(phase: StoryPhase) -> TicketStatus:
    """Return the status of a ticket on the queue's board."""
    match phase:
        case StoryPhase.PLANNED | StoryPhase.READY:
            return "pending"
        case StoryPhase.RUNNING:
            return "in_progress"
        case StoryPhase.PROPOSED | StoryPhase.EVIDENCE_COLLECTED | StoryPhase.VERIFIED:
            return "review"
        case StoryPhase.DONE:
            return "done"
        case StoryPhase.FAILED | StoryPhase.BLOCKED:
            return "blocked"
        case _:
            assert_never(phase)


def queue_of(phase: StoryPhase, role: Role) -> Queue:
    """Return the queue that a ticket stands in."""
    match phase:
        case StoryPhase.PLANNED:
            return "planner-inbox"
        case StoryPhase.READY | StoryPhase.RUNNING:
            return "scientist-todo" if role == "scientist" else "developer-todo"
        case StoryPhase.PROPOSED | StoryPhase.EVIDENCE_COLLECTED | StoryPhase.VERIFIED:
            return "planner-review"
        case StoryPhase.DONE:
            return "archive"
        case StoryPhase.FAILED | StoryPhase.BLOCKED:
            return "blocked"
        case _:
            assert_never(phase)


def ticket_phase(story: StoryState) -> StoryPhase:
    """Return the phase that a ticket shows: a blocked one shows where it was blocked from."""
    shown = story.blocked_from if story.phase is StoryPhase.BLOCKED and story.blocked_from else story.phase
    if shown is StoryPhase.PROPOSED:
        return StoryPhase.READY
    return StoryPhase.RUNNING if shown is StoryPhase.FAILED else shown


def screen(phase: RunPhase, *, resumable: bool = False) -> Screen:
    """Return the screen state of the planning review; a run that ended may still be resumable."""
    match phase:
        case RunPhase.CREATED | RunPhase.SUCCESS:
            return "NORMAL"
        case RunPhase.PLANNING:
            return "PLANNING_ACTIVE"
        case RunPhase.PLAN_REVIEW:
            return "PLAN_REVIEW_READY"
        case RunPhase.EXECUTING | RunPhase.RUN_VERIFICATION:
            return "EXECUTION_ACTIVE"
        case RunPhase.PAUSED:
            return "EXECUTION_RESUMABLE"
        case RunPhase.FAILED | RunPhase.BLOCKED:
            return "EXECUTION_RESUMABLE" if resumable else "NORMAL"
        case _:
            assert_never(phase)
