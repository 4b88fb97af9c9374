"""Endings: from how a process ended and what it printed to one of the contract's reasons."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from santiago.contract.outcomes import AgentEnding, Usage
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.process.command import Report

_ASKED = re.compile(r"^\s*SANTIAGO_QUESTION:\s*(.+)$", re.MULTILINE)

_FATAL = frozenset({128 + signal for signal in (4, 6, 7, 8, 9, 11, 15)})
"""Exit codes by which a shell or a sandbox hands on that a signal ended the program."""


def ending_of(report: Report) -> AgentEnding:
    """Return the ending of a program that reports nothing but its output and exit code."""
    text = report.tail or report.head
    question = _ASKED.search(report.head + "\n" + report.tail)
    return AgentEnding(
        reason=Reason.AGENT_ASKED if question and not report.stopped else reason_of(report),
        exit_code=report.exit_code,
        message=report.error or last_words(text),
        usage=Usage(),
        question=question[1].strip() if question else None,
    )


def reason_of(report: Report) -> Reason | None:
    """Return why a process did not end normally; None where it did."""
    if report.error and report.signal:
        return Reason.AGENT_KILLED  # and its supervisor with it
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


def last_words(text: str, lines: int = 20) -> str:
    """Return the end of an output, for people."""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


def seems_to_ask(message: str) -> bool:
    """Tell whether last words are a question; only asked where nothing was changed."""
    words = message.strip().splitlines()
    return bool(words) and words[-1].rstrip().endswith(("?", "？"))
