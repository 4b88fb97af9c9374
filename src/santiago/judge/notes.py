"""Results of checks on disk while the base is examined, so that a crash does not make all of them run again."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from santiago.contract.codec import canonical, decode
from santiago.contract.errors import SantiagoError
from santiago.contract.outcomes import CheckResult
from santiago.contract.record import lean, record
from santiago.judge.naming.ids import Status
from santiago.judge.shown import Shown
from santiago.util import regular
from santiago.util.removal import remove

_LARGEST = 64 * 1024 * 1024


@record
class _Note:
    result: CheckResult
    tests: tuple[tuple[str, Status], ...] | None
    """In order of appearance, which JSON objects do not keep."""
    note: str


@lean()
class Notes:
    """A folder of results. It is there only until the first agent starts: nothing that an agent could write is believed."""

    folder: Path
    around: str = ""
    """Describes what all results depend on: variables, set-up, sandbox. Results of other surroundings are not found."""
    is_open: bool = False

    def read(self, key: object) -> Shown | None:
        raw = regular.content(self._place(key), _LARGEST) if self.is_open else None
        with suppress(SantiagoError):  # one that a crash cut off
            if raw is not None:
                found = decode(_Note, raw, "")
                return Shown(found.result, None if found.tests is None else dict(found.tests), found.note)
        return None

    def write(self, key: object, shown: Shown) -> None:
        """Keep a result. A check that could not start is tried again, since a person may help meanwhile."""
        if self.is_open and not shown.result.cause:
            tests = None if shown.tests is None else tuple(shown.tests.items())
            with suppress(OSError):  # then it runs again after a crash
                self._place(key).write_bytes(canonical(_Note(result=shown.result, tests=tests, note=shown.note)))

    def open(self) -> None:
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.is_open = True

    def forget(self) -> None:
        self.is_open = False
        with suppress(OSError):
            remove(str(self.folder))

    def _place(self, key: object) -> Path:
        return self.folder / sha256(repr((self.around, key)).encode()).hexdigest()
