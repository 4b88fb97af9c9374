"""Substeps and what belongs to their parent: the scope of a start, budgets that people raise, the result."""

from __future__ import annotations

from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits
from santiago.contract.reasons import Reason
from santiago.executor.reopen import Grants
from santiago.executor.result import result
from santiago.executor.situation import Scope
from tests.executor.simulation import SimulatedPerformer
from tests.executor.test_gates import Person, splitting, stepwise


def never(name: str, attempt: int) -> Reason | None:
    return Reason.STORY_VERIFICATION_FAILED if name == "S1.2" and attempt <= 2 else None


def test_a_start_that_is_about_a_story_is_about_its_substeps() -> None:
    run = stepwise(Person(), performer=SimulatedPerformer(proposes=splitting), scope=Scope(stories=frozenset({"S1"})))
    assert (run.run().phase, run.done()) == (RunPhase.PAUSED, ["S1.1", "S1.2", "S1"])


def test_line_11_more_attempts_for_a_substep_are_granted_to_its_parent_and_once() -> None:
    performer = SimulatedPerformer(proposes=splitting, fails=never)
    run = stepwise(Person(), "S1", performer=performer, limits=Limits(story_max_attempts=3))
    assert run.run().stories["S1"].phase is StoryPhase.FAILED
    state = run.run(Grants(attempts=1))
    assert (state.phase, run.done()) == (RunPhase.SUCCESS, ["S1.1", "S1.2", "S1"])
    assert [(one.story_id, one.context["limit"]) for one in run.of(EventKind.BUDGET_RAISED)] == [
        ("S1", "story_max_attempts"), (None, "run_max_attempts"),
    ]  # fmt: skip


def test_the_result_of_a_story_has_what_its_substeps_took() -> None:
    run = stepwise(Person(), "S1", performer=SimulatedPerformer(proposes=splitting))
    (story,) = result(run.plan, run.run(), None).stories
    assert (story.id, story.status, story.attempts, story.tokens) == ("S1", "done", 2, 21)
