"""What can be wrong with files of a run, as errors in one shape: the cause, what is safe, what to do next."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from santiago.contract.events import Event

_LASTING = frozenset(
    {errno.EROFS, errno.EPERM, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG}
)  # fmt: skip
"""Errors that the same command will meet again."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def failed(where: Path | str, error: OSError, safe: str = "") -> SantiagoError:
    """Return the error for a file that could not be read or written; `safe` says what is not lost."""
    number = error.errno or errno.EIO
    cause = os.strerror(number)
    cause = f"{cause[:1].lower()}{cause[1:]} [{errno.errorcode.get(number, number)}]"
    mend = "Free space" if number in _FULL else "Mend that"
    return SantiagoError(
        Kind.INPUT if number in _LASTING else Kind.TRANSIENT,
        f"{cause}; {safe}" if safe else cause,
        where=str(where),
        hint=f"{mend} and run the same command again.",
        reason=Reason.IO_ERROR,
    )


def corrupt(where: Path | str, message: str, *, line: int = 0, hint: str = "") -> SantiagoError:
    """Return the error for a file that does not hold what was written to it; nobody repairs that by guessing."""
    return SantiagoError(
        Kind.BLOCKED,
        f"{message}; nothing was changed",
        where=str(where),
        line=line,
        hint=hint or "Restore the file from a copy, or start a new run.",
        reason=Reason.ARTIFACT_CORRUPT,
    )


def possible(log: Path, take: Callable[[Event], None]) -> Callable[[Event], None]:
    """Return `take`, to which a log whose lines are whole but tell an impossible story is damage, too."""

    def taken(event: Event) -> None:
        try:
            take(event)
        except (ValueError, LookupError, TypeError) as error:
            raise corrupt(log, f"line {event.seq} cannot be: {error}", line=event.seq) from error

    return taken


def refused(where: Path | str, message: str, hint: str) -> SantiagoError:
    """Return the error for something that the same command will find again."""
    return SantiagoError(Kind.INPUT, message, where=str(where), hint=hint, reason=Reason.INVALID_INPUT)


@contextlib.contextmanager
def guarding(where: Path | str, safe: str = "") -> Iterator[None]:
    """Turn errors of the system into errors for people."""
    try:
        yield
    except OSError as error:
        raise failed(where, error, safe) from None
