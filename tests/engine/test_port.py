"""What the core relies on of any engine: the one that runs steps, and the one that its simulation puts in that place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from santiago.contract.ports.engine import Engine
from santiago.engine.threads import ThreadsEngine
from santiago.simulation.world import EventEngine, VirtualClock
from tests.engine.works import LONG_MS, Works, at_once, begin, outcome, promptly, step

Make = Callable[[int], Engine]


def _simulated(jobs: int) -> Engine:
    return EventEngine(jobs, VirtualClock(), lambda step: 1000 - int(step.id.split("/")[1][1:]), Works())


def _threads(jobs: int) -> Engine:
    return ThreadsEngine(jobs, Works())


@pytest.fixture(params=[_threads, _simulated], ids=["threads", "simulated"])
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


def test_a_step_takes_a_place_until_its_outcome_is_fetched(make: Make) -> None:
    engine = make(2)
    assert engine.capacity() == 2
    begin(engine, 1, at_once(1))
    assert engine.capacity() == 1
    begin(engine, 2, at_once(2))
    assert engine.capacity() == 0
    assert engine.wait(LONG_MS) is not None
    assert engine.capacity() == 1
    assert engine.wait(LONG_MS) is not None
    assert engine.capacity() == 2


def test_every_one_of_many_steps_comes_back_once_and_with_its_own_outcome(make: Make) -> None:
    engine = make(4)
    waiting = list(range(300))
    results: dict[str, object] = {}
    for _ in range(300):
        while waiting and engine.capacity():
            number = waiting.pop()
            begin(engine, number, at_once(number))
        finished = engine.wait(LONG_MS)
        assert finished is not None, f"{len(results)} came"
        results[finished[0].id] = finished[1]
    assert results == {step(number).id: outcome(number) for number in range(300)}
    assert engine.wait(0) is None
    assert engine.capacity() == 4


def test_a_wait_with_nothing_under_way_gives_nothing_when_its_time_is_up(make: Make) -> None:
    engine = make(1)
    assert promptly(lambda: engine.wait(0)) is None
    assert promptly(lambda: engine.wait(1)) is None
    assert engine.capacity() == 1


def test_a_step_that_came_back_may_be_begun_again(make: Make) -> None:
    engine = make(1)
    for _ in range(2):
        begin(engine, 1, at_once(1))
        assert engine.wait(LONG_MS) == (step(1), outcome(1))


def test_a_closed_engine_holds_nothing_any_more(make: Make) -> None:
    engine = make(2)
    begin(engine, 1, at_once(1))
    begin(engine, 2, at_once(2))
    promptly(engine.close)
    assert engine.capacity() == 2
    assert engine.wait(0) is None
    promptly(engine.close)
    assert engine.capacity() == 2, "closing twice is closing once"


def test_an_engine_knows_nothing_of_steps_that_it_was_not_given(make: Make) -> None:
    """An earlier start's threads ended with it: its steps are for recovery."""
    engine = make(2)
    assert engine.attach(["attempt/S1/1", step(1).id]) == []
    assert engine.capacity() == 2
    assert not engine.known()
    assert not engine.late()


def test_what_this_process_carries_out_is_not_let_go(make: Make) -> None:
    """Only what workers have goes on without the coordinator; the rest still comes back."""
    engine = make(1)
    begin(engine, 1, at_once(1))
    assert list(engine.detach()) == []
    assert not engine.known()
    assert list(engine.workers()) == []
    assert engine.wait(LONG_MS) == (step(1), outcome(1))
