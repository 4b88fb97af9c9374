"""How an agent's process ended, from its attempt's record: its last words, tools it was denied, what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.executor.messages import left_in_copy
from santiago.report.evidence import AttemptEvidence, tidied
from santiago.util.text import few, first, flat

if TYPE_CHECKING:
    from pathlib import Path

LINES = 6
"""Lines of an agent's own words."""
COLUMNS = 300
MESSAGE = 200
"""Longest text from an agent or a service, in characters."""
DENIALS = 10


class Ending(NamedTuple):
    """All texts are safe to print and short."""

    reason: str = ""
    exit_code: int | None = None
    words: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    session: str = ""
    remedy: str = ""
    left: str = ""
    """Files that it changed in its copy of its settings."""
    tokens: int | None = None
    cost_usd: float | None = None
    there: bool = False
    """Whether there is a record at all."""

    @property
    def denied(self) -> str:
        """Return the tools that it was not allowed to use."""
        return few(list(dict.fromkeys(self.denials)), DENIALS)


def ending_of(out_dir: Path, story: str, attempt: int) -> Ending:
    """Return how an attempt's agent ended; all fields are empty if the record is missing or invalid."""
    record = AttemptEvidence(out_dir, story, attempt).ending()
    if not record:
        return Ending()
    usage = record.get("usage")
    figures: dict[str, Any] = usage if isinstance(usage, dict) else {}
    code = record.get("exit_code")
    return Ending(
        reason=_text(record, "reason"),
        exit_code=code if isinstance(code, int) else None,
        words=tuple(words_of(_raw(record, "message"))),
        denials=tuple(first(flat(str(one)), COLUMNS) for one in _list(record, "denials")),
        session=_text(record, "session"),
        remedy=_text(record, "remedy"),
        left=left_in_copy([flat(str(one)) for one in _list(record, "left")]),
        tokens=_number(figures.get("tokens")),
        cost_usd=_amount(figures.get("cost_usd")),
        there=True,
    )


def origin(out_dir: Path, story: str, attempt: int, reason: str) -> str:
    """Return the reason why an attempt ended, with the check or the exit code that it comes from."""
    if (failing := AttemptEvidence(out_dir, story, attempt).failing()) is not None:
        ended = "timed out" if failing.timed_out else f"exit {failing.exit_code}"
        return f"{reason}: {first(flat(failing.command), COLUMNS)} {ended}"
    return reason + exited(reason, ending_of(out_dir, story, attempt))


def exited(reason: str, ending: Ending) -> str:
    """Return the exit code of a failed agent, in words; empty if its service refused, since the code then says nothing."""
    own = ending.exit_code and ending.reason == reason and not is_the_agents(reason)
    return f" (exit {ending.exit_code})" if own else ""


def cause(out_dir: Path, story: str, attempt: int, reason: str, message: str = "") -> str:
    """Return the same with the words that go with it, where there are any."""
    told, ending = origin(out_dir, story, attempt, reason), ending_of(out_dir, story, attempt)
    last = ending.words[-1:] if exited(reason, ending) else ()
    words = message or AttemptEvidence(out_dir, story, attempt).message() or "".join(last)
    return f"{told}: {first(flat(words), MESSAGE)}" if words else told


def words_of(message: str) -> list[str]:
    """Return the last lines of what an agent said; lines of its stream that nobody understood are no words."""
    lines = [flat(tidied(line)) for line in message.splitlines() if not line.lstrip().startswith('{"')]
    return [first(line, COLUMNS) for line in lines if line][-LINES:]


def helping(reason: str | None, ending: Ending) -> str:
    """Return what a person can do: what the agent's profile knows, else what the table of reasons says."""
    if ending.remedy and ending.reason == reason:
        return ending.remedy
    return MEANINGS[Reason(reason)].hint if reason else ""


def is_the_agents(reason: str | None) -> bool:
    """Tell whether a reason lies with the agent's program, account or service, and not with the work."""
    return reason in SHARED


def _raw(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _text(record: dict[str, Any], name: str) -> str:
    return first(flat(_raw(record, name)), COLUMNS)


def _list(record: dict[str, Any], name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _amount(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
