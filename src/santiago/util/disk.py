"""Errors of the file system in one shape for people: the cause, what is safe, what to do next."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LASTING = frozenset(
    {errno.EROFS, errno.EPERM, errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG}
)  # fmt: skip
"""Errors that would come again with the same command."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
SICK = _FULL | {errno.EIO, errno.EROFS, errno.EFBIG, errno.ESTALE, errno.EACCES, errno.EPERM}
"""Errors of the machine, which no program can prevent."""

CACHE = "name another cache folder in XDG_CACHE_HOME"
"""The remedy if checkouts and temporary files cannot be written to the usual cache folder."""


def failed(where: Path | str, error: OSError, safe: str = "", remedy: str = "") -> SantiagoError:
    """Return the error for a file that could not be read or written. `safe` tells what is not lost, `remedy` another way."""
    number = error.errno or errno.EIO
    cause = os.strerror(number)
    cause = f"{cause[:1].lower()}{cause[1:]} [{errno.errorcode.get(number, number)}]"
    mend = "Free space" if number in _FULL else "Mend that"
    return SantiagoError(
        Kind.INPUT if number in _LASTING else Kind.TRANSIENT,
        f"{cause}; {safe}" if safe else cause,
        where=str(where),
        hint=f"{mend}{f' or {remedy}' if remedy else ''} and run the same command again.",
        reason=Reason.IO_ERROR,
    )


@contextlib.contextmanager
def guarding(where: Path | str, safe: str = "", remedy: str = "") -> Iterator[None]:
    """Turn errors of the system into errors for people."""
    try:
        yield
    except OSError as error:
        raise failed(where, error, safe, remedy) from None
