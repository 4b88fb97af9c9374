"""The words of the five documents: the design's tables written out, and total over all phases."""

from typing import Any, get_args

from santiago.contract.board import Queue, Status, queue_of, ticket_status
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import Reason
from santiago.contract.state import StoryState
from santiago.contract.views import (
    RunStatus000,
    Screen,
    StoryStatus000,
    run_status,
    run_step_state,
    screen,
    selected,
    step_state,
    step_states,
    story_status,
)
from tests.contract.histories import WAYS, Journal, plan_of
from tests.util.each import each

READY, PROPOSED, RUNNING = StoryPhase.READY, StoryPhase.PROPOSED, StoryPhase.RUNNING
EVIDENCE, VERIFIED, DONE = StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED, StoryPhase.DONE

STORY_TABLE = {
    # phase: 000 state, 001 step, 001 substep, 001 while a person's changes are made, 004 status, 004 queue of a
    # developer's ticket; a ready story is the selected one here
    "planned": ("pending", "Tasks Created", "Tasks Created", "Tasks Created", "pending", "developer-todo"),
    "ready": ("in_progress", "Step Selected", "Substep Selected", "Adjusting", "pending", "developer-todo"),
    "proposed": ("in_progress", "Plan Proposed", "Plan Proposed", "Plan Proposed", "review", "planner-review"),
    "running": ("in_progress", "Implementing", "Substep Implementing", "Adjusting", "in_progress", "developer-todo"),
    EVIDENCE: ("in_progress", "Implementing", "Substep Implementing", "Adjusting", "review", "planner-review"),
    "verified": ("in_progress", "Step Done", "Substep Done", "Step Done", "review", "planner-review"),
    "done": ("done", "Marked Complete", "Marked Complete", "Marked Complete", "done", "done"),
    "failed": ("failed", None, None, None, "blocked", "blocked"),
    "blocked": ("blocked", None, None, None, "blocked", "blocked"),
}

