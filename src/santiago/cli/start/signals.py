"""Signals from outside while a run works: the first asks for a stop at the next boundary, the second for one at once."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.executor.loop import Urgency


@contextmanager
def heard(urgency: Urgency, came: list[int]) -> Iterator[None]:
    """Pass on what the signals ask for, and note them in the order in which they came."""

    def handle(number: int, frame: object) -> None:
        came.append(number)
        urgency.at_once = urgency.asked
        urgency.asked = True
        urgency.signal = urgency.signal or signal.Signals(number).name

    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
