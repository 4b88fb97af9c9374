"""Gates: a person's word comes before a story is begun and before its work counts; no answer is no approval."""

from collections.abc import Callable
from dataclasses import replace

from santiago.contract.events import Context, Event, EventKind
from santiago.contract.outcomes import Proof, ProposalOutcome, Usage
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.state import Question
from santiago.contract.steps import Propose
from santiago.executor.reopen import Grants
from santiago.executor.scope import Scope
from santiago.executor.tally import result
from santiago.simulation.random_plans import plan_of, story
from santiago.simulation.world import DONE, PASSED, SimulatedPerformer, Simulation
from tests.util.each import each

STEP = Policy(gate="step")
YES = {"detail": "ok", "result": "yes", "continue": "go ahead"}


class Person:
    """Answers each question as it is told to, in order; the last words of a kind are repeated."""

    def __init__(self, **words: str | list[str]) -> None:
        given = {kind: [said] if isinstance(said, str) else said for kind, said in words.items()}
        self.words = {**{kind: [said] for kind, said in YES.items()}, **given}
        self.asked: list[str] = []

    def __call__(self, question: Question) -> str | None:
        if question.id in self.asked:
            return None
        self.asked.append(question.id)
        words = self.words.get(question.kind, [])
        return (words.pop(0) if len(words) > 1 else words[0]) if words else None


def stepwise(person: Person, *names: str, **more: object) -> Simulation:
    plan = plan_of([story(name) for name in names or ("S1", "S2")])
    return Simulation(plan, policy=STEP, answers=person, attended=True, **more)  # type: ignore[arg-type]


def splitting(step: Propose) -> ProposalOutcome:
    parts = (f"{step.story}.1", f"{step.story}.2")
    return ProposalOutcome(
        step=step.id, story=step.story, number=step.number, ending=DONE, digest="d" * 64, substeps=parts
    )


def flow(run: Simulation) -> list[str]:
    """Return what was asked, answered and done, in order."""
    told: dict[EventKind, Callable[[Event], str]] = {
        EventKind.QUESTION_ASKED: lambda e: f"{e.context['question']}?",
        EventKind.QUESTION_ANSWERED: lambda e: e.context["answer"],
        EventKind.ATTEMPT_STARTED: lambda e: f"try {e.story_id}",
        EventKind.STORY_DONE: lambda e: f"done {e.story_id}",
        EventKind.STORY_SPLIT: lambda e: f"split {e.story_id}",
    }
    return [told[event.event](event) for event in run.store.log if event.event in told]


def test_line_14_a_step_goes_from_its_plan_over_its_work_to_the_question_whether_to_go_on() -> None:
    run = stepwise(Person())
    assert run.run().phase is RunPhase.SUCCESS
    assert flow(run) == [
        "S1-detail-1?", "approve", "try S1", "S1-result-1?", "validate", "done S1", "S1-continue-1?", "continue",
        "S2-detail-1?", "approve", "try S2", "S2-result-1?", "validate", "done S2",
    ]  # fmt: skip
    assert {event.actor for event in run.of(EventKind.QUESTION_ANSWERED)} == {"ann"}


def test_line_26_without_anybody_the_run_ends_blocked_and_the_next_start_finds_the_same_question() -> None:
    run = stepwise(Person())
    run.attended, run.answers = False, lambda question: None
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)
    assert [one.id for one in state.open_questions()] == ["S1-detail-1"]
    state = run.run()
    assert [one.id for one in state.open_questions()] == ["S1-detail-1"]
    assert len(run.of(EventKind.PROPOSAL_STARTED)) == 1
    run.answers = Person()
    assert [one.id for one in run.run().open_questions()] == ["S1-result-1"], "an answer from elsewhere is taken up"


def test_line_33_an_adjustment_is_proposed_anew_with_what_was_said() -> None:
    run = stepwise(Person(detail=["in Euros, please", "ok"]), "S1")
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert run.performer.proposed == [("S1", 1, ()), ("S1", 2, ("in Euros, please",))]
    assert state.stories["S1"].attempts == 1
    assert not state.stories["S1"].adjusting