RUN_TABLE = {
    # phase: 000 state, 001, 001 where nobody holds the run, 003 screen, 003 screen where the run can be resumed
    "created": ("initialized", "Plan Loaded", "Plan Loaded", "NORMAL", "NORMAL"),
    "executing": ("executing", None, "Resume Flow", "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    "paused": ("executing", "Resume Flow", "Resume Flow", "EXECUTION_RESUMABLE", "EXECUTION_RESUMABLE"),
    "run_verification": ("run_verification", None, "Resume Flow", "EXECUTION_ACTIVE", "EXECUTION_ACTIVE"),
    "success": ("success", "Plan Complete", "Plan Complete", "NORMAL", "NORMAL"),
    "failed": ("failed", None, None, "NORMAL", "EXECUTION_RESUMABLE"),
    "blocked": ("blocked", None, None, "NORMAL", "EXECUTION_RESUMABLE"),
}

every_story_phase = each("phase", StoryPhase)


def under_way(**needs: str) -> Journal:
    """Return the log of a run that is executing its stories."""
    journal = Journal(plan_of(**(needs or {"S1": "", "S2": "", "S3": "S2"})))
    journal.add(EventKind.RUN_EXECUTING, None, RunPhase.EXECUTING)
    return journal


def split() -> Journal:
    """Return the log of a run whose first story is carried out in two substeps."""
    journal = under_way()
    propose(journal, "S1", substeps=["S1.1", "S1.2"])
    answer(journal, "S1", "detail", "approve", READY)
    journal.add(EventKind.STORY_SPLIT, "S1", substeps=["S1.1", "S1.2"])
    return journal


def propose(journal: Journal, name: str, number: int = 1, **context: Any) -> None:
    journal.add(EventKind.PROPOSAL_STARTED, name)
    journal.add(EventKind.STORY_PROPOSED, name, PROPOSED, status="ok", digest="d" * 64, **context)
    ask(journal, name, "detail", number)


def ask(journal: Journal, name: str, kind: str, number: int = 1) -> None:
    journal.add(EventKind.QUESTION_ASKED, name, question=f"{name}-{kind}-{number}", kind=kind, text="?")


def answer(journal: Journal, name: str, kind: str, word: str, phase: StoryPhase | None = None) -> None:
    (question,) = (one.id for one in journal.state.open_questions() if one.story == name and one.kind == kind)
    journal.add(EventKind.QUESTION_ANSWERED, name, phase, question=question, answer=word)


def brought_to(phase: StoryPhase, *, substep: bool = False, adjusting: bool = False) -> tuple[Journal, StoryState]:
    journal = split() if substep else under_way(S1="S2" if phase == "planned" else "", S2="")
    name = "S1.2" if substep and phase == "planned" else "S1.1" if substep else "S1"
    journal.move(name, *WAYS[phase])
    journal[name].adjusting = adjusting
    return journal, journal[name]


@every_story_phase
def test_lines_6_and_9_a_story_phase_is_a_state_of_the_execution_model_and_a_step_state_also_of_a_substep_and_under_changes(
    phase: StoryPhase,
) -> None:
    state, step, substep, adjusting, *_ = STORY_TABLE[phase]
    journal, one = brought_to(phase)
    assert (story_status(journal.state, one), step_state(journal.state, one)) == (state, step)
    journal, one = brought_to(phase, substep=True)
    assert step_state(journal.state, one) == substep
    if phase != "planned":
        journal, one = brought_to(phase, adjusting=True)
        assert step_state(journal.state, one) == adjusting
    if phase == "running":
        journal, one = brought_to(phase, substep=True, adjusting=True)
        assert step_state(journal.state, one) == "Adjusting"


# The selected leaf


def test_line_7_one_story_is_selected_what_is_under_way_or_asked_about_first_and_then_by_plan_order() -> None:
    journal = under_way()
    assert selected(journal.state) == "S1"
    assert step_states(journal.state) == {"S1": "Step Selected", "S2": "Tasks Created", "S3": "Tasks Created"}
    assert statuses(journal) == ["in_progress", "pending", "pending"]
    journal.move("S2", RUNNING)
    assert selected(journal.state) == "S2"
    assert statuses(journal) == ["pending", "in_progress", "pending"]
    journal.move("S2", EVIDENCE)
    journal.move("S1", RUNNING)
    assert selected(journal.state) == "S1"
    asked = under_way()
    ask(asked, "S2", "grant")
    assert selected(asked.state) == "S2"


def statuses(journal: Journal) -> list[str]:
    return [story_status(journal.state, one) for one in journal.state.stories.values()]


def test_line_34_a_step_or_work_that_was_put_off_is_pending_and_not_selected() -> None:
    journal = under_way()
    propose(journal, "S1")
    assert selected(journal.state) == "S1"
    answer(journal, "S1", "detail", "defer", READY)
    assert (selected(journal.state), statuses(journal)[0]) == ("S2", "pending")
    assert step_state(journal.state, journal["S1"]) == "Tasks Created"
    journal = under_way()
    journal.move("S1", RUNNING, EVIDENCE, VERIFIED)
    ask(journal, "S1", "result")
    assert selected(journal.state) == "S1"
    answer(journal, "S1", "result", "defer")
    assert (selected(journal.state), statuses(journal)[0]) == ("S2", "pending")


@each(
    ("phase", "reason", "chosen"),
    [
        (RunPhase.PAUSED, None, "S1"),
        (RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION, "S1"),
        (RunPhase.BLOCKED, Reason.AGENT_ASKED, "S1"),
        (RunPhase.BLOCKED, Reason.IO_ERROR, None),
        (RunPhase.FAILED, Reason.RUN_TIMEOUT, None),
    ],
)
def test_line_7_a_story_is_selected_while_it_may_go_on(
    phase: RunPhase, reason: Reason | None, chosen: str | None
) -> None:
    journal = under_way()
    journal.add(EventKind.RUN_ENDED, None, phase, reason=reason)
    assert selected(journal.state) == chosen


def test_line_7_nothing_is_selected_before_the_run_begins_and_after_all_is_done() -> None:
    assert selected(Journal(plan_of(S1="")).state) is None
    journal = under_way(S1="")
    journal.move("S1", RUNNING, EVIDENCE, VERIFIED, DONE)
    assert selected(journal.state) is None


def test_line_8_a_parent_is_in_progress_while_its_substeps_are() -> None:
    journal = split()
    assert selected(journal.state) == "S1.1"
    assert step_states(journal.state) == {
        "S1.1": "Substep Selected", "S1.2": "Tasks Created", "S1": "Implementing", "S2": "Tasks Created", "S3": "Tasks Created",
    }  # fmt: skip
    assert statuses(journal) == ["in_progress", "pending", "in_progress", "pending", "pending"]
    for name in ("S1.1", "S1.2"):
        journal.move(name, RUNNING, EVIDENCE, VERIFIED, DONE)
    assert (selected(journal.state), step_state(journal.state, journal["S1"])) == ("S1", "Implementing")


def test_line_6_an_adjusted_plan_is_revised_until_it_is_proposed_again_and_its_first_attempt_is_implementing() -> None:
    journal, shown = under_way(), []

    def look() -> None:
        shown.append(step_state(journal.state, journal["S1"]))

    propose(journal, "S1")
    answer(journal, "S1", "detail", "adjust", READY)
    look()
    propose(journal, "S1", 2)
    look()
    answer(journal, "S1", "detail", "approve", READY)
    look()
    journal.move("S1", RUNNING)
    look()
    assert shown == ["Plan Revised", "Plan Proposed", "Implementing", "Implementing"]


def test_line_6_a_plan_that_santiago_sent_back_is_not_revised_by_anybody() -> None:
    journal = under_way()
    journal.add(EventKind.PROPOSAL_STARTED, "S1")
    journal.add(EventKind.PROPOSAL_ENDED, "S1", status="failed", findings=["no check"])
    assert step_state(journal.state, journal["S1"]) == "Step Selected"


@every_story_phase
def test_a_story_phase_is_a_ticket_status_and_a_queue_that_scientists_only_have_in_todo(phase: StoryPhase) -> None:
    *_, status, queue = STORY_TABLE[phase]
    assert (ticket_status(phase), queue_of(phase, "developer")) == (status, queue)
    assert queue_of(phase, "scientist") == ("scientist-todo" if queue == "developer-todo" else queue)


@each("phase", RunPhase)
def test_line_43_a_run_phase_is_a_state_of_both_models_and_a_run_nobody_holds_is_to_be_resumed(phase: RunPhase) -> None:
    state = Journal(plan_of(S1="")).state
    state.phase = phase
    held, unheld = run_step_state(state, held=True), run_step_state(state, held=False)
    assert (run_status(phase), held, unheld, screen(phase), screen(phase, resumable=True)) == RUN_TABLE[phase]


def test_the_views_use_the_documents_words_and_each_of_them() -> None:
    shown = (brought_to(phase) for phase in StoryPhase)
    assert {story_status(journal.state, one) for journal, one in shown} == set(get_args(StoryStatus000))
    assert {run_status(phase) for phase in RunPhase} == set(get_args(RunStatus000))
    assert {ticket_status(phase) for phase in StoryPhase} == set(get_args(Status))
    of_sessions = {"PLANNING_ACTIVE", "PLAN_REVIEW_READY"}
    assert {screen(phase) for phase in RunPhase} == set(get_args(Screen)) - of_sessions
    queues = {queue_of(phase, "developer") for phase in StoryPhase}
    assert queues | {queue_of(phase, "scientist") for phase in StoryPhase} == set(get_args(Queue)) - {
        "planner-inbox"
    }  # a story of a run is no request
