"""Results of checks on disk while the base is examined, so that a crash does not make all of them run again."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.contract.codec import canonical, decode
from santiago.contract.errors import SantiagoError
from santiago.contract.ports.judge import Noted
from santiago.contract.record import lean
from santiago.util import regular
from santiago.util.removal import remove

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 64 * 1024 * 1024


@lean()
class FolderOfNotes:
    """A folder of results. It is there only until the first agent starts: nothing that an agent could write is believed."""

    folder: Path
    around: str = ""
    """Describes what all results depend on: variables, set-up, sandbox. Results of other surroundings are not found."""
    is_open: bool = False

    def open(self) -> None:
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.is_open = True

    def read(self, key: object) -> Noted | None:
        raw = regular.content(self._place(key), _LARGEST) if self.is_open else None
        with suppress(SantiagoError):  # one that a crash cut off
            return None if raw is None else decode(Noted, raw, "")
        return None

    def write(self, key: object, noted: Noted) -> None:
        if self.is_open:
            with suppress(OSError):  # then it runs again after a crash
                self._place(key).write_bytes(canonical(noted))

    def close(self, *, forget: bool = False) -> None:
        self.is_open = False
        if forget:
            with suppress(OSError):
                remove(str(self.folder))

    def _place(self, key: object) -> Path:
        return self.folder / sha256(repr((self.around, key)).encode()).hexdigest()
