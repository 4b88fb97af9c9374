"""Attempts on many machines, by the real core on a virtual clock: losses, refusals, late reports, deaths of the coordinator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal

import pytest

from santiago.contract.answers import Letter
from santiago.contract.events import Event, EventKind
from santiago.contract.outcomes import Usage
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes, Usd
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState
from santiago.contract.steps import Attempt, Step
from santiago.executor.reopen import Grants
from santiago.simulation.fleet import URL, Fleet, Worker
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import MemoryStore, SimulatedPerformer, Simulation, VirtualClock
from tests.util.each import each

Fate = Literal["done", "lost", "declined"]


def machines(
    plan: Plan,
    *,
    workers: Sequence[Worker] | None = None,
    fate: Callable[[str], Fate] = lambda step: "done",
    said: Callable[[str], Usage] = lambda step: Usage(),
    reports: int | None = None,
    uses: Callable[[str, int], Usage] = lambda name, attempt: Usage(tokens=10, cost_usd=Usd(10)),
    duration: Callable[[Step], int] = lambda step: 1000 if isinstance(step, Attempt) else 0,
    jobs: int = 4,
    limits: Limits | None = None,
    policy: Policy | None = None,
) -> tuple[Simulation, Fleet]:
    """Return a run and the fleet that serves it."""
    clock, performer = VirtualClock(), SimulatedPerformer(uses=uses)
    fleet = Fleet(
        clock, performer, [Worker(), Worker()] if workers is None else list(workers), fate, said, reports,
    )  # fmt: skip
    run = Simulation(
        plan, jobs=jobs, duration=duration, performer=performer, clock=clock, policy=policy or Policy(),
        engine_of=fleet.engine, url=URL,
        limits=limits or Limits(run_max_attempts=10_000, run_timeout_minutes=Minutes.of(1e6)),
    )  # fmt: skip
    return run, fleet


def first_is(fate: Fate, times: int = 1) -> Callable[[str], Fate]:
    """Return what becomes of attempts: the first ones of each story end in this way."""
    return lambda step: fate if int(step.split("/")[2]) <= times else "done"


class Death(BaseException):
    """The coordinator is killed."""


class MortalStore(MemoryStore):
    """A log whose writer dies right after an event is on disk."""

    def __init__(self, dies_after: set[int]) -> None:
        super().__init__()
        self.dies_after = dies_after

    def append(self, events: Sequence[Event]) -> None:
        super().append(events)
        if due := {number for number in self.dies_after if number <= len(self.log)}:
            self.dies_after -= due
            raise Death


def to_the_end(run: Simulation) -> RunState:
    """Start the run again whenever its coordinator has died."""
    while True:
        try:
            return run.run()
        except Death:
            continue


def holds(run: Simulation, fleet: Fleet) -> None:
    """Each story is done once and in order, nothing is ordered or accepted twice, and what is counted and spent adds up."""
    names = [one.id for one in run.plan.stories]
    assert run.done() == names
    begun = Counter(event.context["step"] for event in run.of(EventKind.ATTEMPT_STARTED))
    ended = Counter(event.context["step"] for event in run.of(EventKind.ATTEMPT_ENDED))
    assert set(begun.values()) == {1}
    assert set(ended.values()) == {1}
    assert {step.split("/")[1] for step in ended} == set(names), "one verdict each"
    void = list(run.of(EventKind.ATTEMPT_VOIDED))
    assert len(begun) == len(ended) + len(void), "accepted + lost = orders"
    lost = {step for step, one in fleet.orders.items() if one.fate == "lost"}
    told = {
        f"attempt/{event.story_id}/{event.attempt}" for event in void if event.context.get("reason") == "worker_lost"
    }
    assert told == lost


@each("seed", range(40))
def test_whatever_machines_do_every_story_is_done_once_and_in_order(seed: int) -> None:
    """Losses, refusals and deaths of the coordinator at any moment: accepted + lost = orders, and no agent works for nothing."""
    random = Random(seed)
    plan = random_plan(random)
    took: dict[str, int] = {}
    run, fleet = machines(
        plan, workers=[Worker(since=random.randint(0, 9000)) for _ in range(random.randint(1, 6))], fate=drawn(random, 3),
        jobs=random.randint(1, 8), reports=random.choice((None, 0, 4000)),
        duration=lambda step: took.setdefault(
            step.id, random.randint(1, 5000) if isinstance(step, Attempt) else random.randint(0, 50)
        ),
    )  # fmt: skip
    run.store = MortalStore({random.randint(1, 12 * len(plan.stories)) for _ in range(random.randint(0, 3))})
    assert to_the_end(run).phase is RunPhase.SUCCESS
    holds(run, fleet)
    claimed = {step for step, one in fleet.orders.items() if one.outcome is not None}
    assert run.performer.kept == claimed, "an agent that worked stands in the log once"


@each("seed", range(6))
def test_a_coordinator_that_dies_after_any_event_repeats_nothing_that_workers_have(seed: int) -> None:
    """Promise 4, over machines: no attempt that the engine still knows is ended, repeated or counted twice."""
    random = Random(seed)
    plan = random_plan(random, most=5)
    whole, _ = machines(plan)
    whole.run()
    for cut in range(3, len(whole.store.log)):
        run, fleet = machines(plan)
        run.store = MortalStore({cut})
        state = to_the_end(run)
        assert state.phase is RunPhase.SUCCESS
        holds(run, fleet)
        never = list(run.of(EventKind.ATTEMPT_VOIDED))
        assert len(never) <= 4, "only what had not been ordered yet is void"
        assert all(event.context["tokens"] == 0 for event in never)
        assert state.tokens == 10 * len(run.plan.stories)
        assert (state.counted, len(run.performer.kept)) == (len(plan.stories), len(plan.stories))


def test_an_attempt_that_ended_while_nobody_listened_is_taken_and_counts_once() -> None:
    run, fleet = machines(plan_of([story("S1"), story("S2", needs=["S1"])]))
    with pytest.raises(Death):
        die_at(run, lambda state: bool(state.running and fleet.orders))
    run.clock.now += 60_000
    assert run.run().phase is RunPhase.SUCCESS
    assert [event.attempt for event in run.of(EventKind.ATTEMPT_STARTED)] == [1, 1]
    assert not run.of(EventKind.ATTEMPT_VOIDED)


def die_at(run: Simulation, when: Callable[[RunState], bool]) -> None:
    """Run until the coordinator looks for letters in this state, and kill it there."""

    def heard(state: RunState, now: int) -> None:
        if when(state):
            raise Death

    run.heard = heard
    try:
        run.run()
    finally:
        run.heard = lambda state, now: None


@each("fate", ["lost", "declined"])
def test_a_machines_own_trouble_costs_no_attempt_and_the_story_goes_to_another(fate: Fate) -> None:
    run, _ = machines(plan_of([story("S1")]), fate=first_is(fate), limits=Limits(story_max_attempts=1))
    state = run.run()
    assert (state.phase, state.stories["S1"].attempts, state.counted) == (RunPhase.SUCCESS, 2, 1)
    (void,) = run.of(EventKind.ATTEMPT_VOIDED)
    assert void.context["reason"] == {"lost": "worker_lost", "declined": "declined"}[fate]
    assert (void.context.get("message") == "git is too old") == (fate == "declined")


@each(("fate", "reason"), [("lost", Reason.WORKER_LOST), ("declined", Reason.DECLINED)])
def test_the_fifth_time_rests_the_story_until_a_person_goes_on(fate: Fate, reason: Reason) -> None:
    run, fleet = machines(plan_of([story("S1"), story("S2")]), fate=lambda step: fate if "/S1/" in step else "done")
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.BLOCKED, reason)
    assert (state.stories["S1"].phase, state.stories["S1"].attempts) == (StoryPhase.BLOCKED, 5)
    assert run.done() == ["S2"]
    fleet.fate = lambda step: "done"
    assert run.run().phase is RunPhase.SUCCESS


def test_a_lost_attempt_costs_the_larger_of_its_last_beat_and_the_runs_largest_attempt() -> None:
    beats = {"attempt/S2/1": Usage(tokens=4), "attempt/S3/1": Usage(tokens=25)}
    run, _ = machines(
        plan_of([story("S1"), story("S2", needs=["S1"]), story("S3", needs=["S2"])]),
        fate=lambda step: "lost" if step in beats else "done", said=lambda step: beats.get(step, Usage()),
    )  # fmt: skip
    state = run.run()
    assert [event.context["tokens"] for event in run.of(EventKind.ATTEMPT_VOIDED)] == [10, 25]
    assert (state.tokens, state.unreported) == (3 * 10 + 10 + 25, 0)


def test_before_any_attempt_has_ended_the_usage_of_a_lost_one_is_unknown_and_matters_only_under_a_limit() -> None:
    stories = plan_of([story("S1")])
    run, _ = machines(stories, fate=first_is("lost"))
    state = run.run()
    assert (state.phase, state.unreported, state.unpriced) == (RunPhase.SUCCESS, 1, 1)
    limited, _ = machines(stories, fate=first_is("lost"), limits=Limits(run_max_cost_usd=Usd.of(1)))
    state = limited.run()
    assert (state.phase, state.reason) == (RunPhase.BLOCKED, Reason.USAGE_UNKNOWN)


def test_what_a_lost_worker_reports_later_replaces_what_was_assumed_and_reopens_the_budget() -> None:
    """Budgets hold over all workers: a refused worker's usage is booked when it arrives."""
    run, _ = machines(
        plan_of([story("S1"), story("S2", needs=["S1"])]), reports=500,
        fate=lambda step: "lost" if step == "attempt/S2/1" else "done", limits=Limits(run_max_tokens=1000),
        uses=lambda name, attempt: Usage(tokens=70 if (name, attempt) == ("S2", 1) else 10, cost_usd=Usd(1)),
    )  # fmt: skip
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    (late,) = run.of(EventKind.USAGE_REPORTED)
    assert (late.story_id, late.context) == ("S2", {"step": "attempt/S2/1", "tokens": 70, "cost_micro_usd": 1})
    assert (state.tokens, state.stories["S2"].tokens) == (10 + 70 + 10, 80)
    assert (state.largest_tokens, state.assumed) == (70, {})


