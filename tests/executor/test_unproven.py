"""Work that passes its checks and that no test shows: kept, asked about once by an agent, then by a person, and never in anyone's way."""

from dataclasses import dataclass, field, replace
from random import Random

from santiago.contract.events import EventKind
from santiago.contract.outcomes import AttemptOutcome, ClaimOutcome, Outcome, Proof, Verdict
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.ports.run import Stop
from santiago.contract.reasons import Reason
from santiago.contract.state import Question, RunState
from santiago.contract.steps import Adopt, Attempt, Order, Step
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.util.each import each

WEAK = Verdict(passed=False, proof=Proof.REGRESSION, reason=Reason.UNPROVEN, results=(), lacks_test=True)


@dataclass
class Unshowing(SimulatedPerformer):
    """Agents that bring no test, for some stories; from some attempt on they do."""

    weak: dict[str, int] = field(default_factory=dict)
    """Story → the number of its first attempt that brings a test."""
    excuse: str = ""
    asked: list[str] = field(default_factory=list)
    """The attempts that were asked only for a test, each with the work that it began on."""

    def _ended(self, step: Attempt | Adopt) -> AttemptOutcome:
        if isinstance(step, Attempt) and step.shows:
            self.asked.append(f"{step.id} on {step.work or step.base[0]}")
        outcome = super()._ended(step)
        if outcome.status == "ok" and step.number < self.weak.get(step.story, 0):
            return replace(outcome, status="failed", reason=Reason.UNPROVEN, verdict=replace(WEAK, excuse=self.excuse))
        return outcome


def simulated(names: str, weak: dict[str, int], **settings: object) -> Simulation:
    plan = plan_of([story(name) for name in names.split()])
    return Simulation(plan, performer=Unshowing(weak=weak), **settings)  # type: ignore[arg-type]


def unproven(state: RunState) -> list[str]:
    return [one.id for one in state.stories.values() if one.is_unproven]


def accept(question: Question) -> str | None:
    return "accept: I looked" if question.kind == "unproven" else None


def test_the_next_attempt_begins_on_the_work_and_is_asked_only_for_the_test() -> None:
    run = simulated("S1", {"S1": 2})
    state = run.run()
    assert (state.phase, state.stories["S1"].proof, state.counted) == (RunPhase.SUCCESS, Proof.PROVED, 2)
    assert run.performer.asked == ["attempt/S1/2 on S1/1"]  # type: ignore[attr-defined]


def test_what_stays_unproven_is_integrated_serves_others_and_ends_the_run_only_after_all_else() -> None:
    """Promise 2, and three chunks in one night: chunk, dependents and run verification do not wait for a person."""
    stories = [story("S1", chunk="A"), story("S2", needs=["S1"], chunk="B"), story("S3", chunk="C")]
    run = Simulation(plan_of(stories), performer=Unshowing(weak={"S1": 99}))
    state = run.run()
    assert (state.phase, state.reason, unproven(state)) == (RunPhase.BLOCKED, Reason.UNPROVEN, ["S1"])
    assert [state.stories[name].phase for name in ("S1", "S2", "S3")] == ["verified", "done", "done"]
    assert [one.kind for one in state.open_questions()] == ["unproven"]
    assert state.stories["S1"].counted == 2
    assert run.performer.bases["attempt/S2/1"] == ("head1",)  # the branch holds S1's work
    verified = [event.seq for event in run.of(EventKind.RUN_VERIFYING)]
    run.answers = accept
    state = run.run()
    assert (state.phase, state.stories["S1"].proof, state.counted) == (RunPhase.SUCCESS, Proof.ATTESTED, 4)
    assert len(run.of(EventKind.RUN_VERIFYING)) == len(verified) + 1
    assert [event.context.get("step") for event in run.of(EventKind.RUN_ENDED)] == ["verify-run/1"] * 2


@each(
    ("settings", "attempts"),
    [
        ({"limits": Limits(story_max_attempts=1)}, 1),
        ({"limits": Limits(run_max_attempts=2)}, 2),
        ({"policy": Policy(unproven="accept")}, 3),
    ],
)
def test_the_work_goes_on_where_no_attempt_is_to_spare(settings: dict[str, object], attempts: int) -> None:
    """Promise 5: stories that had no turn yet come before a second attempt of one that passes its checks."""
    run = simulated("S1 S2", {"S1": 99}, **settings)
    state = run.run()
    counted = 2 if attempts < 3 else 3
    assert (state.phase, unproven(state), state.counted) == (RunPhase.BLOCKED, ["S1"], counted)


def test_an_excuse_saves_the_attempt_and_stands_in_the_question() -> None:
    run = simulated("S1", {"S1": 99})
    run.performer.excuse = "only settings changed"  # type: ignore[attr-defined]
    state = run.run()
    assert (state.counted, unproven(state)) == (1, ["S1"])
    assert "(only settings changed)" in state.open_questions()[0].text


