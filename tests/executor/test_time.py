"""Execution time: counted once, by a clock that the wall clock cannot move, also where a start was killed (promise 5)."""

from random import Random
from typing import Literal

from santiago.contract.fold import fold_all
from santiago.contract.phases import ENDED
from santiago.contract.ports.engine import Sign
from santiago.contract.state import RunState
from santiago.contract.steps import Step
from santiago.executor.recover import lasted, unseen
from santiago.simulation.random_plans import plan_of, random_plan, story
from santiago.simulation.world import Simulation
from tests.util.each import each

HOUR = 3_600_000


class KilledError(Exception):
    """The end of a start that nobody sees coming."""


@each("seed", range(60))
def test_what_a_killed_start_used_is_counted_to_its_last_sign_whatever_the_wall_clock_showed(seed: int) -> None:
    random, signs, begun = Random(seed), list[Sign](), dict[str, int]()
    looks = random.randint(1, 40)

    def duration(step: Step) -> int:
        begun[step.id] = run.clock.now
        return random.randint(1, 20_000)

    def heard(state: RunState, now: int) -> Literal["soon", "now"] | None:
        run.clock.wall += random.randint(-10 * HOUR, 10 * HOUR)
        if len(signs) == looks and state.phase not in ENDED:
            raise KilledError
        return None

    run = Simulation(random_plan(random), jobs=random.choice((1, 3)), duration=duration, heard=heard, beat=signs.append)
    try:
        run.run()
    except KilledError:
        state = fold_all(run.plan, run.store.log)
        told = sum(fact.context["ms"] for fact in unseen(state, signs[-1]))
        assert state.used_ms + told == run.clock.now
        for one in (state.stories[name] for name in state.running):
            assert lasted(state, one, signs[-1], 10 * HOUR) == run.clock.now - begun[f"attempt/{one.id}/{one.attempts}"]


def test_without_a_sign_an_attempt_lasted_as_long_as_time_is_recorded_and_never_longer_than_it_may() -> None:
    state = Simulation(plan_of([story("S1")])).run()
    one = state.stories["S1"]
    state.used_ms, one.begun_ms = 45_000, 15_000
    assert lasted(state, one, None, HOUR) == 30_000
    assert lasted(state, one, Sign(used_ms=0, steps={}), HOUR) == 30_000
    assert lasted(state, one, None, 20_000) == 20_000
    assert lasted(state, one, Sign(used_ms=0, steps={"attempt/S1/1": 50 * HOUR}), HOUR) == HOUR
