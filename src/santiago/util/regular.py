"""Reading files that others may have put there: never waits for a pipe, refuses devices, and limits what is read."""

from __future__ import annotations

import errno
import os
import stat
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader

Name = str | bytes | os.PathLike[str]


def content(path: Name, most: int, *, follow: bool = True) -> bytes | None:
    """Return at most `most` bytes from the beginning of a regular file; None if it is missing or unreadable."""
    try:
        with opened(path, follow=follow) as file:
            return file.read(most)
    except (OSError, ValueError):
        return None


def opened(path: Name, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading; raise OSError if it is anything else, or a link without `follow`."""
    # With an opener, since `open` closes a handle that it refuses (a folder's) only if it made the handle itself.
    file = open(path, "rb", opener=partial(_handle, follow=follow))  # noqa: SIM115  # the caller's to close
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return file


def _handle(path: Name, flags: int, *, follow: bool) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