@each("bad", [Reason.STORY_VERIFICATION_FAILED, Reason.AGENT_TIMEOUT, Reason.AGENT_ASKED, Reason.CHANGED_EXPECTATION])
def test_however_the_attempt_for_a_test_ends_the_kept_work_goes_on(bad: Reason) -> None:
    run = simulated("S1 S2", {"S1": 99})
    run.performer.fails = lambda name, number: bad if (name, number) == ("S1", 2) else None
    state = run.run()
    assert (state.reason, unproven(state), state.stories["S1"].commit) == (Reason.UNPROVEN, ["S1"], "S1/1")
    assert [one.kind for one in state.open_questions()] == ["unproven"]


@each(("answer", "phase", "commit"), [("retry", StoryPhase.DONE, "S1/3"), ("change: shorter", StoryPhase.DONE, "S1/3")])
def test_a_person_grants_one_attempt_on_the_head_and_nobody_waits_for_it(
    answer: str, phase: StoryPhase, commit: str
) -> None:
    run = simulated("S1 S2", {"S1": 3}, limits=Limits(story_max_attempts=2))
    assert unproven(run.run()) == ["S1"]
    run.answers = lambda question: answer
    state = run.run()
    assert (state.phase, state.stories["S1"].phase, state.stories["S1"].commit) == (RunPhase.SUCCESS, phase, commit)
    assert run.performer.bases["attempt/S1/3"] == ("head2",)
    shown = [one for one in run.performer.asked if "S1/3" in one]  # type: ignore[attr-defined]
    assert shown == (["attempt/S1/3 on head2"] if answer == "retry" else [])


def test_a_granted_attempt_that_is_no_better_leaves_the_work_and_the_question_comes_again() -> None:
    """Promise 3: integrated work stands, whatever a later attempt brings."""
    run = simulated("S1", {"S1": 99})
    run.run()
    said = iter(["retry"])
    run.answers = lambda question: next(said, None)
    state = run.run()
    assert (state.reason, state.stories["S1"].commit, state.counted) == (Reason.UNPROVEN, "S1/1", 3)
    assert [one.answer for one in state.questions.values()] == ["retry", None]


def test_work_that_did_not_fit_onto_the_branch_is_attempted_anew() -> None:
    run = simulated("S1", {"S1": 3})
    run.performer.conflicts = {"S1": 1}
    state = run.run()
    assert (state.phase, state.stories["S1"].commit) == (RunPhase.SUCCESS, "S1/3")
    run = simulated("S1", {"S1": 99})
    run.performer.conflicts = {"S1": 1}
    assert unproven(run.run()) == ["S1"]
    assert run.performer.asked == ["attempt/S1/2 on S1/1"], "an agent is asked once for a story's test"  # type: ignore[attr-defined]


@dataclass
class Idle(SimulatedPerformer):
    """Agents that change nothing, on a base on which all checks pass."""

    own: bool = False

    def perform(self, order: Order, stop: Stop) -> Outcome:
        outcome = super().perform(order, stop)
        return replace(outcome, own_check=self.own) if isinstance(outcome, ClaimOutcome) else outcome


@each(("own", "attempts", "proof"), [(True, 1, Proof.CLAIMED), (False, 2, Proof.ATTESTED)])
def test_a_story_that_is_there_already_is_believed_by_its_own_check_or_asked_about_after_two_attempts(
    own: bool, attempts: int, proof: Proof
) -> None:
    """It never spends its whole budget on attempts that find nothing to do."""
    idle = Idle(own=own, fails=lambda name, number: Reason.AGENT_NO_CHANGE)
    run = Simulation(plan_of([story("S1")]), performer=idle)
    state = run.run()
    if not own:
        assert (state.phase, [one.kind for one in state.open_questions()]) == (RunPhase.BLOCKED, ["there"])
        run.answers = lambda question: "accept"
        state = run.run()
    assert (state.phase, state.stories["S1"].proof, state.counted) == (RunPhase.SUCCESS, proof, attempts)


@each("seed", range(12))
def test_a_log_cut_anywhere_ends_in_the_same_way_and_parallel_equals_serial(seed: int) -> None:
    """Promises 4 and 7, with unproven stories among others: a kill only delays the question."""
    random = Random(seed)
    plan = random_plan(random, most=7)
    weak = {one.id: random.choice((2, 99)) for one in plan.stories if random.random() < 0.5}

    def duration(step: Step) -> int:
        return 1000 if isinstance(step, Attempt) else 10

    def made(jobs: int) -> Simulation:
        return Simulation(plan, jobs=jobs, duration=duration, performer=Unshowing(weak=weak))

    whole, serial = made(2), made(1)
    wanted = [name for name in (one.id for one in plan.stories) if weak.get(name) == 99]
    assert unproven(whole.run()) == unproven(serial.run()) == wanted
    order = [
        [(e.story_id, e.event) for e in one.of(EventKind.STORY_DONE, EventKind.STORY_INTEGRATED)]
        for one in (whole, serial)
    ]
    assert order[0] == order[1]
    for cut in range(1, len(whole.store.log)):
        again = made(2)
        again.store.log = whole.store.log[:cut]
        again.interrupt()
        state = again.run()
        assert unproven(state) == wanted
        assert len([one for one in state.open_questions() if one.kind == "unproven"]) == len(wanted)
        again.answers = accept
        assert again.run().phase is RunPhase.SUCCESS
