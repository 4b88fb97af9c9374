"""The core on simulated ports: order, parallelism, budgets, endings. One seed is one schedule."""

from collections import Counter
from random import Random

from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState
from santiago.contract.steps import Attempt, Step, story_of
from santiago.executor.reopen import Grants
from santiago.executor.schedule import overlap
from santiago.executor.scope import Scope
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.util.each import each


@each("seed", range(60))
def test_parallel_equals_serial_whatever_the_timing(seed: int) -> None:
    """Promise 7: the same sequence of completions with eight jobs and random timing as with one."""
    random = Random(seed)
    plan = random_plan(random)
    failing = {(name.id, 1) for name in plan.stories if random.random() < 0.3}

    def fails(name: str, attempt: int) -> Reason | None:
        return Reason.STORY_VERIFICATION_FAILED if (name, attempt) in failing else None

    def run(jobs: int, seed: int) -> Simulation:
        chance = Random(seed)
        took: dict[str, int] = {}

        def duration(step: Step) -> int:
            return took.setdefault(
                step.id, chance.randint(1, 5000) if isinstance(step, Attempt) else chance.randint(0, 50)
            )

        made = Simulation(plan, jobs=jobs, duration=duration, performer=SimulatedPerformer(fails=fails))
        assert made.run().phase is RunPhase.SUCCESS
        return made

    serial, parallel = run(1, seed), run(8, seed + 1)
    assert serial.done() == parallel.done() == [one.id for one in plan.stories]
    attempts = [
        Counter(e.story_id for e in made.store.log if e.phase is StoryPhase.RUNNING) for made in (serial, parallel)
    ]
    assert attempts[0] == attempts[1]


def test_an_attempt_records_all_the_work_that_it_begins_on() -> None:
    """Nobody answers for the work of others: after a crash, what an attempt left is compared with what the log says here."""
    stories = [story("S1", files=["a"]), story("S2", files=["b"]), story("S3", needs=["S2"], files=["c"])]
    run = Simulation(plan_of(stories), jobs=2, duration=lambda step: 5000 if story_of(step) == "S1" else 10)
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    kept = next(e.context["commit"] for e in run.store.log if e.story_id == "S2" and "commit" in e.context)
    begun = {e.story_id: e for e in run.store.log if e.event is EventKind.ATTEMPT_STARTED}
    assert begun["S3"].context["onto"] == [kept]
    assert "onto" not in begun["S1"].context
    assert state.stories["S3"].onto == (kept,)


def makespan(plan: Plan, jobs: int, length: dict[str, int]) -> int:
    """The reference: start the first free story in plan order whenever a place is free."""
    end: dict[str, int] = {}
    now, barrier = 0, 0
    running: list[str] = []
    for chunk in plan.chunks:
        waiting = [one for one in plan.stories if one.id in chunk.stories]
        order = {one.id: number for number, one in enumerate(waiting)}
        now = barrier
        while waiting or running:
            running = [name for name in running if end[name] > now]
            for one in list(waiting):
                before = [other for other in plan.stories if other.id in order and order[other.id] < order[one.id]]
                ahead = {other.id for other in before if meet(other.files, one.files)} | set(one.depends_on)
                if len(running) < jobs and all(end.get(name, 1 << 60) <= now for name in ahead):
                    end[one.id] = now + length[one.id]
                    running.append(one.id)
                    waiting.remove(one)
            future = [end[name] for name in running if end[name] > now]
            if not future:
                break
            now = min(future)
        barrier = max([end[name] for name in chunk.stories] + [barrier])
    return barrier


def meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return not a or not b or any(overlap(x, y) for x in a for y in b)


@each("seed", range(250))
def test_the_makespan_is_that_of_the_reference_scheduler(seed: int) -> None:
    random = Random(seed)
    plan = random_plan(random)
    jobs = random.randint(1, 5)
    length = {one.id: random.randint(1, 100) * 1000 for one in plan.stories}
    made = Simulation(plan, jobs=jobs, duration=lambda step: length[step.story] if isinstance(step, Attempt) else 0)
    made.run()
    assert made.clock.now == makespan(plan, jobs, length)


