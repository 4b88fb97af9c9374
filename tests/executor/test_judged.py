"""What the judge finds becomes facts: a base that stops the run, a question for a person, a refusal that repeats itself."""

from dataclasses import replace
from typing import Any

from santiago.contract.events import EventKind, Fact
from santiago.contract.outcomes import AttemptOutcome, BaseExamined, Verdict
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits
from santiago.contract.reasons import Reason
from santiago.executor.perform import is_same_refusal
from santiago.executor.reopen import Grants, reopening
from santiago.executor.settle import settle
from tests.contract.histories import Journal, plan_of
from tests.util.each import each

K, S, R = EventKind, StoryPhase, RunPhase


def executing() -> Journal:
    journal = Journal(plan_of(S1="C01:", S2="C01:"))
    journal.add(K.RUN_EXECUTING, phase=R.EXECUTING, head="c0")
    return journal


# The base


def test_a_base_that_stands_in_no_ones_way_is_noted_with_what_is_red_already() -> None:
    journal = executing()
    facts = settle(
        journal.state, BaseExamined(step="x", red=("test_a",), notes=("one", "two"), verify_ms=7, digest="d")
    )
    (told,) = facts
    assert (told.event, told.phase, told.status) == (K.BASE_EXAMINED, None, "ok")
    assert (told.context["tests"], told.context["message"]) == (["test_a"], "one\ntwo")
    journal.record(facts)
    assert (journal.state.phase, journal.state.examined, journal.state.red) == (R.EXECUTING, True, ("test_a",))


@each(("reason", "phase"), [(Reason.VERIFICATION_UNRUNNABLE, R.BLOCKED), (Reason.NOTHING_VERIFIED, R.FAILED)])
def test_a_base_without_a_verdict_ends_the_run_with_the_finding_and_the_remedy(reason: Reason, phase: RunPhase) -> None:
    journal = executing()
    facts = settle(journal.state, BaseExamined(step="x", reason=reason, message="no pytest", hint="install it"))
    journal.record(facts)
    assert [fact.event for fact in facts] == [K.BASE_EXAMINED, K.RUN_ENDED]
    assert all((fact.context["message"], fact.context["hint"]) == ("no pytest", "install it") for fact in facts)
    state = journal.state
    assert (state.phase, state.reason, state.examined, state.attempts) == (phase, reason, False, 0)


def test_an_examination_that_was_stopped_is_no_fact_and_a_second_report_is_dropped() -> None:
    journal = executing()
    assert settle(journal.state, BaseExamined(step="x", stopped=True)) == []
    assert not journal.state.examined
    journal.record(settle(journal.state, BaseExamined(step="x")))
    assert settle(journal.state, BaseExamined(step="x", reason=Reason.NOTHING_VERIFIED)) == []


# Questions of the judge


def asked(reason: Reason, message: str = "the work changed test_a") -> tuple[Journal, list[Fact]]:
    journal = executing()
    journal.move("S1", S.RUNNING)
    facts = settle(journal.state, outcome(reason, message=message))
    journal.record(facts)
    return journal, facts


def outcome(reason: Reason | None, number: int = 1, **found: Any) -> AttemptOutcome:
    verdict = Verdict(passed=reason is None, proof=None, reason=reason, results=(), **found)
    return AttemptOutcome(
        step="x", story="S1", number=number, status="failed", reason=reason, commit="c1", verdict=verdict, ending=None
    )


@each(
    ("reason", "kind"),
    [
        (Reason.CHANGED_EXPECTATION, "changed_expectation"),
        (Reason.DOUBTED, "doubt"),
        (Reason.NEEDS_USER_CONFIRMATION, "refusal"),
    ],
)
def test_what_only_a_person_can_decide_is_a_question_before_anyone_sees_it(reason: Reason, kind: str) -> None:
    journal, facts = asked(reason)
    assert [fact.event for fact in facts] == [K.ATTEMPT_ENDED, K.QUESTION_ASKED, K.STORY_BLOCKED]
    (question,) = journal.state.open_questions()
    assert (question.id, question.story, question.kind, question.options) == ("S1-1", "S1", kind, ("accept", "refuse"))
    assert "the work changed test_a" in question.text
    assert (journal["S1"].phase, journal["S1"].attempts) == (S.BLOCKED, 1)
    assert journal.ready == ["S2"]  # nobody waits behind it
    assert asked(reason, message="")[0].state.open_questions()[0].text, "also without words of its own"


def test_a_new_start_leaves_a_story_alone_that_waits_for_a_persons_word() -> None:
    journal, _ = asked(Reason.DOUBTED)
    journal.add(K.RUN_ENDED, phase=R.BLOCKED, status="blocked", reason=Reason.DOUBTED)
    facts = reopening(journal.state, Limits(), Grants(), None)
    assert K.STORY_REOPENED not in [fact.event for fact in facts]
    journal.add(K.QUESTION_ANSWERED, "S1", question="S1-1", answer="refuse")
    facts = reopening(journal.state, Limits(), Grants(), None)
    assert [fact.story for fact in facts if fact.event is K.STORY_REOPENED] == ["S1"]


# The same refusal twice


REFUSED = outcome(Reason.STORY_VERIFICATION_FAILED, broken=("test_a",), message="test_a fails")


@each(
    ("before", "now", "same"),
    [
        (REFUSED, replace(REFUSED, number=2), True),
        (None, REFUSED, False),
        (REFUSED, outcome(Reason.STORY_VERIFICATION_FAILED, 2, broken=("test_b",), message="test_b fails"), False),
        (REFUSED, outcome(Reason.VERIFICATION_TAMPERED, 2, eased=("test_a",), message="test_a fails"), False),
        (REFUSED, outcome(None, 2), False),
        (outcome(Reason.NOTHING_VERIFIED, message="none"), outcome(Reason.NOTHING_VERIFIED, 2, message="none"), True),
        # Checks that simply fail are the agent's to mend, however often they do.
        (outcome(Reason.STORY_VERIFICATION_FAILED), outcome(Reason.STORY_VERIFICATION_FAILED, 2), False),
        (replace(REFUSED, verdict=None), replace(REFUSED, number=2), False),
    ],
)
def test_only_work_that_is_refused_again_for_the_same_is_the_same_refusal(
    before: AttemptOutcome | None, now: AttemptOutcome, same: bool
) -> None:
    assert is_same_refusal(before, now) is same
