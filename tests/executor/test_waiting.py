"""Waiting for the agent's service: no attempt is spent, nothing begins meanwhile, the time is paused time, all is bounded."""

from collections.abc import Callable
from random import Random
from typing import Literal

from santiago.cli.running import exit_code
from santiago.contract.events import Event, EventKind
from santiago.contract.fold import Fold
from santiago.contract.moments import ms_of
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, initial
from santiago.contract.steps import Attempt, Step
from santiago.executor.loop import POLL_MS
from santiago.executor.schedule import followed
from santiago.executor.waiting import MARGIN_MS
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.util.each import each

LIMITED, AWAY = Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE
HOUR = 3_600_000


def refused(times: int, reason: Reason = LIMITED, seconds: int | None = None, name: str = "S1") -> SimulatedPerformer:
    """An agent that is refused the first times that a story is tried."""
    return SimulatedPerformer(
        fails=lambda one, attempt: reason if one == name and attempt <= times else None,
        waits=lambda one, attempt: seconds,
    )


def lengths(run: Simulation) -> list[int]:
    return [event.context["ms"] for event in run.of(EventKind.WAIT_STARTED)]


def begins(run: Simulation) -> dict[str, int]:
    """When each attempt began."""
    events = run.of(EventKind.ATTEMPT_STARTED)
    return {f"{event.story_id}/{event.attempt}": ms_of(event.timestamp) - run.clock.wall for event in events}


