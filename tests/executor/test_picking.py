"""Several stories under way where a run goes on step by step: a person picks one, and the others are put off."""

from dataclasses import replace

from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.simulation.random_plans import plan_of, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.executor.test_gates import STEP, Person, flow, stepwise
from tests.util.each import each


def left(*interrupted: str, person: Person | None = None, needs: dict[str, list[str]] | None = None) -> Simulation:
    """Return a run that was stopped while all of its stories were under way; those that are named were interrupted."""
    plan = plan_of([story(name, needs=(needs or {}).get(name, ())) for name in ("S1", "S2", "S3")])
    run = Simulation(plan, jobs=3)
    run.performer.fails = lambda name, attempt: Reason.INTERRUPTED if name in interrupted and attempt == 1 else None
    run.heard = lambda state, now: "soon" if state.attempts else None
    assert run.run().phase is RunPhase.PAUSED
    run.heard = lambda state, now: None
    run.policy, run.jobs, run.attended, run.answers = STEP, 1, True, person or Person()
    return run


def test_line_43_of_several_that_were_interrupted_a_person_picks_one_and_the_others_are_put_off() -> None:
    run = left("S1", "S2", "S3", person=Person(pick="S2", resume=["continue", "complete", "complete"]))
    begun = len(flow(run))
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert flow(run)[begun : begun + 6] == ["pick-1?", "pick", "S2-resume-1?", "continue", "try S2", "S2-result-2?"]
    assert (state.questions["pick-1"].options, state.questions["pick-1"].detail) == (("S1", "S2", "S3"), "S2")
    assert "deferred-1?" in flow(run), "what was put off is offered again before the run is over"
    assert run.done() == ["S2", "S1", "S3"]
    assert "pick-2" not in state.questions


def test_line_43_work_that_passed_waits_for_the_pick_and_is_lost_in_neither_case() -> None:
    run = left("S1", person=Person(pick="S3", resume="complete"))
    state = run.run()
    assert state.questions["pick-1"].options == ("S1", "S2", "S3")
    assert (state.phase, run.done()) == (RunPhase.SUCCESS, ["S3", "S2", "S1"])
    assert (state.stories["S2"].attempts, state.stories["S3"].attempts) == (1, 1), "verified work is not done again"
    results = [one for one in state.questions if "-result-" in one]
    assert results == ["S3-result-1", "S2-result-1", "S1-result-2"]


def test_line_43_nobody_there_leaves_the_pick_open_and_nothing_is_integrated() -> None:
    run = left("S1")
    run.attended, run.answers = False, lambda question: None
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)
    assert [one.id for one in state.open_questions()] == ["pick-1"]
    assert [one.id for one in run.run().open_questions()] == ["pick-1"]
    assert run.done() == []


def test_a_story_that_rests_on_another_is_not_there_to_be_picked() -> None:
    run = left("S1", "S2", person=Person(resume="continue"), needs={"S3": ["S2"]})
    run.attended = False  # else it would be waited for, second by second
    assert run.run().questions["pick-1"].options == ("S1", "S2")


@each("words", ["S9", "S1 and S2", "pick", "yes"])
def test_who_picks_none_of_them_picks_nothing(words: str) -> None:
    run = left("S1", "S2", person=Person(pick=words))
    run.attended = False
    run.run()
    state = run.run()
    assert [one.id for one in state.open_questions()] == ["pick-1"]
    (note, *_) = run.of(EventKind.NOTE)
    assert "none of those to pick from: S1, S2, S3; or stop" in note.context["message"]


def test_line_23_a_pick_that_nobody_makes_expires_and_is_asked_again() -> None:
    run = left("S1", "S2")
    run.limits = replace(run.limits, wait_max_minutes=Minutes.of(1))
    run.answers = lambda question: None
    assert run.run().questions["pick-1"].answer == "expired"
    run.answers = Person(pick="s2", resume="complete")
    state = run.run()
    assert (state.phase, state.questions["pick-2"].detail) == (RunPhase.SUCCESS, "S2")


@each("kind", [EventKind.STORY_SKIPPED, EventKind.CHANGE_REQUESTED])
def test_another_decision_about_one_of_them_takes_the_pick_back_and_the_rest_is_asked_again(kind: EventKind) -> None:
    run = left("S1", "S2")
    run.attended, run.answers = False, lambda question: None
    run.run()
    log = run.store.log
    log.append(replace(log[-1], seq=log[-1].seq + 1, event=kind, story_id="S1", phase=None, context={"text": "no"}))
    state = run.run()
    assert state.questions["pick-1"].answer == "overtaken"
    assert state.questions["pick-2"].options == ("S2", "S3")
    run.attended, run.answers = True, Person(pick="S3", resume="continue")
    state = run.run()
    assert (state.phase, sorted(run.done())) == (
        RunPhase.SUCCESS, ["S2", "S3"] if kind is EventKind.STORY_SKIPPED else ["S1", "S2", "S3"],
    )  # fmt: skip


def test_line_18_a_start_after_every_event_of_a_pick_finds_the_same_question_and_picks_once() -> None:
    def person() -> Person:
        return Person(pick="S2", resume="continue")

    whole = left("S1", "S2", "S3", person=person())
    begun = len(whole.store.log)
    assert whole.run().phase is RunPhase.SUCCESS
    for cut in range(begun, len(whole.store.log)):
        if whole.store.log[cut - 1].event is EventKind.ATTEMPT_STARTED:
            continue  # what a crash leaves of an attempt is judged by the next start, and tested elsewhere
        run = stepwise(person(), "S1", "S2", "S3", performer=SimulatedPerformer(heads=whole.performer.heads))
        run.store.log = list(whole.store.log[:cut])
        state = run.run()
        assert (state.phase, sorted(run.done())) == (RunPhase.SUCCESS, ["S1", "S2", "S3"]), f"after event {cut}"
        assert [one for one in state.questions if one.startswith("pick")] == ["pick-1"], f"after event {cut}"


def test_validated_work_that_waits_for_an_earlier_story_does_not_keep_that_from_beginning() -> None:
    plan = plan_of([story("S1"), story("S2")])
    run = Simulation(plan, jobs=2, policy=Policy(), limits=Limits(story_max_attempts=4))
    run.performer.fails = lambda name, attempt: (
        Reason.STORY_VERIFICATION_FAILED if (name, attempt) == ("S1", 1) else None
    )
    run.heard = lambda state, now: "soon" if state.attempts else None
    state = run.run()
    assert (state.stories["S1"].phase, state.stories["S2"].phase) == (StoryPhase.READY, StoryPhase.VERIFIED)
    run.heard = lambda state, now: None
    run.policy, run.jobs, run.attended, run.answers = STEP, 1, True, Person()
    assert (run.run().phase, run.done()) == (RunPhase.SUCCESS, ["S2", "S1"])


def test_who_waits_for_a_story_that_is_left_out_at_its_question_may_begin() -> None:
    run = Simulation(plan_of([story("S1"), story("S2", needs=["S1"])]), policy=STEP)
    assert run.run().stories["S1"].asked == "S1-detail-1"
    log = run.store.log
    skipped = replace(log[-1], seq=log[-1].seq + 1, event=EventKind.STORY_SKIPPED, story_id="S1", phase=None)
    log.append(replace(skipped, context={"text": "no"}))
    run.attended, run.answers = True, Person()
    assert (run.run().phase, run.done()) == (RunPhase.SUCCESS, ["S2"])
