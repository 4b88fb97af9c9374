"""Carries out orders in threads. The work itself happens in supervised processes, so threads are enough to wait for it."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from santiago.contract.ports.engine import WithoutWorkers
from santiago.contract.record import lean

if TYPE_CHECKING:
    from santiago.contract.outcomes import Outcome
    from santiago.contract.ports.run import Performer
    from santiago.contract.steps import Order, Step


@lean()
class Wish:
    """How urgently one step should end."""

    asked: bool = False
    at_once: bool = False

    def soon(self) -> bool:
        return self.asked or self.at_once

    def now(self) -> bool:
        return self.at_once


class ThreadsEngine(WithoutWorkers):
    """At most `jobs` orders at a time, each in a thread of its own."""

    def __init__(self, jobs: int, performer: Performer) -> None:
        self.jobs, self.performer = jobs, performer
        self.running: dict[str, tuple[threading.Thread, Wish]] = {}
        self.finished: SimpleQueue[tuple[Step, Outcome | BaseException]] = SimpleQueue()

    def capacity(self) -> int:
        return max(0, self.jobs - len(self.running))

    def submit(self, order: Order) -> None:
        wish = Wish()
        thread = threading.Thread(target=self._run, args=(order, wish), name=order.id, daemon=True)
        thread.start()  # started before it is counted: if the system refuses the thread, no place stays taken for ever
        self.running[order.id] = (thread, wish)

    def _run(self, order: Order, wish: Wish) -> None:
        result: Outcome | BaseException
        try:
            result = self.performer.perform(order, wish)
        except BaseException as error:  # `wait` hands it to its caller
            result = error
        self.finished.put((order.step, result))

    def stop(self, step: str, *, now: bool) -> None:
        if step in self.running:
            wish = self.running[step][1]
            wish.asked, wish.at_once = True, wish.at_once or now

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        try:
            step, result = self.finished.get(timeout=timeout_ms / 1000)
        except Empty:
            return None
        if step.id in self.running:  # else it was carried out elsewhere, and put here for the one who waits
            self.running.pop(step.id)[0].join()
        return step, result

    def close(self) -> None:
        for step in self.running:
            self.stop(step, now=True)
        while self.running:
            self.wait(1000)
