"""Reading a log while it grows: every whole line once, in order, with the hash chain checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.artifacts.chain import Chain
from santiago.artifacts.faults import corrupt
from santiago.artifacts.reader import open_log
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.contract.events import Event


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
