"""Waiting for the agent's service: how long, until when, and when it has lasted long enough. Pure: time is passed in.

A wait begins at the ending that asked for it and ends by the wall clock, so that a crash, a resume or a laptop's sleep in
between changes nothing. If that clock is set back meanwhile, it ends once it has lasted as long as it was to last.
"""

from __future__ import annotations

from typing import NamedTuple

from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.moments import ms_of, text_of
from santiago.contract.policy import Limits
from santiago.contract.reasons import Reason
from santiago.contract.state import Refusal, RunState
from santiago.executor.budget import MAX_UNCOUNTED

MARGIN_MS = 1_500
"""Added to a time that the service named, since its clock may differ from ours."""
_BACK_OFF = {
    Reason.AGENT_RATE_LIMITED: (60_000, 60 * 60_000),
    Reason.AGENT_UNAVAILABLE: (5_000, 5 * 60_000),
}
"""Where no time was named: the first wait, and the longest. Each is four times the one before: five endings of a story
are not counted, and together they should outlast an overload or an hour's limit."""


class Hopeless(NamedTuple):
    """A refusal against which waiting cannot help, or not any longer."""

    reason: Reason
    story: str
    limit: str
    """Name of the limit on waiting that was reached; empty if waiting could not help at all."""
    message: str


def answer(state: RunState, limits: Limits) -> Fact | Hopeless | None:
    """Return what follows from the latest refusal: a wait, or `Hopeless`; None if nothing was refused."""
    refusal = state.refusal
    if refusal is None:
        return None
    reason = refusal.reason
    if reason is Reason.AGENT_UNAVAILABLE and refusal.ms == 0:
        return Hopeless(reason, refusal.story, "", refusal.message)
    if state.stories[refusal.story].uncounted >= MAX_UNCOUNTED:
        return Hopeless(reason, refusal.story, "uncounted endings", refusal.message)
    begins = ms_of(refusal.at)
    until = begins + _length(refusal, state.waits)
    if state.wait_until is not None:
        begins = ms_of(state.wait_until)  # one wait for all, to the latest time
        until = max(until, begins)
    if state.wait_ms + until - begins > int(limits.wait_max_minutes):
        return Hopeless(reason, refusal.story, "wait_max_minutes", refusal.message)
    return of_run(EventKind.WAIT_STARTED, until=text_of(until), ms=until - begins, reason=reason)


def _length(refusal: Refusal, waits: int) -> int:
    if refusal.ms is not None:
        return refusal.ms + MARGIN_MS
    first, most = _BACK_OFF[refusal.reason]
    return min(first << min(2 * waits, 16), most)


def is_over(state: RunState, utc: str, waited_ms: int) -> bool:
    """Tell whether the wait is over: by the wall clock, or because nothing else happened for as long as it was to last."""
    if state.wait_until is None:
        return False
    return ms_of(utc) >= ms_of(state.wait_until) or waited_ms >= state.wait_length_ms


def ended(waited_ms: int) -> Fact:
    """Return the end of a wait, with the time in which nothing else happened."""
    return of_run(EventKind.WAIT_ENDED, ms=waited_ms)
