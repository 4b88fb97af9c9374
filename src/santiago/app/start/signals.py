"""Signals from outside while a run works: the first asks for a stop at the next boundary, the second for one at once."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from santiago.executor.loop import Urgency

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def strays_ignored() -> Iterator[None]:
    """Ignore signals that mean nothing here, and that would end the process without a message."""
    # With a handler, since started programs would inherit an ignored signal.
    with _handled(lambda *_: None, (signal.SIGUSR1, signal.SIGUSR2)):
        yield


@contextmanager
def heard(urgency: Urgency, came: list[int]) -> Iterator[None]:
    """Turn signals into requests to stop, and note them in the order in which they came."""

    def handle(number: int, _frame: object) -> None:
        came.append(number)
        # When a terminal is closed, SIGHUP comes more than once: from the system, and from the shell.
        again = urgency.asked and number != signal.SIGHUP
        urgency.at_once = urgency.at_once or again or number == signal.SIGQUIT
        urgency.asked = True
        urgency.signal = urgency.signal or signal.Signals(number).name

    wanted = [
        one for one in _STOPPING if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN
    ]  # as of nohup
    with _handled(handle, wanted):
        yield


@contextmanager
def _handled(handle: Callable[[int, object], None], numbers: Iterable[signal.Signals]) -> Iterator[None]:
    old = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
