"""Steps in threads: the work itself happens in supervised processes, so threads are enough to wait for it."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.outcomes import Outcome
    from santiago.contract.steps import Step


class ThreadsEngine:
    """At most `jobs` steps at a time, each in a thread of its own."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.running: dict[str, threading.Thread] = {}
        self.finished: SimpleQueue[tuple[Step, Outcome | BaseException]] = SimpleQueue()

    def capacity(self) -> int:
        return max(0, self.jobs - len(self.running))

    def submit(self, step: Step, work: Callable[[], Outcome]) -> None:
        thread = threading.Thread(target=self._run, args=(step, work), name=step.id, daemon=True)
        thread.start()  # before it counts: one that the system refuses would hold its place for ever, and `close` with it
        self.running[step.id] = thread

    def _run(self, step: Step, work: Callable[[], Outcome]) -> None:
        result: Outcome | BaseException
        try:
            result = work()
        except BaseException as error:  # it belongs to whoever waits for the step
            result = error
        self.finished.put((step, result))

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        try:
            step, result = self.finished.get(timeout=timeout_ms / 1000)
        except Empty:
            return None
        self.running.pop(step.id).join()
        return step, result

    def close(self) -> None:
        while self.running:
            self.wait(1000)