def test_a_failed_attempt_is_repeated_until_the_budget_ends_and_the_run_fails() -> None:
    performer = SimulatedPerformer(fails=lambda name, attempt: Reason.STORY_VERIFICATION_FAILED)
    run = Simulation(
        plan_of([story("S1"), story("S2", needs=["S1"])]), performer=performer, limits=Limits(story_max_attempts=3)
    )
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.FAILED, Reason.ATTEMPT_BUDGET_EXHAUSTED)
    assert state.stories["S1"].attempts == 3
    assert state.stories["S2"].phase is StoryPhase.PLANNED


@each("exhausted", ["failed", "blocked"])
def test_more_attempts_reach_a_story_whose_attempts_were_spent_when_the_run_came_to_rest(exhausted: str) -> None:
    """Promise 5: a run may be stopped before a story's spent budget is said; the grant is for that story too."""
    performer = SimulatedPerformer(
        fails=lambda name, attempt: Reason.STORY_VERIFICATION_FAILED if name == "S1" and attempt < 4 else None
    )
    run = Simulation(
        plan_of([story("S1"), story("S2")]),
        performer=performer,
        limits=Limits(story_max_attempts=2),
        policy=Policy(exhausted=exhausted),  # type: ignore[arg-type]
        heard=lambda state, now: "soon" if state.stories["S1"].attempts == 2 else None,
    )
    assert stands(run.run()) == (RunPhase.PAUSED, StoryPhase.READY, 2)
    run.heard = lambda state, now: None
    assert stands(run.run(Grants(attempts=1))) == (exhausted, exhausted, 3)
    assert raised(run) == [("S1", 1), (None, 1)]
    assert run.run(Grants(attempts=1)).stories["S1"].phase is StoryPhase.DONE
    assert raised(run) == [("S1", 1), (None, 1)] * 2


def stands(state: RunState) -> tuple[RunPhase, StoryPhase, int]:
    return state.phase, state.stories["S1"].phase, state.stories["S1"].counted


def raised(run: Simulation) -> list[tuple[str | None, int]]:
    return [(event.story_id, event.context["amount"]) for event in run.of(EventKind.BUDGET_RAISED)]


def test_with_keep_going_independent_stories_go_on_first() -> None:
    performer = SimulatedPerformer(fails=lambda name, attempt: Reason.AGENT_TIMEOUT if name == "S1" else None)
    stories = [story("S1"), story("S2", needs=["S1"]), story("S3")]
    run = Simulation(
        plan_of(stories), performer=performer, policy=Policy(keep_going=True), limits=Limits(story_max_attempts=1)
    )
    assert run.run().phase is RunPhase.FAILED
    assert run.done() == ["S3"]


def test_a_conflict_voids_once_and_counts_the_second_time() -> None:
    run = Simulation(plan_of([story("S1")]), performer=SimulatedPerformer(conflicts={"S1": 2}))
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert (state.stories["S1"].attempts, state.stories["S1"].counted) == (3, 2)


def test_dependents_of_a_voided_story_start_again_on_its_new_work() -> None:
    plan = plan_of([story("S1"), story("S2"), story("S3", needs=["S2"])])
    slow = {"attempt/S1/1": 10_000}
    run = Simulation(
        plan, jobs=3, duration=lambda step: slow.get(step.id, 1000), performer=SimulatedPerformer(conflicts={"S2": 1})
    )
    assert run.run().phase is RunPhase.SUCCESS
    assert run.performer.bases["attempt/S3/1"] == ("head0", "S2/1")
    assert run.performer.bases["attempt/S3/2"][-1] != "S2/1"
    assert run.done() == ["S1", "S2", "S3"]


