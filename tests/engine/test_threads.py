"""Steps in threads: really at once, never lost, and nothing of them is left when their outcome is there."""

from __future__ import annotations

import threading

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.outcomes import IntegrationOutcome
from santiago.engine.threads import ThreadsEngine
from tests.engine.works import (
    LONG_MS,
    SECONDS,
    Gated,
    Works,
    at_once,
    begin,
    outcome,
    promptly,
    step,
    threads_of_the_block,
    under_way,
)


def test_as_many_steps_as_there_are_places_run_at_the_same_time() -> None:
    engine, meeting = ThreadsEngine(4, Works()), threading.Barrier(4)

    def meets() -> IntegrationOutcome:
        meeting.wait(SECONDS)  # it breaks for all of them where one is missing
        return outcome(1)

    for number in range(4):
        begin(engine, number, meets)
    came = [engine.wait(LONG_MS) for _ in range(4)]
    assert [result for _, result in filter(None, came)] == [outcome(1)] * 4


def test_a_step_beyond_the_places_is_begun_all_the_same_and_there_is_never_less_than_no_place() -> None:
    """The core puts integration before new attempts, also where every place is taken."""
    engine, works = ThreadsEngine(1, Works()), [Gated(1), Gated(2)]
    under_way(engine, *works)
    assert engine.capacity() == 0
    works[0].gate.set()
    assert engine.wait(LONG_MS) == (step(1), outcome(1))
    assert engine.capacity() == 0, "the other one still has the only place"
    works[1].gate.set()
    assert engine.wait(LONG_MS) == (step(2), outcome(2))
    assert engine.capacity() == 1


def test_outcomes_come_in_the_order_in_which_steps_end() -> None:
    engine, works = ThreadsEngine(3, Works()), {number: Gated(number) for number in (1, 2, 3)}
    under_way(engine, *works.values())
    for number in (3, 1, 2):
        works[number].gate.set()
        assert engine.wait(LONG_MS) == (step(number), outcome(number))


@pytest.mark.parametrize(
    "error",
    [ValueError("a defect"), SantiagoError(Kind.TRANSIENT, "the disk is full"), KeyboardInterrupt(), SystemExit(3)],
    ids=lambda error: type(error).__name__,
)
def test_a_step_that_raises_comes_back_as_its_exception_and_gives_up_its_place(
    error: BaseException, capfd: pytest.CaptureFixture[str]
) -> None:
    engine, bad, good = ThreadsEngine(2, Works()), Gated(1, error), Gated(2)
    under_way(engine, bad, good)
    bad.gate.set()
    finished = engine.wait(LONG_MS)
    assert finished is not None
    assert finished[0] == step(1)
    assert finished[1] is error
    assert engine.capacity() == 1
    good.gate.set()
    assert engine.wait(LONG_MS) == (step(2), outcome(2)), "the others do not mind"
    assert capfd.readouterr() == ("", ""), "the one who waits is told, nobody else"


def test_a_wait_that_runs_out_of_time_leaves_the_step_under_way() -> None:
    engine, work = ThreadsEngine(1, Works()), Gated(1)
    under_way(engine, work)
    assert promptly(lambda: engine.wait(0)) is None
    assert promptly(lambda: engine.wait(1)) is None
    assert engine.capacity() == 0
    work.gate.set()
    assert engine.wait(LONG_MS) == (step(1), outcome(1))


def test_what_ends_while_nobody_waits_is_kept_until_somebody_asks() -> None:
    engine, error = ThreadsEngine(50, Works()), ValueError("a defect")
    with threads_of_the_block() as alive:
        for number in range(49):
            begin(engine, number, at_once(number))
        bad = Gated(49, error)
        bad.gate.set()
        begin(engine, 49, bad)
        for thread in alive():
            thread.join(SECONDS)
        assert alive() == []
    assert engine.capacity() == 0, "a place is free when the outcome is fetched, not before"
    came = [engine.wait(0) for _ in range(50)]
    results = {finished[0].id: finished[1] for finished in came if finished}
    assert results == {step(number).id: outcome(number) for number in range(49)} | {step(49).id: error}


def test_the_thread_of_a_step_is_over_when_its_outcome_is_there() -> None:
    order: list[str] = []

    class Lingering(Gated):
        """Work that keeps its thread for a while after it returned: letting go of it takes time."""

        def __del__(self) -> None:
            order.append(threading.current_thread().name)
            threading.Event().wait(0.05)  # time enough for a wait that does not care
            order.append("let go")

    engine, work = ThreadsEngine(1, Works()), Lingering(1)
    gate = work.gate
    with threads_of_the_block() as alive:
        begin(engine, 1, work)
        del work  # the thread alone has it now
        gate.set()
        assert engine.wait(LONG_MS) == (step(1), outcome(1))
        assert alive() == []
    assert order == [step(1).id, "let go"]


def test_closing_waits_for_what_is_under_way_and_drops_what_came_of_it() -> None:
    engine, works = ThreadsEngine(3, Works()), [Gated(1), Gated(2, ValueError("a defect")), Gated(3)]
    order: list[str] = []

    def last() -> IntegrationOutcome:
        result = works[2]()
        order.append("the last step ended")
        return result

    def close() -> None:
        engine.close()
        order.append("closed")

    under_way(engine, *works[:2])
    begin(engine, 3, last)
    with threads_of_the_block() as alive:
        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        for work in works:
            closing.join(0.05)  # time enough for a close that does not wait
            work.gate.set()
        closing.join(SECONDS)
        assert order == ["the last step ended", "closed"]
        assert alive() == []
    assert engine.capacity() == 3
    assert engine.wait(0) is None


def test_a_thread_that_the_system_refuses_costs_no_place_and_closing_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = ThreadsEngine(1, Works())

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as refusing:
        refusing.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            begin(engine, 1, at_once(1))
    assert engine.capacity() == 1
    promptly(engine.close)
    begin(engine, 1, at_once(1))
    assert engine.wait(LONG_MS) == (step(1), outcome(1))