def drawn(random: Random, sure: int = 1) -> Callable[[str], Fate]:
    """Return what becomes of attempts: drawn once for each; those with a number above `sure` end well."""
    fates: dict[str, Fate] = {}
    some: tuple[Fate, ...] = ("done", "done", "done", "lost", "declined")
    return lambda step: "done" if int(step.split("/")[2]) > sure else fates.setdefault(step, random.choice(some))


def test_no_limit_is_exceeded_however_many_workers_there_are() -> None:
    """Nothing starts where spent plus reserved has reached the limit."""
    for seed in range(20):
        random = Random(seed)
        plan = plan_of([story(f"S{number}") for number in range(1, 13)])
        run, _ = machines(
            plan, workers=[Worker() for _ in range(8)], jobs=8, limits=Limits(run_max_tokens=random.randint(10, 130)),
            fate=drawn(random),
            said=lambda step: Usage(tokens=3),
        )  # fmt: skip
        state = run.run()
        most = run.limits.run_max_tokens or 0
        assert state.tokens <= most


def test_waiting_for_a_worker_is_no_execution_time_and_no_time_of_the_story() -> None:
    run, _ = machines(plan_of([story("S1")]), workers=[Worker(since=600_000)])
    state = run.run()
    assert state.phase is RunPhase.SUCCESS
    assert run.clock.now >= 600_000
    assert state.used_ms < 5_000
    assert state.stories["S1"].used_ms == 10, "what its worker measured"


