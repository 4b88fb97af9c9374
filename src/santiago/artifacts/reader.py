"""Reading the log of a run as a stream, from its beginning to its end."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from santiago.artifacts.chain import Chain
from santiago.artifacts.faults import corrupt, refused
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.errors import SantiagoError
    from santiago.contract.events import Event


def read_log(path: Path) -> Iterator[Event]:
    """Yield the events of a log. An unfinished last line is left out; any other damage raises."""
    return iter(Reader(path))


class Reader(Chain):
    """One pass over a log. It raises if the log ends before the event that `result.json` recorded."""

    def __iter__(self) -> Iterator[Event]:
        with guarding(self.path):
            handle = open_log(self.path, os.O_RDONLY)
        try:
            yield from self.further(handle)
        finally:
            os.close(handle)
        if self.anchor is not None and self.seq < self.anchor.seq:
            raise corrupt(self.path, f"it ends with event {self.seq}, but {self.anchor.seq} were recorded")


def open_log(path: Path, flags: int) -> int:
    """Open the file of a log. Raise, and never wait, if there is a pipe, a link or a folder in its place."""
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
            raise _not_a_log(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_a_log(path)
    return handle


def _not_a_log(path: Path) -> SantiagoError:
    return refused(path, "the log is not a regular file", "Remove it, or use another out-dir.")