def test_line_34_what_is_put_off_comes_again_when_nothing_else_is_left_or_it_is_asked_whether_to_stop() -> None:
    run = stepwise(Person(detail=["defer", "ok"]))
    assert run.run().phase is RunPhase.SUCCESS
    assert run.done() == ["S2", "S1"]
    assert "deferred-1?" in flow(run)
    state = stepwise(Person(detail="defer", **{"continue": "stop"}), "S1").run()
    assert (state.phase, state.reason, state.attempts) == (RunPhase.PAUSED, None, 0)


def test_line_38_changes_after_the_work_lead_to_new_work_and_a_new_question() -> None:
    run = stepwise(Person(result=["change: shorter", "yes"]), "S1")
    state = run.run()
    assert (state.phase, state.stories["S1"].attempts, state.stories["S1"].notes) == (
        RunPhase.SUCCESS, 2, ("shorter",),
    )  # fmt: skip
    assert flow(run)[-4:] == ["try S1", "S1-result-2?", "validate", "done S1"]
    assert len(run.performer.proposed) == 1, "an approved plan stays approved"


def test_line_39_a_person_s_change_is_asked_about_when_the_attempts_are_gone_and_a_refusal_ends_the_story() -> None:
    limits = Limits(story_max_attempts=1)
    run = stepwise(Person(result=["change: shorter", "yes"], grant="grant"), "S1", limits=limits)
    assert run.run().phase is RunPhase.SUCCESS
    (raised, _) = run.of(EventKind.BUDGET_RAISED)
    assert (raised.story_id, raised.actor, raised.context["limit"]) == ("S1", "ann", "story_max_attempts")
    run = stepwise(Person(result="change: shorter", grant="refuse"), "S1", limits=limits)
    assert (run.run().phase, run.done()) == (RunPhase.FAILED, [])


def test_line_40_to_stop_after_a_step_is_a_rest() -> None:
    run = stepwise(Person(**{"continue": ["stop", "continue"]}))
    state = run.run()
    assert (state.phase, state.reason, run.done()) == (RunPhase.PAUSED, None, ["S1"])
    assert run.run().phase is RunPhase.SUCCESS


def test_line_43_to_stop_at_a_gate_leaves_its_question_open_as_good_as_new_a_day_later() -> None:
    run = stepwise(Person(detail="stop"), limits=Limits(wait_max_minutes=Minutes.of(1)))
    state = run.run()
    assert (state.phase, [one.id for one in state.open_questions()]) == (RunPhase.PAUSED, ["S1-detail-1"])
    run.clock.wall += 24 * 3_600_000
    run.answers = Person()
    assert run.run().phase is RunPhase.SUCCESS
    assert len(run.of(EventKind.QUESTION_ASKED)) == 5
    assert run.of(EventKind.QUESTION_EXPIRED) == []


@each(("word", "tried"), [("continue", 2), ("complete", 2)])
def test_line_43_interrupted_work_is_continued_or_judged_as_it_is(word: str, tried: int) -> None:
    run = stepwise(Person(resume=word), "S1")
    run.performer.fails = lambda name, attempt: Reason.INTERRUPTED if attempt == 1 else None
    state = run.run()
    assert (state.phase, state.attempts, state.questions["S1-resume-1"].answer) == (RunPhase.SUCCESS, tried, word)
    steps = [event.actor for event in run.of(EventKind.ATTEMPT_STARTED)]
    assert steps == ["santiago", "ann" if word == "complete" else "santiago"]


def test_line_23_a_question_that_nobody_answers_expires_and_is_asked_again_by_the_next_start() -> None:
    limits = Limits(wait_max_minutes=Minutes.of(1))
    run = stepwise(Person(), limits=limits)
    run.answers = lambda question: None
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)
    assert (state.questions["S1-detail-1"].answer, state.open_questions()) == ("expired", [])
    assert state.used_ms < 5000, "waiting for a person is no execution time"
    run.attended = False
    (again,) = run.run().open_questions()
    assert (again.id, again.round) == ("S1-detail-1-again2", 2)