@each("seed", range(30))
def test_attempts_whose_ground_goes_while_they_run_are_void_and_tried_again(seed: int) -> None:
    """An attempt may end well before its cancelling reaches it; its end is still void, and nothing it says counts."""
    random = Random(seed)
    plan = random_plan(random)
    performer = SimulatedPerformer(conflicts={one.id: 1 for one in plan.stories if random.random() < 0.3})
    run = Simulation(
        plan, jobs=8, performer=performer,
        duration=lambda step: random.randint(1, 5000) if isinstance(step, Attempt) else random.randint(0, 3000),
    )  # fmt: skip
    assert run.run().phase is RunPhase.SUCCESS
    assert run.done() == [one.id for one in plan.stories]


def test_an_external_dependency_blocks_unless_it_is_assumed() -> None:
    plan = plan_of([story("S1", external_depends_on=("R9",))])
    assert Simulation(plan).run().reason == Reason.BLOCKED_DEPENDENCY
    assert Simulation(plan, policy=Policy(assume_external=True)).run().phase is RunPhase.SUCCESS


def test_a_range_of_chunks_runs_and_then_rests_and_the_next_start_goes_on() -> None:
    plan = plan_of([story("S1"), story("S2", chunk="C02"), story("S3", chunk="C03")])
    run = Simulation(plan, scope=Scope(chunks=frozenset({"C01", "C02"})))
    assert run.run().phase is RunPhase.PAUSED
    assert run.done() == ["S1", "S2"]
    run.scope = Scope()
    assert run.run().phase is RunPhase.SUCCESS
    assert run.done() == ["S1", "S2", "S3"]


@each("keep_going", [False, True])
@each("parked", [None, Reason.STORY_VERIFICATION_FAILED])
def test_no_chunk_begins_before_those_ahead_of_it_are_through(parked: Reason | None, keep_going: bool) -> None:
    """Neither where a start leaves them out, nor where all that is left of them is parked."""
    plan = plan_of([story("S1"), story("S2", chunk="C02")])
    policy = Policy(keep_going=keep_going)
    run = Simulation(plan, performer=SimulatedPerformer(fails=lambda name, attempt: parked), policy=policy)
    if parked:
        assert run.run().phase is RunPhase.FAILED
    run.scope = Scope(chunks=frozenset({"C02"}))
    state = run.run(Grants(attempts=1))
    assert (state.phase, state.chunks["C02"].started) == (RunPhase.PAUSED, False)


@each("seed", range(20))
def test_death_at_any_event_and_resume_ends_like_an_uninterrupted_run(seed: int) -> None:
    """Promise 4: cut the log anywhere, go on: the same completions, nothing done twice, no attempt counted twice."""
    random = Random(seed)
    plan = random_plan(random, most=8)
    whole = Simulation(plan, jobs=2)
    whole.run()
    for cut in range(1, len(whole.store.log)):
        again = Simulation(plan, jobs=2)
        again.store.log = whole.store.log[:cut]
        again.interrupt()
        assert again.run().phase is RunPhase.SUCCESS
        assert again.done() == [one.id for one in plan.stories]
        assert again.store.log[:cut] == whole.store.log[:cut]


@each(("landed", "order"), [(None, ["S1", "S2"]), ("S2", ["S2", "S1"])])
def test_what_a_crash_left_on_the_branch_without_a_word_is_finished_first(landed: str | None, order: list[str]) -> None:
    """Promise: nothing is lost, also where answers since then let an earlier story come before it again."""
    run = Simulation(plan_of([story("S1"), story("S2")]), jobs=2)
    run.run()
    first = next(place for place, event in enumerate(run.store.log) if event.event is EventKind.STORY_DONE)
    verified = {event.story_id for event in run.store.log[:first] if event.event is EventKind.STORY_VERIFIED}
    assert verified == {"S1", "S2"}
    del run.store.log[first:]
    run.landed = landed
    assert run.run().phase is RunPhase.SUCCESS
    assert run.done() == order
