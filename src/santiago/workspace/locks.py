"""Locks that a git process left when it was killed. They would block every later git command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PATIENCE = 1.0
"""Seconds after which a lock on a single ref is taken as left over. Git holds such a lock for milliseconds."""
_STEP = 0.05


def break_stale(common: Path, refs: Sequence[str]) -> list[str]:
    """Remove the left-over locks of these refs, and of all refs below them; return their names.

    Called when no git process of the run is alive. A git process of the user (packing refs) is waited for.
    """
    waiting = {path: path.stat().st_ino for path in _locks(common, refs)}
    deadline = time.monotonic() + PATIENCE
    while waiting and time.monotonic() < deadline:
        time.sleep(_STEP)
        waiting = {path: inode for path, inode in waiting.items() if _inode(path) == inode}
    for path in waiting:
        path.unlink(missing_ok=True)
    return [str(path) for path in waiting]


def _locks(common: Path, refs: Sequence[str]) -> Iterator[Path]:
    for ref in refs:
        own = common / f"{ref}.lock"
        if own.exists():
            yield own
        yield from (common / ref).rglob("*.lock")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