def test_an_agents_question_at_a_terminal_expires_as_well_after_all_else_is_done() -> None:
    """Promise 5, bounded: a run that nobody answers does not wait for ever."""
    performer = SimulatedPerformer(fails=lambda name, attempt: Reason.AGENT_ASKED if name == "S1" else None)
    limits = Limits(wait_max_minutes=Minutes.of(1))
    run = Simulation(plan_of([story("S1"), story("S2")]), performer=performer, limits=limits, attended=True)
    state = run.run()
    assert (state.phase, state.reason, run.done()) == (RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION, ["S2"])
    assert state.questions["S1-1"].answer == "expired"
    performer.fails = lambda name, attempt: None
    assert run.run().phase is RunPhase.SUCCESS, "the next start tries again"


def test_a_story_that_is_left_out_asks_nothing_any_more() -> None:
    run = stepwise(Person(detail="stop"))
    run.run()
    log = run.store.log
    log.append(replace(log[-1], seq=log[-1].seq + 1, event=EventKind.STORY_SKIPPED, story_id="S1", phase=None))
    run.answers = Person()
    state = run.run()
    assert (state.phase, run.done(), state.questions["S1-detail-1"].answer) == (RunPhase.SUCCESS, ["S2"], "overtaken")


def test_line_20_a_word_of_another_kind_decides_nothing() -> None:
    run = stepwise(Person(detail="validate"), "S1")
    run.attended = False
    run.run()
    assert run.run().phase is RunPhase.BLOCKED
    assert "takes approve" in run.of(EventKind.NOTE)[0].context["message"]


def test_line_31_a_plan_with_faults_goes_back_once_is_then_shown_with_them_and_none_cannot_be_approved() -> None:
    def faulty(step: Propose) -> ProposalOutcome:
        return replace(splitting(step), substeps=(), findings=("no check",))

    run = stepwise(Person(detail="stop"), "S1", performer=SimulatedPerformer(proposes=faulty))
    state = run.run()
    assert [number for _, number, _ in run.performer.proposed] == [1, 2]
    assert [one.id for one in state.open_questions()] == ["S1-detail-2"]
    assert state.stories["S1"].detail is not None
    assert state.stories["S1"].detail.findings == ("no check",)
    missing = SimulatedPerformer(proposes=lambda step: replace(faulty(step), digest=""))
    run = stepwise(Person(), "S1", performer=missing)
    run.attended = False
    assert (run.run().stories["S1"].phase, run.done()) == (StoryPhase.PROPOSED, [])


def test_line_77_proposals_are_bounded_and_one_more_can_be_granted() -> None:
    limits = Limits(story_max_proposals=2)
    person = Person(detail=["other", "another", "ok"], grant="grant")
    run = stepwise(person, "S1", limits=limits)
    assert run.run().phase is RunPhase.SUCCESS
    assert len(run.performer.proposed) == 3
    assert "S1-grant-2" in person.asked


def test_lines_35_41_and_83_substeps_are_done_one_by_one_with_a_word_after_each_and_their_parent_is_confirmed_after_them() -> (
    None
):
    run = stepwise(Person(), "S1", performer=SimulatedPerformer(proposes=splitting))
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert flow(run) == [
        "S1-detail-1?", "approve", "split S1", "try S1.1", "S1.1-result-1?", "validate", "done S1.1",
        "S1.1-continue-1?", "continue", "try S1.2", "S1.2-result-1?", "validate", "done S1.2",
        "S1.2-continue-1?", "continue", "S1-result?", "validate", "done S1",
    ]  # fmt: skip
    assert state.stories["S1"].attempts == 0, "its verdict needs no attempt of its own"


def test_line_38_a_change_of_a_step_whose_substeps_are_under_way_is_carried_out_after_them() -> None:
    run = stepwise(Person(result="stop"), "S1", performer=SimulatedPerformer(proposes=splitting))
    run.run()
    log = run.store.log
    context = Context(text="shorter")
    asked = EventKind.CHANGE_REQUESTED
    log.append(replace(log[-1], seq=log[-1].seq + 1, event=asked, story_id="S1", phase=None, context=context))
    run.answers = Person()
    state = run.run()
    assert (state.phase, state.stories["S1"].notes) == (RunPhase.SUCCESS, ("shorter",))
    assert flow(run)[-5:] == ["continue", "try S1", "S1-result-1?", "validate", "done S1"]


