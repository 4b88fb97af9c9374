"""Reading the log of a run as a stream, with every line, the chain and the version checked on the way."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from santiago.artifacts import repair
from santiago.artifacts.faults import corrupt, guarding, refused
from santiago.artifacts.frame import (
    GENESIS,
    LOG_VERSION,
    MAX_LINE,
    BrokenLineError,
    WrongLineError,
    decode,
    version_of,
)
from santiago.contract.events import Event, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.errors import SantiagoError
    from santiago.contract.result import LogHead

PIECE = 1 << 15
"""Bytes read and parsed at a time: few enough that it all stays in the processor's cache."""
MOST_NAMES = 256
"""Names of stories that are remembered as checked, so that memory does not grow with the log."""


def read_log(path: Path) -> Iterator[Event]:
    """Yield the events of a log; an unfinished last line is left out, any other damage raises."""
    return iter(Reader(path))


class Reader:
    """One pass over a log. Its fields say how far it came; after the last event, what follows it."""

    def __init__(self, path: Path, anchor: LogHead | None = None) -> None:
        self.path = path
        self.anchor = anchor
        """A place of the chain that is known from elsewhere and must be passed."""
        self.seq = 0
        self.hash = GENESIS
        self.run_id = ""
        self.end = 0
        """Byte after the last whole line."""
        self.torn = 0
        """Bytes of an unfinished line after it."""
        self._stories: set[str] = set()
        self._noted = {1} if anchor is None else {1, anchor.seq}
        """Events of which more is known than that they follow the one before."""

    def __iter__(self) -> Iterator[Event]:
        with guarding(self.path):
            handle = open_log(self.path, os.O_RDONLY)
        try:
            yield from self._events(handle)
        finally:
            os.close(handle)
        if self.anchor is not None and self.seq < self.anchor.seq:
            raise corrupt(self.path, f"it ends with event {self.seq}, but {self.anchor.seq} were recorded")

    def _events(self, handle: int) -> Iterator[Event]:
        rest = b""
        while piece := self._read(handle):
            if len(self._stories) > MOST_NAMES:
                self._stories.clear()
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            if self.seq == 0 and lines:
                self._refuse_newer(version_of(lines[0]))
            decoded, fault = self._decoded(lines)
            for event, self.hash, self.end in decoded:
                self.seq = event.seq
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

    def _read(self, handle: int) -> bytes:
        with guarding(self.path):
            return os.read(handle, PIECE)

    def _decoded(self, lines: list[bytes]) -> tuple[list[tuple[Event, str, int]], ValueError | None]:
        """Return events with their hashes and ends, up to a line that is not in order, and what is wrong with that one.

        A piece at once: line by line, in turn with whoever takes the events, costs more.
        """
        seq, digest, end = self.seq, self.hash, self.end
        found: list[tuple[Event, str, int]] = []
        try:
            for line in lines:
                event, digest = decode(line, digest, self.run_id, self._stories)
                seq += 1
                if event.seq != seq or seq in self._noted:
                    self._look_at(event, seq, digest)
                end += len(line) + 1
                found.append((event, digest, end))
        except (BrokenLineError, WrongLineError) as error:
            return found, error
        return found, None

    def _look_at(self, event: Event, seq: int, digest: str) -> None:
        """Check the place in the log of an event that is out of order, the first, or the one known from elsewhere."""
        if event.seq != seq:
            raise WrongLineError(f"its number is {event.seq}")
        if seq == 1:
            self._check_first(event)
        if self.anchor is not None and seq == self.anchor.seq and digest != self.anchor.hash:
            raise WrongLineError("its hash is not the one that was recorded elsewhere")

    def _check_first(self, event: Event) -> None:
        if event.event is not EventKind.RUN_CREATED or event.context.get("log") != LOG_VERSION:
            raise WrongLineError("a log begins with run_created and the version of its format")
        self.run_id = event.run_id

    def _refuse_newer(self, version: int | None) -> None:
        if version is not None and version > LOG_VERSION:
            message = f"its format is version {version}, and this santiago reads up to version {LOG_VERSION}"
            raise refused(self.path, message, "Use the santiago that wrote it, or a newer one.")

    def _judge_rest(self, handle: int, why: str) -> None:
        """Tell an unfinished last line from damage: only a last line can be unfinished."""
        with guarding(self.path):
            if not repair.is_unfinished(handle, self.end):
                raise self._damage(why)
            self.torn = os.fstat(handle).st_size - self.end

    def _damage(self, why: str) -> SantiagoError:
        return corrupt(self.path, f"line {self.seq + 1} at byte {self.end} is damaged: {why}", line=self.seq + 1)


def open_log(path: Path, flags: int) -> int:
    """Open the file of a log; a pipe, a link or a folder in its place is refused, and never waited for."""
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
    return refused(path, "it is not a regular file", "Remove what stands in the log's place, or use another out-dir.")