def test_a_rate_limit_with_a_reset_time_is_waited_for_and_costs_neither_an_attempt_nor_execution_time() -> None:
    run = Simulation(plan_of([story("S1"), story("S2")]), performer=refused(1, seconds=HOUR // 1000))
    state = run.run()
    assert (state.phase, state.counted, state.voided) == (RunPhase.SUCCESS, 2, 1)
    assert lengths(run) == [HOUR + MARGIN_MS]
    assert begins(run)["S1/2"] >= begins(run)["S1/1"] + HOUR
    (began,) = run.of(EventKind.WAIT_STARTED)
    assert began.context["reason"] == LIMITED
    assert ms_of(began.context["until"]) - run.clock.wall == 1000 + HOUR + MARGIN_MS
    assert state.used_ms == 3000  # three attempts of a second each
    (ended,) = run.of(EventKind.WAIT_ENDED)
    assert ended.context["ms"] == run.clock.now - 3000 >= HOUR


@each(("reason", "first"), [(LIMITED, 60_000), (AWAY, 5_000)])
def test_without_a_reset_time_each_wait_is_four_times_the_last(reason: Reason, first: int) -> None:
    run = Simulation(plan_of([story("S1")]), performer=refused(4, reason))
    assert run.run().phase is RunPhase.SUCCESS
    most = {LIMITED: 60 * 60_000, AWAY: 5 * 60_000}[reason]
    assert lengths(run) == [first, first * 4, first * 16, min(first * 64, most)]


def test_an_idle_coordinator_only_looks_up_now_and_then() -> None:
    run = Simulation(plan_of([story("S1")]), performer=refused(1, seconds=60), polls=True)
    assert run.run().phase is RunPhase.SUCCESS
    assert len(run.engine.idle) == -(-(60_000 + MARGIN_MS) // POLL_MS)


def test_the_back_off_begins_anew_once_the_agent_answered() -> None:
    told = {1: LIMITED, 2: LIMITED, 3: Reason.STORY_VERIFICATION_FAILED, 4: LIMITED}
    performer = SimulatedPerformer(fails=lambda name, attempt: told.get(attempt))
    run = Simulation(plan_of([story("S1")]), performer=performer)
    assert run.run().phase is RunPhase.SUCCESS
    assert lengths(run) == [60_000, 240_000, 60_000]


def test_a_limit_that_lasts_longer_than_waiting_may_pauses_the_run_at_once_and_resume_asks_again() -> None:
    run = Simulation(plan_of([story("S1"), story("S2")]), performer=refused(1, seconds=7 * HOUR // 1000))
    state = run.run()
    assert (state.phase, state.reason, exit_code(state)) == (RunPhase.PAUSED, LIMITED, 20)
    assert run.of(EventKind.RUN_PAUSED)[-1].context["limit"] == "wait_max_minutes"
    assert (lengths(run), state.attempts, state.counted) == ([], 1, 0)
    assert state.stories["S1"].phase is StoryPhase.READY
    assert run.run().phase is RunPhase.SUCCESS


def test_the_bound_is_on_all_waiting_until_the_agent_answers() -> None:
    limits = Limits(wait_max_minutes=Minutes.of(5), run_max_attempts=100)
    stories = [story("S1"), story("S2")]
    run = Simulation(plan_of(stories), limits=limits, performer=refused(4, seconds=100))
    state = run.run()
    assert (state.phase, state.reason) == (RunPhase.PAUSED, LIMITED)
    assert lengths(run) == [100_000 + MARGIN_MS] * 2
    assert run.run().phase is RunPhase.SUCCESS  # a person let it go on: the sum begins at nothing
    assert sum(lengths(run)) == 3 * (100_000 + MARGIN_MS)


def test_five_refusals_of_one_story_end_the_waiting_and_the_next_start_asks_again() -> None:
    run = Simulation(plan_of([story("S1")]), performer=refused(7))
    state = run.run()
    assert (state.phase, state.reason, state.voided, exit_code(state)) == (RunPhase.PAUSED, LIMITED, 5, 20)
    assert len(lengths(run)) == 4
    assert run.run().phase is RunPhase.SUCCESS
    assert run.run().counted == 1


def test_an_agent_that_stays_away_fails_the_run_and_the_next_start_asks_again() -> None:
    run = Simulation(plan_of([story("S1"), story("S2")]), performer=refused(6, AWAY), policy=Policy(keep_going=True))
    state = run.run()
    assert (state.phase, state.reason, exit_code(state)) == (RunPhase.FAILED, AWAY, 20)
    assert (state.counted, state.voided) == (0, 5)
    assert state.stories["S2"].attempts == 0  # it would meet the same
    assert run.run().phase is RunPhase.SUCCESS


def test_a_program_that_is_not_there_is_not_waited_for() -> None:
    plan = plan_of([story("S1"), story("S2")])
    run = Simulation(plan, performer=refused(1, AWAY, seconds=0), policy=Policy(keep_going=True))
    state = run.run()
    assert (state.phase, state.reason, state.attempts, lengths(run)) == (RunPhase.FAILED, AWAY, 1, [])
    assert run.of(EventKind.STORY_FAILED)[0].context["message"] == "so it is"
    assert run.run().phase is RunPhase.SUCCESS


def test_others_go_on_and_are_integrated_while_the_run_waits_and_nothing_new_begins() -> None:
    slow = {"attempt/S2/1": 60_000}
    plan = plan_of([story("S1", claimed_done=True), story("S2"), story("S3"), story("S4")])
    run = Simulation(
        plan, jobs=2, duration=lambda step: slow.get(step.id, 1000), performer=refused(1, seconds=600, name="S3")
    )
    assert run.run().phase is RunPhase.SUCCESS
    done = {event.story_id: ms_of(event.timestamp) - run.clock.wall for event in run.of(EventKind.STORY_DONE)}
    until = ms_of(run.of(EventKind.WAIT_STARTED)[0].context["until"]) - run.clock.wall
    assert done["S2"] < until <= min(begins(run)["S3/2"], begins(run)["S4/1"])


@each("seconds", [{"S1": 100, "S2": 300}, {"S1": 300, "S2": 100}])
def test_two_refusals_at_once_are_one_wait_to_the_later_time(seconds: dict[str, int]) -> None:
    performer = SimulatedPerformer(
        fails=lambda name, attempt: LIMITED if attempt == 1 else None, waits=lambda name, attempt: seconds[name]
    )
    run = Simulation(plan_of([story("S1"), story("S2")]), jobs=2, performer=performer)
    assert run.run().phase is RunPhase.SUCCESS
    assert sum(lengths(run)) == 300_000 + MARGIN_MS
    assert len(run.of(EventKind.WAIT_ENDED)) == 1
    assert begins(run)["S1/2"] >= 300_000


def stopping(when: int) -> Callable[[RunState, int], Literal["soon"] | None]:
    return lambda state, now: "soon" if state.wait_until and now >= when else None


def test_a_stop_ends_the_waiting_at_once_and_resume_asks_again() -> None:
    run = Simulation(plan_of([story("S1")]), performer=refused(1, seconds=3600), heard=stopping(0), polls=True)
    state = run.run()
    assert (state.phase, state.reason, exit_code(state)) == (RunPhase.PAUSED, Reason.INTERRUPTED, 130)
    assert run.clock.now < 60_000
    assert [event.event for event in run.store.log[-3:-1]] == [EventKind.WAIT_ENDED, EventKind.RUN_PAUSED]
    run.heard = lambda state, now: None
    assert run.run().phase is RunPhase.SUCCESS
    assert run.clock.now < 60_000


def cut_while_waiting(seconds: int) -> Simulation:
    """A run that died right after it began to wait."""
    whole = Simulation(plan_of([story("S1")]), performer=refused(1, seconds=seconds))
    whole.run()
    place = next(n for n, event in enumerate(whole.store.log) if event.event is EventKind.WAIT_STARTED)
    again = Simulation(whole.plan, performer=refused(1, seconds=seconds))
    again.store.log = whole.store.log[: place + 1]
    return again


@each(("later", "begun"), [(1_000_000, 3_600_000 + MARGIN_MS), (9_000_000, 9_000_000)])
def test_after_a_crash_the_rest_is_waited_for_and_nothing_beyond(later: int, begun: int) -> None:
    again = cut_while_waiting(seconds=3600)
    again.clock.now = 1000 + later
    assert again.run().phase is RunPhase.SUCCESS
    assert begins(again)["S1/2"] - 1000 == begun


def test_a_crash_before_a_hopeless_refusal_was_answered_does_not_stop_the_next_start() -> None:
    whole = Simulation(plan_of([story("S1")]), performer=refused(1, seconds=7 * HOUR // 1000))
    whole.run()
    again = Simulation(whole.plan)
    again.store.log = whole.store.log[: whole.store.log.index(whole.of(EventKind.RUN_PAUSED)[0])]
    assert again.run().phase is RunPhase.SUCCESS


@each(("hours", "most"), [(2, 1), (-1000, 11)])
def test_a_laptop_s_sleep_counts_as_waiting_and_a_clock_that_was_set_back_does_not_prolong_it(
    hours: int, most: int
) -> None:
    limits = Limits(wait_max_minutes=Minutes.of(20), run_max_attempts=100)
    run = Simulation(plan_of([story("S1")]), limits=limits, performer=refused(1, seconds=600), polls=True)

    def move(state: RunState, now: int) -> None:
        if state.wait_until:
            run.clock.wall += hours * HOUR
            run.heard = lambda state, now: None

    run.heard = move
    assert run.run().phase is RunPhase.SUCCESS
    assert run.clock.now <= most * 60_000


def test_an_hour_in_which_a_person_was_asked_shortens_no_wait_that_comes_later() -> None:
    plan, policy = plan_of([story("S1"), story("S2", needs=["S1"])]), Policy(gates=("result",))
    run = Simulation(plan, policy=policy, attended=True, performer=refused(1, seconds=600, name="S2"))
    run.answers = lambda question: "validate" if run.clock.now > HOUR else None
    run.wakes = lambda state: HOUR + 1 if state.open_questions() and run.clock.now <= HOUR else None
    assert run.run().phase is RunPhase.SUCCESS
    assert begins(run)["S2/1"] >= HOUR
    assert begins(run)["S2/2"] - begins(run)["S2/1"] >= 600_000 + MARGIN_MS


@each("reason", [Reason.AGENT_NOT_SIGNED_IN, Reason.AGENT_MODEL_NOT_FOUND, Reason.AGENT_DENIED])
def test_what_a_person_must_mend_blocks_the_run_costs_no_attempt_and_no_other_story_begins(reason: Reason) -> None:
    plan = plan_of([story(f"S{n}") for n in range(1, 5)])
    run = Simulation(plan, performer=refused(1, reason), policy=Policy(keep_going=True))
    state = run.run()
    assert (state.phase, state.reason, exit_code(state)) == (RunPhase.BLOCKED, reason, 10)
    assert (state.attempts, state.counted) == (1, 0)
    (blocked,) = run.of(EventKind.STORY_BLOCKED)
    assert blocked.context["message"] == "so it is"
    assert blocked.context.get("hint", "") == ("agent login" if reason is Reason.AGENT_NOT_SIGNED_IN else "")
    assert run.run().phase is RunPhase.SUCCESS
    assert run.done() == ["S1", "S2", "S3", "S4"]
    assert run.run().counted == 4


def refusals(seed: int, plan_size: int = 8) -> Callable[[int], Simulation]:
    """Runs of one random plan in which the service refuses now and then; at most four times a story."""
    random = Random(seed)
    plan = random_plan(random, most=plan_size)
    told: dict[tuple[str, int], tuple[Reason | None, int | None]] = {}
    for one in plan.stories:
        for attempt in range(1, random.choice((1, 1, 2, 4)) + 1):
            reason = random.choice((LIMITED, AWAY)) if random.random() < 0.6 else None
            if reason is None:
                break
            told[one.id, attempt] = reason, random.choice((None, None, 1, 60, 900))

    def made(jobs: int) -> Simulation:
        chance = Random(seed + jobs)
        performer = SimulatedPerformer(
            fails=lambda name, attempt: told.get((name, attempt), (None, None))[0],
            waits=lambda name, attempt: told.get((name, attempt), (None, None))[1],
        )
        took: dict[str, int] = {}

        def duration(step: Step) -> int:
            return took.setdefault(step.id, chance.randint(1, 90_000) if isinstance(step, Attempt) else 5)

        return Simulation(plan, jobs=jobs, performer=performer, duration=duration)

    return made


def states(run: Simulation) -> list[tuple[Event, RunState]]:
    """The log once more, with the state before each event."""
    import copy

    fold = Fold(initial(run.plan, followed(run.plan)))
    found = []
    for event in run.store.log:
        found.append((event, copy.deepcopy(fold.state)))
        fold.apply(event)
    return found


@each("seed", range(16))
def test_refusals_cost_no_attempt_nothing_begins_during_a_wait_and_waiting_is_bounded(seed: int) -> None:
    made = refusals(seed)
    for jobs in (1, 4):
        run = made(jobs)
        state = run.run()
        assert state.phase is RunPhase.SUCCESS
        assert run.done() == [one.id for one in run.plan.stories]
        assert all(one.counted == 1 for one in state.stories.values())
        bound = int(run.limits.wait_max_minutes)
        for event, before in states(run):
            assert before.wait_ms <= bound
            if event.event is EventKind.ATTEMPT_STARTED:
                assert before.wait_until is None
                assert before.refusal is None


@each("seed", range(8))
def test_death_at_any_event_of_a_run_that_waits_ends_like_an_uninterrupted_one(seed: int) -> None:
    """Promise 4, with waits: the same completions, and no attempt is spent by a wait."""
    made = refusals(seed, plan_size=5)
    whole = made(2)
    whole.run()
    for cut in range(1, len(whole.store.log)):
        again = made(2)
        again.store.log = whole.store.log[:cut]
        again.clock.now = ms_of(whole.store.log[cut - 1].timestamp) - whole.clock.wall
        again.interrupt()
        state = again.run()
        assert state.phase is RunPhase.SUCCESS
        assert again.done() == [one.id for one in again.plan.stories]
        spent = sum(event.context.get("reason") == Reason.INTERRUPTED for event in again.of(EventKind.ATTEMPT_ENDED))
        assert state.counted == len(again.plan.stories) + spent
