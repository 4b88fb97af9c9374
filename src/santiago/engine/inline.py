"""The plainest engine: a step runs when it is waited for, one at a time."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.outcomes import Outcome
    from santiago.contract.steps import Step


class InlineEngine:
    def __init__(self) -> None:
        self.waiting: deque[tuple[Step, Callable[[], Outcome]]] = deque()

    def capacity(self) -> int:
        return 0 if self.waiting else 1

    def submit(self, step: Step, work: Callable[[], Outcome]) -> None:
        self.waiting.append((step, work))

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        if not self.waiting:
            time.sleep(timeout_ms / 1000)
            return None
        step, work = self.waiting.popleft()
        try:
            return step, work()
        except BaseException as error:  # it belongs to whoever waits for the step
            return step, error

    def close(self) -> None:
        self.waiting.clear()