def test_if_no_worker_comes_the_run_withdraws_its_orders_and_pauses() -> None:
    run, fleet = machines(
        plan_of([story("S1"), story("S2")]), workers=[], limits=Limits(wait_max_minutes=Minutes.of(0.5))
    )
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.PAUSED, Reason.NO_WORKERS)
    assert {one.fate for one in fleet.orders.values()} == {"cancelled"}
    assert (state.counted, state.tokens, state.unreported, state.used_ms) == (0, 0, 0, 0)
    fleet.workers.append(Worker())
    assert run.run().phase is RunPhase.SUCCESS


def test_a_busy_fleet_is_no_missing_one() -> None:
    """Each attempt lasts longer than the longest wait for a worker; one at a time they all come through."""
    run, _ = machines(
        plan_of([story(f"S{number}") for number in range(1, 5)]), workers=[Worker()],
        duration=lambda step: 60_000 if isinstance(step, Attempt) else 0, limits=Limits(wait_max_minutes=Minutes.of(0.5)),
    )  # fmt: skip
    assert run.run().phase is RunPhase.SUCCESS


def test_a_story_that_needs_a_pool_goes_to_its_workers_alone() -> None:
    """`Needs: gpu` names a pool only where there are workers; what looks like the id of something missing blocks as ever."""
    plan = plan_of([story("S1", external_depends_on=("gpu",)), story("S2")])
    run, fleet = machines(plan, workers=[Worker(), Worker("gpu")])
    assert run.run().phase is RunPhase.SUCCESS
    assert {step: one.worker for step, one in fleet.orders.items()} == {"attempt/S1/1": 1, "attempt/S2/1": 0}
    assert Simulation(plan).run().reason is Reason.BLOCKED_DEPENDENCY
    for needs in (("R9",), ("gpu", "tpu"), ("a big GPU",)):
        other, _ = machines(plan_of([story("S1", external_depends_on=needs)]))
        assert other.run().reason is Reason.BLOCKED_DEPENDENCY