def test_line_11_substeps_spend_the_budget_of_their_parent() -> None:
    def fails(name: str, attempt: int) -> Reason | None:
        return Reason.STORY_VERIFICATION_FAILED if name == "S1.2" else None

    performer = SimulatedPerformer(proposes=splitting, fails=fails)
    run = stepwise(Person(), "S1", performer=performer, limits=Limits(story_max_attempts=3))
    state = run.run()
    assert (state.phase, state.attempts) == (RunPhase.FAILED, 3)
    assert (state.stories["S1"].phase, state.stories["S1"].reason) == (
        StoryPhase.FAILED, Reason.ATTEMPT_BUDGET_EXHAUSTED,
    )  # fmt: skip


def test_line_15_with_more_jobs_nobody_waits_behind_a_story_whose_gate_is_closed() -> None:
    plan = plan_of([story("S1"), story("S2"), story("S3", needs=["S1"])])
    run = Simulation(plan, jobs=2, policy=Policy(gates=("result",)))
    run.answers = lambda question: "validate" if question.story == "S2" else None
    run.run()
    state = run.run()
    assert (state.phase, run.done()) == (RunPhase.BLOCKED, ["S2"])
    assert state.stories["S3"].attempts == 0, "only what is done satisfies a dependency"


def test_line_25_the_rest_of_a_chunk_is_approved_only_where_it_is_proven() -> None:
    unproven = replace(PASSED, proof=Proof.REGRESSION)

    class Performer(SimulatedPerformer):
        def _ended(self, step):  # type: ignore[no-untyped-def]
            made = super()._ended(step)
            return replace(made, verdict=unproven) if step.story == "S3" else made

    person = Person(result="validate --rest chunk")
    run = stepwise(person, "S1", "S2", "S3", performer=Performer())
    assert run.run().phase is RunPhase.SUCCESS
    assert [name for name in person.asked if "result" in name] == ["S1-result-1", "S3-result-1"]


@each("parts", [False, True])
def test_line_18_a_start_after_every_single_event_finds_the_same_questions_and_applies_no_answer_twice(
    parts: bool,
) -> None:
    performer = SimulatedPerformer(proposes=splitting) if parts else SimulatedPerformer()
    whole = stepwise(Person(), performer=performer)
    assert whole.run().phase is RunPhase.SUCCESS
    for cut in range(2, len(whole.store.log)):
        if whole.store.log[cut - 1].event is EventKind.ATTEMPT_STARTED:
            continue  # what a crash leaves of an attempt is judged by the next start, and tested elsewhere
        again = SimulatedPerformer(proposes=splitting) if parts else SimulatedPerformer()
        again.heads = whole.performer.heads
        run = stepwise(Person(), performer=again)
        run.store.log = list(whole.store.log[:cut])
        state = run.run()
        assert (state.phase, run.done()) == (RunPhase.SUCCESS, whole.done()), f"after event {cut}"
        answered = [event.context["question"] for event in run.of(EventKind.QUESTION_ANSWERED)]
        assert len(answered) == len(set(answered)), f"after event {cut}"
        asked = [event.context["question"] for event in run.of(EventKind.QUESTION_ASKED)]
        assert len(asked) == len(set(asked)), f"after event {cut}"


def test_what_a_stopped_proposal_used_counts_and_another_follows() -> None:
    def stopped(step: Propose) -> ProposalOutcome:
        used = replace(DONE, reason=Reason.INTERRUPTED, usage=Usage(tokens=7))
        whole = ProposalOutcome(step=step.id, story=step.story, number=step.number, ending=used, digest="d" * 64)
        return replace(whole, stopped=step.number == 1, agent_ms=30)

    run = stepwise(Person(), "S1", performer=SimulatedPerformer(proposes=stopped))
    state = run.run()
    assert (state.phase, state.stories["S1"].proposals) == (RunPhase.SUCCESS, 2)
    assert (state.tokens, state.unreported) == (7 + 7 + 10, 0)
    (ended,) = run.of(EventKind.PROPOSAL_ENDED)
    assert (ended.status, ended.context["reason"], ended.context["agent_ms"]) == ("voided", Reason.INTERRUPTED, 30)


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
    (one,) = result(run.plan, run.run(), None).stories
    assert (one.id, one.status, one.attempts, one.tokens) == ("S1", "done", 2, 21)
