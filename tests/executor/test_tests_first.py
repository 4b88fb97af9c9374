"""Tests before work: which attempt writes them, what the others begin on, and what a crash or a change does to them."""

from collections import Counter
from random import Random

from santiago.contract.events import Event, EventKind
from santiago.contract.fold import evolve, fold_all
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.reasons import Reason
from santiago.contract.steps import Attempt, Step, story_of
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.util.each import each

FIRST = Policy(tests_first="same")


def modes(run: Simulation) -> list[tuple[str, int, str]]:
    begun = run.of(EventKind.ATTEMPT_STARTED)
    return [(one.story_id or "", one.attempt or 0, one.context.get("mode", "")) for one in begun]


def onto(run: Simulation, name: str, number: int) -> list[str]:
    begun = run.of(EventKind.ATTEMPT_STARTED)
    return next(one.context.get("onto", []) for one in begun if (one.story_id, one.attempt) == (name, number))


def test_a_storys_tests_are_written_first_without_a_verdict_and_its_work_begins_on_them() -> None:
    run = Simulation(plan_of([story("S1"), story("S2", needs=["S1"])]), policy=FIRST)
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert modes(run) == [("S1", 1, "tests"), ("S1", 2, ""), ("S2", 1, "tests"), ("S2", 2, "")]
    assert [onto(run, "S1", 1), onto(run, "S1", 2)] == [[], ["S1/1-tests"]]
    one = state.stories["S1"]
    assert (one.counted, one.tests, one.tests_by, one.on_tests) == (2, "S1/1-tests", 1, True)
    written, passed, *_ = run.of(EventKind.ATTEMPT_ENDED)
    assert (written.phase, written.status, written.context["tests"]) == (StoryPhase.READY, "ok", ["test_it"])
    assert "verdict" not in written.context
    assert passed.context["verdict"] == "pass"


def test_tests_that_are_refused_are_written_again_within_the_budget() -> None:
    performer = SimulatedPerformer(fails=lambda name, number: Reason.NOTHING_VERIFIED if number < 3 else None)
    run = Simulation(plan_of([story("S1")]), policy=FIRST, performer=performer)
    assert run.run().phase is RunPhase.SUCCESS
    assert [mode for *_, mode in modes(run)] == ["tests", "tests", "tests", ""]
    spent = Simulation(plan_of([story("S1")]), policy=FIRST, limits=Limits(story_max_attempts=2))
    spent.performer.fails = performer.fails
    state = spent.run()
    assert (state.phase, state.reason) == (RunPhase.FAILED, Reason.ATTEMPT_BUDGET_EXHAUSTED)
    assert state.stories["S1"].commit is None


def test_the_tests_of_verified_work_come_along_to_those_who_wait_for_it() -> None:
    stories = [story("S1", files=["a"]), story("S2", files=["b"]), story("S3", needs=["S2"], files=["c"])]
    slow = Simulation(
        plan_of(stories), jobs=2, policy=FIRST, duration=lambda step: 5000 if story_of(step) == "S1" else 10
    )
    assert slow.run().phase is RunPhase.SUCCESS
    assert onto(slow, "S3", 1) == ["S2/1-tests", "S2/2"]
    assert onto(slow, "S3", 2) == ["S2/1-tests", "S2/2", "S3/1-tests"]


def test_a_conflict_of_the_work_keeps_the_tests_and_one_of_the_tests_has_them_written_again() -> None:
    performer = SimulatedPerformer(conflicts={"S1": 1})
    run = Simulation(plan_of([story("S1")]), policy=FIRST, performer=performer)
    assert run.run().phase is RunPhase.SUCCESS
    assert [mode for *_, mode in modes(run)] == ["tests", "", ""]
    performer = SimulatedPerformer(unfit={"S1/1-tests"})
    run = Simulation(plan_of([story("S1")]), policy=FIRST, performer=performer)
    assert run.run().phase is RunPhase.SUCCESS
    assert [mode for *_, mode in modes(run)] == ["tests", "", "tests", ""]
    assert onto(run, "S1", 4) == ["S1/3-tests"]


def test_a_change_that_a_person_asks_for_has_the_tests_written_again() -> None:
    run = Simulation(plan_of([story("S1")]), policy=FIRST)
    run.run()
    upto = next(at for at, event in enumerate(run.store.log) if event.context.get("tests_commit"))
    state = fold_all(run.plan, run.store.log[: upto + 1])
    asked = Event(
        seq=state.seq + 1, timestamp="2026-01-01T00:00:00Z", run_id="run-1", event=EventKind.CHANGE_REQUESTED,
        story_id="S1", context={"text": "in French"},
    )  # fmt: skip
    assert state.stories["S1"].tests == "S1/1-tests"
    assert evolve(state, asked).stories["S1"].tests is None


@each("lines", range(1, 14))
def test_a_start_after_a_crash_at_any_line_goes_on_where_the_log_ends(lines: int) -> None:
    whole = Simulation(plan_of([story("S1")]), policy=FIRST)
    whole.run()
    run = Simulation(plan_of([story("S1")]), policy=FIRST)
    run.store.log = whole.store.log[:lines]
    state = fold_all(run.plan, run.store.log)
    run.interrupt()
    assert run.run().phase is RunPhase.SUCCESS
    # Only what was interrupted is done again; tests that were kept are not.
    written = [number for _, number, mode in modes(run) if mode]
    kept = any(event.context.get("tests_commit") for event in whole.store.log[:lines])
    assert len(written) == (1 if kept or not state.running else 2)
    assert run.done() == ["S1"]


@each("seed", range(60))
def test_parallel_equals_serial_with_tests_first(seed: int) -> None:
    plan = random_plan(Random(seed))

    def run(jobs: int) -> Simulation:
        chance = Random(seed + jobs)

        def duration(step: Step) -> int:
            return chance.randint(1, 5000) if isinstance(step, Attempt) else chance.randint(0, 50)

        made = Simulation(plan, jobs=jobs, duration=duration, policy=FIRST)
        assert made.run().phase is RunPhase.SUCCESS
        return made

    serial, parallel = run(1), run(8)
    assert serial.done() == parallel.done() == [one.id for one in plan.stories]
    assert Counter(modes(serial)) == Counter(modes(parallel))