def test_stories_of_a_pool_without_workers_take_no_place_of_others() -> None:
    waiting = [story(f"S{number}", external_depends_on=("gpu",)) for number in range(1, 6)]
    run, fleet = machines(
        plan_of([*waiting, story("S6"), story("S7")]), workers=[Worker()], jobs=3, limits=Limits(wait_max_minutes=Minutes.of(0.5))
    )  # fmt: skip
    assert run.run().reason is Reason.NO_WORKERS
    assert [step for step, one in fleet.orders.items() if one.fate == "done"] == ["attempt/S6/1", "attempt/S7/1"]
    assert sum(one.order.pool == "gpu" for one in fleet.orders.values()) <= 3


def test_an_order_says_which_start_gave_it_and_what_is_red_on_the_base() -> None:
    run, fleet = machines(plan_of([story("S1")]))
    run.run()
    order = fleet.orders["attempt/S1/1"].order
    assert (order.epoch, order.red, order.pool) == (1, (), "")


def test_a_detached_run_ends_at_once_and_the_next_start_takes_up_what_its_workers_did() -> None:
    run, fleet = machines(plan_of([story("S1"), story("S2")]))
    run.letters = lambda state: [Letter(kind="stop-detach", actor="ann")] if len(state.running) == 2 else []
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.PAUSED, Reason.INTERRUPTED)
    assert run.clock.now < 1000, "it waits for no worker"
    assert [one.fate for one in fleet.orders.values()] == [None, None]
    run.letters = lambda state: []
    assert run.run().phase is RunPhase.SUCCESS
    assert len(run.of(EventKind.ATTEMPT_STARTED)) == 2
    assert not run.of(EventKind.ATTEMPT_VOIDED)


def test_an_ordinary_stop_reaches_workers_and_withdraws_what_none_has() -> None:
    run, fleet = machines(plan_of([story("S1"), story("S2")]), workers=[Worker()])
    run.heard = lambda state, now: "soon" if any(one.worker is not None for one in fleet.orders.values()) else None
    assert run.run().phase is RunPhase.PAUSED
    assert {step: one.fate for step, one in fleet.orders.items()} == {
        "attempt/S1/1": "stopped",
        "attempt/S2/1": "cancelled",
    }
    run.heard = lambda state, now: None
    assert run.run().phase is RunPhase.SUCCESS


def test_an_error_of_the_coordinator_leaves_workers_alone() -> None:
    run, fleet = machines(plan_of([story("S1")]))
    with pytest.raises(Death):
        die_at(run, lambda state: bool(fleet.orders))
    assert [one.fate for one in fleet.orders.values()] == [None]


def test_a_detailed_plan_that_is_lost_is_asked_for_again() -> None:
    run, _ = machines(
        plan_of([story("S1")]), policy=Policy(gates=("detail",)),
        fate=lambda step: "lost" if step == "propose/S1/1" else "done",
    )  # fmt: skip
    run.answers, run.attended = lambda question: "approve", True
    assert run.run().phase is RunPhase.SUCCESS
    assert [number for _, number, _ in run.performer.proposed] == [1, 2]


def test_unknown_usage_that_is_reported_after_all_blocks_no_longer() -> None:
    run, fleet = machines(plan_of([story("S1")]), fate=first_is("lost"), limits=Limits(run_max_tokens=1000))
    assert run.run().reason is Reason.USAGE_UNKNOWN
    fleet.reports = 0
    state = run.run()
    assert (state.phase, state.tokens, state.unreported, state.assumed) == (RunPhase.SUCCESS, 20, 0, {})


def test_what_a_person_accepted_as_unknown_hides_no_other_attempt_once_it_is_known() -> None:
    """Raising the limit accepts the lost attempt. When its report comes, the next silent attempt blocks again."""
    silent = {("S2", 1)}
    run, fleet = machines(
        plan_of([story("S1"), story("S2", needs=["S1"]), story("S3", needs=["S2"])]), fate=first_of_s1_is_lost,
        limits=Limits(run_max_tokens=1000), uses=lambda name, attempt: Usage(tokens=None if (name, attempt) in silent else 10),
    )  # fmt: skip
    assert run.run().reason is Reason.USAGE_UNKNOWN
    fleet.reports = 0
    state = run.run(Grants(tokens=1))
    assert (state.reason, state.unreported, run.done()) == (Reason.USAGE_UNKNOWN, 1, ["S1", "S2"])


def first_of_s1_is_lost(step: str) -> Fate:
    return "lost" if step == "attempt/S1/1" else "done"
