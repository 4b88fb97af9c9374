"""Steps with work that ends at once, and work that ends when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TypeVar

from santiago.contract.outcomes import IntegrationOutcome, Outcome
from santiago.contract.ports.engine import Engine
from santiago.contract.ports.run import Stop
from santiago.contract.steps import Integrate, Order, Step

T = TypeVar("T")

SECONDS = 60
LONG_MS = SECONDS * 1000
"""How long something is waited for that must come; nothing but a defect makes it pass."""


def step(number: int) -> Step:
    return Integrate(story=f"S{number}", attempt=1, commit="0" * 40)


def order(number: int) -> Order:
    return Order(step=step(number), run_id="run-1", head="", base="", began="", anchor="")


class Works:
    """Carries out each order as it was told to beforehand."""

    def __init__(self) -> None:
        self.of: dict[str, Callable[[], IntegrationOutcome]] = {}
        self.stops: dict[str, Stop] = {}

    def perform(self, order: Order, stop: Stop) -> Outcome:
        self.stops[order.id] = stop
        return self.of.pop(order.id)()


def begin(engine: Engine, number: int, work: Callable[[], IntegrationOutcome]) -> None:
    """Submit an order whose work is this."""
    engine.performer.of[step(number).id] = work  # type: ignore[attr-defined]  # every engine of these tests has one
    engine.submit(order(number))


def outcome(number: int) -> IntegrationOutcome:
    return IntegrationOutcome(step=step(number).id, story=f"S{number}", head=f"head {number}")


def at_once(number: int) -> Callable[[], IntegrationOutcome]:
    return lambda: outcome(number)


class Gated:
    """The work of one step, which begins and then stands still until its gate opens."""

    def __init__(self, number: int, error: BaseException | None = None) -> None:
        self.number, self.error = number, error
        self.begun, self.gate = threading.Event(), threading.Event()

    def __call__(self) -> IntegrationOutcome:
        self.begun.set()
        assert self.gate.wait(SECONDS)
        if self.error is not None:
            raise self.error
        return outcome(self.number)


def under_way(engine: Engine, *works: Gated) -> None:
    """Submit works, and return when all of them have begun."""
    for work in works:
        begin(engine, work.number, work)
    assert all(work.begun.wait(SECONDS) for work in works)


@contextmanager
def threads_of_the_block() -> Iterator[Callable[[], list[threading.Thread]]]:
    """Give a function that returns the threads begun since then that are still there."""
    before = set(threading.enumerate())
    yield lambda: [thread for thread in threading.enumerate() if thread not in before]


def promptly(call: Callable[[], T]) -> T:
    """Return what a call returns; where it hangs, the test fails instead of hanging with it."""
    returned: SimpleQueue[T] = SimpleQueue()
    threading.Thread(target=lambda: returned.put(call()), daemon=True).start()
    try:
        return returned.get(timeout=SECONDS)
    except Empty:
        raise AssertionError("it does not return") from None
