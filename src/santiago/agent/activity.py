"""What an agent is doing, read from its growing log: only what is new, in pieces of limited size. It never raises."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from santiago.agent.stream import MOST_LINE, StreamReader

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.agent.profile import Profile
    from santiago.agent.stream import Reading

PIECE = 512 * 1024
"""How many bytes one look reads at most."""
MOST_LINES = 500_000
"""How many bytes are read without a gap. A longer log was flooded; from there on only its end is read."""


class Activity:
    """Follows the log of one attempt. Each look reads only what was written since the last one."""

    def __init__(self, log: Path, profile: Profile) -> None:
        self.log = log
        self.profile = profile
        self._start()

    def _start(self) -> None:
        self.reader = StreamReader(self.profile)
        self._offset = 0
        self._begun = bytearray()
        """A line whose end is not written yet."""
        self._skips = False
        """Whether that line is too long, so that its rest is skipped."""

    @property
    def reading(self) -> Reading:
        return self.reader.reading

    def look(self) -> Reading:
        """Read one more piece, and return all that is known."""
        self._read()
        return self.reading

    def catch_up(self) -> Reading:
        """Read on to the present end of the log. The log's size is limited, so this takes limited time."""
        while self._read():
            pass
        return self.reading

    def whole(self) -> StreamReader:
        """Read a finished log as a whole. Its last line counts even without a line end."""
        self.catch_up()
        self._end_line(b"")
        return self.reader

    def _read(self) -> bool:
        """Take the next piece; tell whether there was one."""
        if not self.profile.on:
            return False  # the profile has no rules for the output
        try:
            with self.log.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._offset:
                    self._start()  # the file was truncated or replaced
                if self.reading.lines > MOST_LINES and size - self._offset > PIECE:
                    self._leap(size - PIECE)
                file.seek(self._offset)
                piece = file.read(PIECE)
        except OSError:
            return False
        self._offset += len(piece)
        *ended, rest = piece.split(b"\n")
        for line in ended:
            self._end_line(line)
        self._add(rest)
        return bool(piece)

    def _leap(self, offset: int) -> None:
        """Skip ahead in the log, to the first whole line after an offset."""
        self._offset, self._skips, self.reading.gaps = offset, True, True
        self._begun.clear()

    def _end_line(self, line: bytes) -> None:
        self._add(line)
        if not self._skips:
            self._take(bytes(self._begun))
        self._begun.clear()
        self._skips = False

    def _add(self, part: bytes) -> None:
        if not self._skips:
            self._begun += part
        if len(self._begun) > MOST_LINE:
            self._begun.clear()
            self._skips = True

    def _take(self, line: bytes) -> None:
        with contextlib.suppress(Exception):  # an unexpected line is skipped
            self.reader.feed(line.decode("utf-8", "replace"))
