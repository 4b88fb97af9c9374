"""Tokens and money: every ending's usage is counted once, unknown stays unknown, and limits hold in parallel too."""

from random import Random

from santiago.cli.running import exit_code
from santiago.contract.events import EventKind
from santiago.contract.outcomes import Usage
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes, Usd
from santiago.contract.reasons import Reason
from santiago.contract.result import Result
from santiago.contract.state import RunState
from santiago.contract.steps import Attempt, Step
from santiago.executor.recover import Left, interruptions
from santiago.executor.reopen import Grants
from santiago.executor.tally import result, usage_of
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import SimulatedPerformer, Simulation
from tests.util.each import each


def limits(tokens: int | None = None, cost: float | None = None, attempts: int = 10_000) -> Limits:
    return Limits(
        run_max_tokens=tokens,
        run_max_cost_usd=None if cost is None else Usd.of(cost),
        run_max_attempts=attempts,
        run_timeout_minutes=Minutes.of(1e6),
    )


def using(*figures: tuple[int | None, float | None]) -> SimulatedPerformer:
    """Agents whose first, second and further attempts use this much each."""
    usages = [Usage(tokens=tokens, cost_usd=None if cost is None else Usd.of(cost)) for tokens, cost in figures]
    return SimulatedPerformer(uses=lambda name, attempt: usages[min(attempt, len(usages)) - 1])


def told(run: Simulation, state: RunState) -> Result:
    return result(run.plan, state, None)


def test_what_a_voided_attempt_used_is_counted_too_and_nothing_is_paid_twice() -> None:
    performer = using((100, 0.5), (10, 0.25))
    performer.fails = lambda name, attempt: Reason.AGENT_UNAVAILABLE if attempt == 1 else None
    state = Simulation(plan_of([story("S1")]), performer=performer).run()
    assert (state.counted, state.tokens, state.cost_micro_usd) == (1, 110, 750_000)
    assert (state.stories["S1"].tokens, state.stories["S1"].cost_micro_usd) == (110, 750_000)
    performer = using((100, 0.5))
    performer.conflicts = {"S1": 2}  # voided at its integration
    state = Simulation(plan_of([story("S1")]), performer=performer).run()
    assert (state.stories["S1"].attempts, state.tokens, state.unreported, state.unpriced) == (3, 300, 0, 0)


def test_unknown_stays_unknown_and_the_known_part_is_said() -> None:
    performer = using((100, None), (10, 0.25))
    performer.fails = lambda name, attempt: Reason.AGENT_TIMEOUT if attempt == 1 and name == "S1" else None
    run = Simulation(plan_of([story("S1"), story("S2")]), performer=performer)
    found = told(run, run.run())
    total, (first, second) = found.usage, found.stories
    assert (total.tokens, total.cost_usd) == (210, None)
    assert (total.known_tokens, total.known_cost_usd, total.unreported, total.unpriced) == (210, Usd.of(0.25), 0, 2)
    assert (first.tokens, first.cost_usd, first.known_cost_usd, first.unpriced) == (110, None, Usd.of(0.25), 1)
    assert (second.tokens, second.cost_usd, second.known_cost_usd, second.unpriced) == (100, None, Usd(0), 1)


def test_what_is_known_of_every_attempt_is_a_total_and_nothing_attempted_is_nothing_used() -> None:
    run = Simulation(plan_of([story("S1"), story("S2", claimed_done=True)]), performer=using((100, 0.0)))
    found = told(run, run.run())
    assert (found.usage.tokens, found.usage.cost_usd) == (100, Usd(0))
    assert (found.stories[1].tokens, found.stories[1].cost_usd) == (0, Usd(0))


