"""Output within bounds: the beginning and the end are kept, the middle is counted, memory stays flat."""

from __future__ import annotations

import os

from santiago.process.redact import Redactor


class Capture:
    """Takes output piece by piece; keeps head and tail, and writes them to a log file as they come."""

    def __init__(self, keep: int, redactor: Redactor, log: str | None) -> None:
        self.keep = keep
        self.redactor = redactor
        # Some bytes more than are shown, so that a secret across the cut is still recognised as a whole.
        self.margin = redactor.carry
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0
        self.log = (
            os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644) if log else -1
        )
        self.stream = Redactor(()) if not log else redactor
        self.written = 0

    def feed(self, piece: bytes) -> None:
        self.total += len(piece)
        room = self.keep + self.margin - len(self.head)
        if room > 0:
            self.head += piece[:room]
            self._write(self.stream.feed(piece[:room]))
            piece = piece[room:]
        if piece:
            self.tail += piece[-(self.keep + self.margin) :]
            if len(self.tail) > 4 * (self.keep + self.margin):
                del self.tail[: -(self.keep + self.margin)]

    def end(self) -> tuple[str, str, int]:
        """Return head, tail and the number of bytes between them, redacted; finish the log file."""
        whole = self.total <= len(self.head)
        head = self.redactor.whole(bytes(self.head))
        tail = b"" if whole else self.redactor.whole(bytes(self.tail[-(self.keep + self.margin) :]))
        if not whole or len(head) > 2 * self.keep:
            head = head[: self.keep]
        tail = tail[-self.keep :]
        dropped = max(0, self.total - self.keep - min(self.keep, len(self.tail))) if not whole else 0
        self._finish(tail, dropped)
        return _text(head), _text(tail), dropped

    def _finish(self, tail: bytes, dropped: int) -> None:
        if self.log < 0:
            return
        self._write(self.stream.end())
        if tail:
            self._write(f"\n… {dropped} bytes dropped …\n".encode() + tail)
        os.close(self.log)

    def _write(self, piece: bytes) -> None:
        if self.log >= 0 and piece:
            try:
                os.write(self.log, piece)
            except OSError:
                # A full disk must not stop the draining; the coordinator meets the same error where it can act on it.
                self.written = -1


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
