"""Captures output with limits: the beginning and the end are kept, the middle is counted, memory stays constant."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from santiago.process.redact import Redactor


class Captured(NamedTuple):
    """The kept output, redacted. If nothing was dropped, all of it is in the head."""

    head: str
    tail: str
    dropped: int
    log_dropped: int


class Capture:
    """Takes output piece by piece. It keeps the beginning and the end in memory, and writes more of it to a log file."""

    def __init__(self, keep: int, redactor: Redactor, log: str | None, log_keep: int | None = None) -> None:
        self.keep = keep
        self.redactor = redactor
        self.head = bytearray()
        self.ring = bytearray()
        # More bytes than are shown, so that a secret across the cut is still recognised.
        self.most = keep + redactor.reach
        self.total = 0
        self.log = _Log(log, keep if log_keep is None else log_keep, redactor) if log else None

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        if len(self.head) < self.keep:
            self.head += piece[: self.keep - len(self.head)]
        self.ring += piece[-self.most :]
        if len(self.ring) > 2 * self.most:
            del self.ring[: -self.most]
        if self.log is not None:
            self.log.feed(piece)

    def end(self) -> Captured:
        """Return what was kept, and finish the log file."""
        start = max(len(self.ring) - self.most, 0)
        ring = bytes(self.ring[start:])
        log_dropped = self.log.end(ring, self.keep) if self.log is not None else self.total
        dropped = max(self.total - 2 * self.keep, 0)
        if not dropped:
            after = len(self.head) - (self.total - len(ring))
            return Captured(_text(self.redactor.whole(bytes(self.head) + ring[after:])), "", 0, log_dropped)
        # Without `end()`, so that the possible beginning of a secret at the cut is not shown.
        head = self.redactor.fresh().feed(bytes(self.head))
        return Captured(_text(head), _text(last(self.redactor, ring, self.keep)), dropped, log_dropped)


class _Log:
    """A file that grows with the output, up to a limit. The end of the output is added when it is known."""

    def __init__(self, path: str, most: int, redactor: Redactor) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        self.most = most
        self.redactor = redactor
        self.stream = redactor.fresh()
        self.total = 0
        self.taken = 0
        """Bytes of output that were given to the stream."""
        self.failed = False

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        part = piece[: self.most - self.taken]
        if part and not self.failed:
            self._write(self.stream.feed(part))
            self.taken += len(part)

    def end(self, ring: bytes, keep: int) -> int:
        """Finish with the last bytes of the output, and return how many are missing in the file."""
        missing = max(self.total - self.taken - keep, 0)
        if missing:
            self._write(f"\n… {missing} bytes dropped …\n".encode() + last(self.redactor, ring, keep))
        else:
            rest = ring[len(ring) - (self.total - self.taken) :]
            self._write(self.stream.feed(rest) + self.stream.end())
        os.close(self.handle)
        return max(missing, 1) if self.failed else missing

    def _write(self, piece: bytes) -> None:
        while piece and not self.failed:
            try:
                piece = piece[os.write(self.handle, piece) :]
            except OSError:
                # Output must be read on even if the disk is full. The coordinator meets the same error where it can act on it.
                self.failed = True


def last(redactor: Redactor, ring: bytes, keep: int) -> bytes:
    """Return the last bytes of an output. The bytes before them only help to recognise a secret that begins earlier."""
    stream = redactor.fresh()
    before = max(len(ring) - keep, 0)
    stream.feed(ring[:before])
    return stream.feed(ring[before:]) + stream.end()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