def test_an_attempt_that_a_crash_interrupted_used_nobody_knows_what() -> None:
    whole = Simulation(plan_of([story("S1")]), performer=using((100, 0.5)))
    whole.run()
    begun = next(n for n, event in enumerate(whole.store.log) if event.event is EventKind.ATTEMPT_STARTED)
    again = Simulation(whole.plan, performer=using((100, 0.5)))
    again.store.log = whole.store.log[: begun + 1]
    again.interrupt()
    state = again.run()
    usage = usage_of(state)
    assert (usage.tokens, usage.known_tokens, usage.unreported, usage.unpriced) == (None, 100, 1, 1)


def test_an_interrupted_attempt_whose_agent_had_ended_used_what_it_said() -> None:
    state = Simulation(plan_of([story("S1")])).run()
    state.running.add("S1")
    (fact,) = interruptions(state, {"S1": Left(usage=Usage(tokens=7, cost_usd=Usd(9)))})
    assert (fact.context["tokens"], fact.context["cost_micro_usd"]) == (7, 9)


# Limits


@each("jobs", [1, 8])
def test_the_run_s_attempts_are_a_hard_limit_also_for_those_that_begin_at_once(jobs: int) -> None:
    run = Simulation(plan_of([story(f"S{n}") for n in range(1, 9)]), jobs=jobs, limits=limits(attempts=3))
    state = run.run()
    assert (state.phase, state.reason, state.attempts) == (RunPhase.FAILED, Reason.ATTEMPT_BUDGET_EXHAUSTED, 3)
    assert run.done() == ["S1", "S2", "S3"]


@each("jobs", [1, 8])
def test_without_keep_going_one_story_rests_when_the_run_s_budget_is_spent(jobs: int) -> None:
    plan = plan_of([story("S1"), *(story(f"S{n}", needs=["S1"]) for n in range(2, 9))])
    state = Simulation(plan, jobs=jobs, limits=limits(tokens=10), performer=using((10, None))).run()
    assert (state.phase, state.reason) == (RunPhase.FAILED, Reason.COST_BUDGET_EXHAUSTED)
    assert sorted(state.failed) == ["S2"]


@each(("most", "begun"), [(100, 1), (199, 1), (200, 2), (250, 2)])
def test_nothing_begins_that_the_limit_does_not_suffice_for(most: int, begun: int) -> None:
    plan = plan_of([story(f"S{n}") for n in range(1, 6)])
    run = Simulation(plan, limits=limits(tokens=most), performer=using((100, None)))
    state = run.run()
    assert (state.attempts, state.reason, exit_code(state)) == (begun, Reason.COST_BUDGET_EXHAUSTED, 30)
    assert run.run(Grants(tokens=100)).attempts == begun + 1


def test_attempts_under_way_reserve_what_the_largest_so_far_used() -> None:
    """The first tells that an attempt uses 100; of the four that follow, two fit into the 201 that are left."""
    plan = plan_of([story("S1"), *(story(f"S{n}", needs=["S1"]) for n in range(2, 6))])
    flying: list[int] = []

    def duration(step: Step) -> int:
        flying.append(sum(isinstance(entry[2].step, Attempt) for entry in run.engine.heap) + 1)
        return 1000

    performer = SimulatedPerformer(uses=lambda name, attempt: Usage(tokens=100 if name == "S1" else 1))
    run = Simulation(plan, jobs=4, limits=limits(tokens=301), performer=performer, duration=duration)
    state = run.run()
    assert (state.phase, state.tokens) == (RunPhase.SUCCESS, 104)
    assert max(flying) == 2


