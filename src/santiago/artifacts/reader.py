"""Reading a log as a stream with its hash chain checked: from its beginning to its end, or on while it grows."""

from __future__ import annotations

import errno
import os
import stat
from io import BytesIO
from typing import TYPE_CHECKING

from santiago.artifacts import unfinished_line
from santiago.artifacts.file_errors import corrupt, refused
from santiago.artifacts.frame import GENESIS, LOG_VERSION, MAX_LINE, BrokenLineError, decode, version_of
from santiago.contract.events import Event, EventKind
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.errors import SantiagoError
    from santiago.contract.events import Event
    from santiago.contract.result import LogHead


PIECE = 1 << 15
"""Bytes that are read and parsed at a time: few enough for the processor's cache."""
MOST_NAMES = 256
"""How many checked story names are remembered, so that memory does not grow with the log."""

_FIRST = (EventKind.RUN_CREATED, EventKind.SESSION_CREATED)


class Chain:
    """A log as far as it was read. The fields describe the last event that was read, and what follows it."""

    def __init__(self, path: Path, anchor: LogHead | None = None) -> None:
        self.path = path
        self.anchor = anchor
        """A position and hash that `result.json` recorded. The log must contain it."""
        self.seq = 0
        self.hash = GENESIS
        self.run_id = ""
        self.end = 0
        """Offset after the last whole line."""
        self.torn = 0
        """Length of an unfinished line after it."""
        self._stories: set[str] = set()
        self._noted = {1} if anchor is None else {1, anchor.seq}
        """Numbers of the events that need more checks than the chain: the first, and the recorded one."""

    def further(self, handle: int) -> Iterator[Event]:
        """Yield the events after the last one that was read, up to the end of the file or an unfinished line."""
        rest, place = b"", self.end
        while piece := self._read(handle, place):
            place += len(piece)
            if len(self._stories) > MOST_NAMES:
                self._stories.clear()
            lines = BytesIO(rest + piece).readlines()  # finds the line ends several times faster than `split`
            rest = b"" if piece.endswith(b"\n") else lines.pop()
            if self.seq == 0 and lines:
                self._refuse_newer(version_of(lines[0]))
            decoded, fault = decode(lines, self.seq, self.hash, self.run_id, self._stories)
            for (event, digest), line in zip(decoded, lines, strict=False):
                if event.seq in self._noted:
                    self._look_at(event, digest)
                self.seq, self.hash = event.seq, digest
                self.end += len(line)
                yield event
            if isinstance(fault, BrokenLineError):
                self._judge_rest(handle, str(fault))
                return
            if fault is not None:
                raise self._damage(str(fault))
            if len(rest) > MAX_LINE:
                self._judge_rest(handle, "it is too long")
                return
        self.torn = len(rest)

    def _read(self, handle: int, place: int) -> bytes:
        with guarding(self.path):
            return os.pread(handle, PIECE, place)

    def _look_at(self, event: Event, digest: str) -> None:
        """Check the first event, and the one whose hash is recorded elsewhere."""
        if event.seq == 1:
            if event.event not in _FIRST or event.context.get("log") != LOG_VERSION:
                raise self._damage(
                    "a log must begin with run_created or session_created, and with the version of its format"
                )
            self.run_id = event.run_id
        if self.anchor is not None and event.seq == self.anchor.seq and digest != self.anchor.hash:
            raise self._damage("its hash differs from the one that result.json recorded")

    def _refuse_newer(self, version: int | None) -> None:
        if version is not None and version > LOG_VERSION:
            message = f"its format is version {version}, and this santiago reads up to version {LOG_VERSION}"
            raise refused(self.path, message, "Use the santiago that wrote it, or a newer one.")

    def _judge_rest(self, handle: int, why: str) -> None:
        """Accept an unfinished last line; raise for any other damage."""
        with guarding(self.path):
            if not unfinished_line.is_unfinished(handle, self.end):
                raise self._damage(why)
            self.torn = os.fstat(handle).st_size - self.end

    def _damage(self, why: str) -> SantiagoError:
        return corrupt(self.path, f"line {self.seq + 1} at byte {self.end} is damaged: {why}", line=self.seq + 1)


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


class Tail(Chain):
    """Continues where the last reading ended. An unfinished line is left for the next time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._inode = 0

    def read(self) -> Iterator[Event]:
        """Yield the events that were added since the last time; none if there is no log yet."""
        with guarding(self.path):
            try:
                handle = open_log(self.path, os.O_RDONLY)
            except FileNotFoundError:
                if self.end:
                    raise corrupt(self.path, "the log was removed") from None
                return
        try:
            self._check(handle)
            yield from self.further(handle)
        finally:
            os.close(handle)

    def _check(self, handle: int) -> None:
        info = os.fstat(handle)
        if self._inode not in (0, info.st_ino) or info.st_size < self.end:
            raise corrupt(self.path, f"the log was replaced or cut after event {self.seq}")
        self._inode = info.st_ino
