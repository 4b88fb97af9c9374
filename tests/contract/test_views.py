"""The words of the five documents: the design's tables written out, and total over all phases."""

from __future__ import annotations

from typing import get_args

import pytest

from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.state import StoryState
from santiago.contract.views import (
    Queue,
    RunStatus000,
    Screen,
    StoryStatus000,
    TicketStatus,
    queue_of,
    run_status,
    run_step_state,
    screen,
    step_state,
    story_status,
    ticket_phase,
    ticket_status,
)

STORY_TABLE = {
    # phase: 000 state, 001 step, 001 substep, 001 after a change request, 004 status, 004 queue of a developer's ticket
    "planned": ("pending", "Tasks Created", "Tasks Created", "Tasks Created", "pending", "planner-inbox"),
    "ready": ("pending", "Step Selected", "Substep Selected", "Step Selected", "pending", "developer-todo"),
    "proposed": ("in_progress", "Plan Proposed", "Plan Proposed", "Plan Revised", "review", "planner-review"),
    "running": (
        "in_progress",
        "Implementing",
        "Substep Implementing",
        "Adjusting",
        "in_progress",
        "developer-todo",
    ),
    "evidence_collected": (
        "in_progress",
        "Implementing",
        "Implementing",
        "Implementing",
        "review",
        "planner-review",
    ),
    "verified": ("in_progress", "Step Done", "Substep Done", "Step Done", "review", "planner-review"),
    "done": ("done", "Marked Complete", "Marked Complete", "Marked Complete", "done", "archive"),
    "failed": ("failed", None, None, None, "blocked", "blocked"),
    "blocked": ("blocked", None, None, None, "blocked", "blocked"),
}

RUN_TABLE = {
    # phase: 000 state, 001, 003 screen, 003 screen where the run can be resumed
    "created": ("initialized", "Plan Loaded", "NORMAL", "NORMAL"),
    "planning": ("planning", None, "PLANNING_ACTIVE", "PLANNING_ACTIVE"),
    "plan_review": ("planning", None, "PLAN_REVIEW_READY", "PLAN_REVIEW_READY"),
    "executing": ("executing", None, "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    "paused": ("executing", "Resume Flow", "EXECUTION_RESUMABLE", "EXECUTION_RESUMABLE"),
    "run_verification": ("run_verification", None, "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    "success": ("success", "Plan Complete", "NORMAL", "NORMAL"),
    "failed": ("failed", None, "NORMAL", "EXECUTION_RESUMABLE"),
    "blocked": ("blocked", None, "NORMAL", "EXECUTION_RESUMABLE"),
}

every_story_phase = pytest.mark.parametrize("phase", StoryPhase)
every_run_phase = pytest.mark.parametrize("phase", RunPhase)


def story(
    phase: StoryPhase,
    *,
    parent: str | None = None,
    change_requested: bool = False,
    blocked_from: StoryPhase | None = None,
) -> StoryState:
    return StoryState(
        id="S1",
        index=0,
        chunk="C01",
        unmet=0,
        phase=phase,
        parent=parent,
        change_requested=change_requested,
        blocked_from=blocked_from,
    )


@every_story_phase
def test_a_story_phase_is_a_state_of_the_execution_model(phase: StoryPhase) -> None:
    assert story_status(phase) == STORY_TABLE[phase][0]


@every_story_phase
def test_a_story_phase_is_a_step_state(phase: StoryPhase) -> None:
    assert step_state(story(phase)) == STORY_TABLE[phase][1]


@every_story_phase
def test_a_substep_has_step_states_of_its_own(phase: StoryPhase) -> None:
    assert step_state(story(phase, parent="S0")) == STORY_TABLE[phase][2]


@every_story_phase
def test_an_open_change_request_shows_in_the_step_state(phase: StoryPhase) -> None:
    assert step_state(story(phase, change_requested=True)) == STORY_TABLE[phase][3]


def test_a_substep_under_a_change_request_is_adjusting() -> None:
    assert step_state(story(StoryPhase.RUNNING, parent="S0", change_requested=True)) == "Adjusting"


@every_story_phase
def test_a_story_phase_is_a_ticket_status(phase: StoryPhase) -> None:
    assert ticket_status(phase) == STORY_TABLE[phase][4]


@every_story_phase
def test_a_developers_ticket_stands_in_one_queue(phase: StoryPhase) -> None:
    assert queue_of(phase, "developer") == STORY_TABLE[phase][5]


@every_story_phase
def test_a_scientists_ticket_differs_in_the_todo_queue_only(phase: StoryPhase) -> None:
    queue = STORY_TABLE[phase][5]
    assert queue_of(phase, "scientist") == ("scientist-todo" if queue == "developer-todo" else queue)


@pytest.mark.parametrize(
    ("blocked_from", "shown"),
    [
        ("planned", "planned"),
        ("ready", "ready"),
        ("proposed", "ready"),
        ("running", "running"),
        ("evidence_collected", "evidence_collected"),
        ("verified", "verified"),
        ("failed", "running"),
    ],
)
def test_a_blocked_ticket_shows_the_phase_it_was_blocked_from(blocked_from: str, shown: str) -> None:
    assert ticket_phase(story(StoryPhase.BLOCKED, blocked_from=StoryPhase(blocked_from))) == shown


@every_story_phase
def test_a_ticket_that_is_not_blocked_shows_its_own_phase(phase: StoryPhase) -> None:
    shown = {"proposed": "ready", "failed": "running"}.get(phase, phase)
    assert ticket_phase(story(phase)) == shown


@every_run_phase
def test_a_run_phase_is_a_run_state_of_the_execution_model(phase: RunPhase) -> None:
    assert run_status(phase) == RUN_TABLE[phase][0]


@every_run_phase
def test_a_run_phase_is_a_state_of_the_step_by_step_executor(phase: RunPhase) -> None:
    assert run_step_state(phase) == RUN_TABLE[phase][1]


@every_run_phase
def test_a_run_phase_is_a_screen(phase: RunPhase) -> None:
    assert screen(phase) == RUN_TABLE[phase][2]


@every_run_phase
def test_a_run_that_can_be_resumed_says_so_on_the_screen(phase: RunPhase) -> None:
    assert screen(phase, resumable=True) == RUN_TABLE[phase][3]


def test_the_views_use_the_documents_words_and_each_of_them() -> None:
    assert {story_status(phase) for phase in StoryPhase} == set(get_args(StoryStatus000))
    assert {run_status(phase) for phase in RunPhase} == set(get_args(RunStatus000))
    assert {ticket_status(phase) for phase in StoryPhase} == set(get_args(TicketStatus))
    assert {screen(phase) for phase in RunPhase} == set(get_args(Screen))
    queues = {queue_of(phase, "developer") for phase in StoryPhase}
    assert queues | {queue_of(phase, "scientist") for phase in StoryPhase} == set(get_args(Queue))