@each("seed", range(150))
def test_a_limit_is_passed_by_what_attempts_used_beyond_their_reservation_at_the_most(seed: int) -> None:
    """Recomputed from the log alone: an attempt begins only where it and those under way fit with the largest so far."""
    random = Random(seed)
    plan, jobs, most = random_plan(random), random.choice((1, 2, 4, 8)), random.randint(1, 600)
    figures = {(one.id, n): random.randint(0, 120) for one in plan.stories for n in range(1, 9)}
    bad = {key for key in figures if random.random() < 0.3}
    endings = (Reason.STORY_VERIFICATION_FAILED, Reason.AGENT_UNAVAILABLE)
    reasons = {key: random.choice(endings) for key in sorted(bad) if key[1] < 4}
    chance = Random(seed)
    performer = SimulatedPerformer(
        fails=lambda name, attempt: reasons.get((name, attempt)),
        uses=lambda name, attempt: Usage(tokens=figures[name, attempt]),
    )
    run = Simulation(
        plan, jobs=jobs, performer=performer, limits=limits(tokens=most),
        duration=lambda step: chance.randint(1, 5000) if isinstance(step, Attempt) else 1,
    )  # fmt: skip
    state = run.run()
    spent, largest, under_way = 0, 0, dict[str, int]()
    beyond = 0
    for event in run.store.log:
        name = event.story_id or ""
        if event.event is EventKind.ATTEMPT_STARTED:
            under_way[name] = event.attempt or 0
            assert spent < most
            assert spent + len(under_way) * largest <= most
            assert len(under_way) <= jobs
            beyond = sum(max(0, figures[key] - largest) for key in under_way.items())
        elif name in under_way and event.event in (EventKind.ATTEMPT_ENDED, EventKind.ATTEMPT_VOIDED):
            used = figures[name, under_way.pop(name)]
            spent, largest = spent + used, max(largest, used)
    assert spent == state.tokens
    assert spent <= most + beyond
    assert state.phase is RunPhase.SUCCESS or state.reason == Reason.COST_BUDGET_EXHAUSTED or state.failed


# Unknown usage under a limit


def test_a_limit_and_an_agent_that_does_not_say_what_it_used_blocks_the_run_until_the_limit_is_raised() -> None:
    plan = plan_of([story("S1"), story("S2"), story("S3")])
    run = Simulation(plan, jobs=1, limits=limits(cost=5), performer=using((100, None)))
    state = run.run()
    assert (state.phase, state.reason, exit_code(state)) == (RunPhase.BLOCKED, Reason.USAGE_UNKNOWN, 10)
    assert (state.attempts, run.done()) == (1, ["S1"])
    (blocked,) = run.of(EventKind.STORY_BLOCKED)
    assert (blocked.story_id, blocked.context["limit"]) == ("S2", "run_max_cost_usd")
    assert state.stories["S3"].phase is StoryPhase.READY
    state = run.run()
    assert (state.phase, state.reason, state.attempts) == (RunPhase.BLOCKED, Reason.USAGE_UNKNOWN, 1)
    state = run.run(Grants(cost_micro_usd=1))
    assert (state.phase, state.attempts) == (RunPhase.BLOCKED, 2)  # what it did not say since is not accepted


def test_unknown_usage_can_be_allowed_and_only_the_figure_that_is_limited_must_be_known() -> None:
    plan, allow = plan_of([story("S1"), story("S2")]), Policy(unknown_usage="allow")
    for limit, used, policy in (
        (limits(cost=5), (1, None), allow),
        (limits(tokens=500), (1, None), Policy()),
        (limits(cost=5), (None, 0.1), Policy()),
    ):
        assert Simulation(plan, limits=limit, performer=using(used), policy=policy).run().phase is RunPhase.SUCCESS


def test_under_a_limit_the_first_attempt_runs_alone_and_shows_what_one_costs() -> None:
    plan = plan_of([story(f"S{number}") for number in range(1, 9)])
    under_way, most = 0, 0
    run = Simulation(plan, jobs=8, performer=using((100, 0.5)), limits=limits(cost=1.0), policy=Policy(optimistic=True))
    state = run.run()
    for event in run.store.log:
        under_way += (event.event is EventKind.ATTEMPT_STARTED) - (event.event is EventKind.ATTEMPT_ENDED)
        most = max(most, under_way)
    assert (most, state.cost_micro_usd) == (1, 1_000_000)
