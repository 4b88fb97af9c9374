"""What can be wrong with the files of a run, as errors for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from santiago.contract.events import Event


def corrupt(where: Path | str, message: str, *, line: int = 0, hint: str = "") -> SantiagoError:
    """Return the error for a file whose content is not what santiago wrote. Santiago does not guess a repair."""
    return SantiagoError(
        Kind.BLOCKED,
        f"{message}; nothing was changed",
        where=str(where),
        line=line,
        hint=hint or "Restore the file from a copy, or start a new run.",
        reason=Reason.ARTIFACT_CORRUPT,
    )


def possible(log: Path, take: Callable[[Event], None]) -> Callable[[Event], None]:
    """Return `take` so that an impossible event, in a line that is whole, is reported as damage too."""

    def taken(event: Event) -> None:
        try:
            take(event)
        except (ValueError, LookupError, TypeError) as error:
            raise corrupt(log, f"line {event.seq} is impossible: {error}", line=event.seq) from error

    return taken


def refused(where: Path | str, message: str, hint: str) -> SantiagoError:
    """Return the error for something that would fail again with the same command."""
    return SantiagoError(Kind.INPUT, message, where=str(where), hint=hint, reason=Reason.INVALID_INPUT)
