"""Endings: from how a process ended and what its stream says to one of the contract's reasons.

The exit code alone proves nothing: several agents exit 0 after an error, and some exit 1 after good work was stopped.
"""

from __future__ import annotations

import errno
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.agent.faults import reason_of as fault_of
from santiago.agent.stream import MOST_TEXT, Trouble
from santiago.agent.waits import wait_in
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AgentEnding, Usage
from santiago.contract.quantities import Usd
from santiago.contract.reasons import MEANINGS, Reason

if TYPE_CHECKING:
    from santiago.agent.profile import Profile
    from santiago.agent.stream import Reading
    from santiago.process.command import Report

_ASKED = pattern(r"^[*_`]{0,3}SANTIAGO_QUESTION:[ \t]*(\S.*)$", re.MULTILINE)
"""Matches only at the beginning of a line, since a critique that an agent repeats may quote earlier questions."""
MOST_QUESTION = 4_000
LAST_LINES = 5
"""How many last lines of a program's output are searched for its failure."""
_LIMITED = pattern(
    r"rate[ _-]?limit|too many requests|\b429\b|(?:usage|session|weekly|hourly|daily|your) limit|quota", re.IGNORECASE
)
"""Limits of a service, but not of time or memory."""
_EMPTY = pattern(
    r"credit balance is too low|exceeded your current quota|insufficient_quota|billing[ _]hard[ _]limit", re.IGNORECASE
)
"""An account without money, in the words of the services themselves; programs that count money have words of their own."""
_NOTHING = Usage(tokens=0, cost_usd=Usd(0))

_FATAL = frozenset({128 + signal for signal in (4, 6, 7, 8, 9, 11, 15)})
"""Exit codes with which a shell or a sandbox reports that a signal ended the program."""
_HIDDEN = frozenset({Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE, Reason.AGENT_NOT_SIGNED_IN})
"""Reasons for which an agent may retry until its time runs out."""
_TURNED_AWAY = frozenset({Reason.AGENT_NOT_SIGNED_IN, Reason.AGENT_MODEL_NOT_FOUND, Reason.AGENT_RATE_LIMITED})
"""Reasons that may concern the very first request, so that nothing was used."""


def ending_of(report: Report, reading: Reading, profile: Profile) -> AgentEnding:
    """Return what an agent's end means. Whether its work is good is decided elsewhere."""
    if not profile.on:
        reading = replace(reading, trouble=_trouble_in(report, profile))
    text = reading.message or last_words(report.tail or report.head, prose=bool(profile.on))
    question = question_in(reading.message or f"{report.head}\n{report.tail}")
    reason = _reason(report, reading, profile)
    if question and reason is None:
        reason = Reason.AGENT_ASKED
    trouble = reading.trouble
    words = report.error or (_said(reading) if reason is not None and trouble else "") or text
    return AgentEnding(
        reason=reason,
        exit_code=report.exit_code,
        message=words[-MOST_TEXT:],
        usage=_usage(report, reading, reason, bare=not profile.on),
        question=question,
        wait_seconds=_wait(report, reading, reason),
        session=reading.session,
        denials=tuple(reading.denials),
        remedy=_remedy(reason, profile, report),
    )


def _trouble_in(report: Report, profile: Profile) -> Trouble | None:
    """Return the rate limit or the empty account that a program without rules ended on.

    Only its last lines are read, and only where it failed. Words alone prove little, since a program may write about
    limits, so other refusals stay what they are: an exit code.
    """
    words = last_words(report.tail or report.head, LAST_LINES)
    if reason_of(report) not in (Reason.AGENT_EXIT_NONZERO, Reason.AGENT_TIMEOUT):
        return None
    fault = fault_of(None, words, profile)
    telling = (
        _LIMITED if fault is Reason.AGENT_RATE_LIMITED else _EMPTY if fault is Reason.AGENT_NOT_SIGNED_IN else None
    )
    return Trouble(words, None, wait_in(words), passing=False) if telling and telling.search(words) else None


