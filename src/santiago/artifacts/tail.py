"""Reading a log that grows: whole lines only, each once, in order, with the chain checked across every pause."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.artifacts.faults import corrupt, guarding
from santiago.artifacts.frame import GENESIS, MAX_LINE, BrokenLineError, WrongLineError, decode
from santiago.artifacts.reader import open_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.events import Event

PIECE = 1 << 16


class Tail:
    """Remembers by offset how far it has read; an unfinished line is left for the next time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.seq = 0
        self.hash = GENESIS
        self.run_id = ""
        self.torn = 0
        """Bytes after the last whole line."""
        self._stories: set[str] = set()
        self._inode = 0

    def read(self) -> Iterator[Event]:
        """Yield the events that were added since the last time; nothing where there is no log yet."""
        try:
            handle = open_log(self.path, os.O_RDONLY)
        except FileNotFoundError:
            if self.offset:
                raise corrupt(self.path, "the log is gone") from None
            return
        try:
            self._check(handle)
            yield from self._events(handle)
        finally:
            os.close(handle)

    def _check(self, handle: int) -> None:
        info = os.fstat(handle)
        if self._inode not in (0, info.st_ino) or info.st_size < self.offset:
            raise corrupt(self.path, f"the log was replaced or cut after event {self.seq}")
        self._inode = info.st_ino

    def _events(self, handle: int) -> Iterator[Event]:
        rest, self.torn = b"", 0
        place = self.offset
        while piece := self._piece(handle, place):
            place += len(piece)
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                event = self._take(line, handle)
                if event is None:
                    return
                yield event
            if len(rest) > MAX_LINE:
                raise self._damage("it is too long")
        self.torn = len(rest)

    def _piece(self, handle: int, place: int) -> bytes:
        with guarding(self.path):
            return os.pread(handle, PIECE, place)

    def _take(self, line: bytes, handle: int) -> Event | None:
        try:
            event, digest = decode(line, self.hash, self.run_id, self._stories)
        except BrokenLineError as error:
            if os.fstat(handle).st_size <= self.offset + len(line) + 1:
                self.torn = (
                    len(line) + 1
                )  # a last line that did not reach the disk as a whole; its writer will see to it
                return None
            raise self._damage(str(error)) from None
        except WrongLineError as error:
            raise self._damage(str(error)) from None
        if event.seq != self.seq + 1:
            raise self._damage(f"its number is {event.seq}")
        self.seq, self.hash, self.run_id = event.seq, digest, event.run_id
        self.offset += len(line) + 1
        return event

    def _damage(self, why: str) -> Exception:
        return corrupt(self.path, f"line {self.seq + 1} at byte {self.offset} is damaged: {why}", line=self.seq + 1)
