"""How much one snapshot may take. A file of many gigabytes would keep git busy for hours, and every later start again."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2**30
"""Bytes of all new and changed files together, as their sizes say. Holes in a file count: git reads them too."""
MOST_FILES = 100_000
MOST_NAMED = 10


class Sizes:
    """Takes the names of new and changed files as git lists them, NUL-separated, and tells which of them fit."""

    def __init__(self, folder: Path) -> None:
        self._top = os.fsencode(folder)
        self._rest = b""
        self._bytes = 0
        self.fitting: list[bytes] = []
        self.large: list[str] = []
        """What does not fit, in words."""

    def take(self, piece: bytes) -> bool:
        """Take a piece of the list; return False when there are too many files."""
        *names, self._rest = (self._rest + piece).split(b"\0")
        for name in names:
            if len(self.fitting) >= MOST_FILES:
                self.large.append(f"more than {MOST_FILES:,} new or changed files")
                return False
            self._measure(name)
        return True

    def _measure(self, name: bytes) -> None:
        try:
            info = os.lstat(os.path.join(self._top, name))  # noqa: PTH118  # bytes
        except OSError:
            self.fitting.append(name)  # it was removed, which is a change as well
            return
        if stat.S_ISDIR(info.st_mode):
            return  # a repository inside this one, whose files come later
        size = info.st_size if stat.S_ISREG(info.st_mode) else 0
        if self._bytes + size <= MOST_BYTES:
            self._bytes += size
            self.fitting.append(name)
        elif len(self.large) < MOST_NAMED:
            self.large.append(f"{name.decode('utf-8', 'backslashreplace')[:200]} ({size / 2**30:,.1f} GiB)")