def _usage(report: Report, reading: Reading, reason: Reason | None, *, bare: bool) -> Usage:
    """Return what was used. An agent that never began, or was refused before it did anything, used nothing."""
    closed = reading.ends is not None or not reading.added  # if the stream was cut, its last step is missing in the sum
    said = reading.usage(complete=closed and not report.log_dropped)
    idle = _never_began(report) or (reason in _TURNED_AWAY and not reading.actions and not bare)
    return _NOTHING if idle and said == Usage() else said


def question_in(text: str) -> str | None:
    """Return the question that the agent printed in the form that its prompt describes; None if there is none."""
    found = _ASKED.search(text)
    return found[1].strip()[:MOST_QUESTION] if found else None


def _reason(report: Report, reading: Reading, profile: Profile) -> Reason | None:
    plain = reason_of(report)
    fault = _fault(reading, profile)
    if plain is Reason.AGENT_TIMEOUT and fault in _HIDDEN:
        return fault  # the agent used its time up by retrying
    if plain not in (None, Reason.AGENT_EXIT_NONZERO):
        return plain
    if reading.refused and reading.ends != "error":
        return Reason.AGENT_REFUSED
    if reading.ends == "ok" and plain is None:
        return None
    if fault is not None:
        return fault
    if plain is None and reading.ends == "error":
        return Reason.AGENT_EXIT_NONZERO
    if plain is None and profile.closes and reading.ends is None:
        return Reason.AGENT_UNAVAILABLE  # the stream was cut
    return plain


def _fault(reading: Reading, profile: Profile) -> Reason | None:
    """Return what the last error of the stream means. An unknown error is still an error."""
    trouble = reading.trouble
    if trouble is None:
        return None
    return fault_of(trouble.status, trouble.words, profile) or (None if trouble.passing else Reason.AGENT_EXIT_NONZERO)


def _said(reading: Reading) -> str:
    trouble = reading.trouble
    assert trouble is not None
    return trouble.words or (f"the service answered with status {trouble.status}" if trouble.status else "")


def _wait(report: Report, reading: Reading, reason: Reason | None) -> int | None:
    """Return how long to wait: 0 if waiting makes no sense, None if nothing says how long."""
    if _never_began(report):
        return 0
    waits = reason in (Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE)
    return reading.trouble.wait or None if waits and reading.trouble else None


def _never_began(report: Report) -> bool:
    """Tell whether the program is missing, or may not be started."""
    return bool(report.error) and report.errno in (errno.ENOENT, errno.EACCES)


def _remedy(reason: Reason | None, profile: Profile, report: Report) -> str:
    if reason is Reason.AGENT_NOT_SIGNED_IN and profile.sign_in.command:
        return f"Run `{profile.sign_in.command}`, then `santiago resume`."
    if reason is Reason.AGENT_UNAVAILABLE and not _never_began(report):
        return "Its service did not answer. `santiago resume` tries again; --agent NAME uses another agent."
    if reason is Reason.AGENT_UNAVAILABLE and profile.install:
        return f"Install it: `{profile.install}`."
    return MEANINGS[reason].hint if reason else ""


def reason_of(report: Report) -> Reason | None:
    """Return why a process did not end normally; None if it did."""
    if report.error and report.signal:
        return Reason.AGENT_KILLED  # its supervisor was killed too
    if report.error:
        return Reason.AGENT_UNAVAILABLE if report.errno in (errno.ENOENT, errno.EACCES, 0) else Reason.IO_ERROR
    if report.stopped:
        return Reason.INTERRUPTED
    if report.timed_out:
        return Reason.AGENT_TIMEOUT
    if report.flooded:
        return Reason.OUTPUT_LIMIT
    if report.signal is not None or report.exit_code in _FATAL:
        return Reason.AGENT_KILLED
    return Reason.AGENT_EXIT_NONZERO if report.exit_code else None


def last_words(text: str, lines: int = 20, *, prose: bool = False) -> str:
    """Return the end of an output, for people. With `prose`, lines of JSON are left out."""
    kept = [line for line in text.splitlines() if line.strip() and not (prose and line.lstrip().startswith("{"))]
    return "\n".join(kept[-lines:])
