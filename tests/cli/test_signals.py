"""What signals ask of a run: a stop at the next safe boundary, a stop at once, or nothing."""

from __future__ import annotations

import os
import signal

from santiago.app.start.signals import heard, strays_ignored
from santiago.executor.loop import Urgency


def test_the_first_signal_asks_for_a_stop_and_a_second_one_for_a_stop_at_once() -> None:
    hup, term, key = signal.SIGHUP, signal.SIGTERM, signal.SIGINT
    for sent, at_once in (
        ([hup], False), ([hup, hup], False), ([term, hup], False), ([hup, term], True), ([term, term, hup], True),
        ([key, key], True), ([signal.SIGQUIT], True),
    ):  # fmt: skip
        urgency, came = Urgency(), list[int]()
        before = {number: signal.getsignal(number) for number in sent}
        with heard(urgency, came):
            for number in sent:
                os.kill(os.getpid(), number)
        assert (urgency.asked, urgency.at_once, urgency.signal, came) == (True, at_once, sent[0].name, sent)
        assert {number: signal.getsignal(number) for number in sent} == before


def test_signals_without_a_meaning_end_nothing() -> None:
    with strays_ignored():
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR2)
