"""The folders in which a repository's objects lie: its own, and all that it borrows from, as `git clone --shared` does."""

from __future__ import annotations

import os
from pathlib import Path

from santiago.util import regular

MOST = 32
"""How many folders are followed. Git itself follows five in a row."""
_LARGEST = 64 * 1024


def stores_of(objects: Path) -> tuple[str, ...]:
    """Return the real paths of a folder of objects and of those that it names as its alternates, each once."""
    found: dict[str, None] = {}
    waiting = [os.path.realpath(objects)]
    while waiting and len(found) < MOST:
        store = waiting.pop(0)
        if store not in found and Path(store).is_dir():
            found[store] = None
            waiting += _borrowed(store)
    return tuple(found)


def _borrowed(store: str) -> list[str]:
    note = regular.content(Path(store, "info", "alternates"), _LARGEST) or b""
    lines = [os.fsdecode(line) for line in note.split(b"\n") if line and not line.startswith(b"#")]
    return [os.path.realpath(Path(store, _unquoted(line))) for line in lines]


def _unquoted(line: str) -> str:
    """Return a path without the quotes that git puts around an unusual one."""
    if not (line.startswith('"') and line.endswith('"') and len(line) > 1):
        return line
    return os.fsdecode(os.fsencode(line[1:-1]).decode("unicode_escape").encode("latin-1", "replace"))
