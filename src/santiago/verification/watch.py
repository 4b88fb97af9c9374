"""Watching what judges: test code must be the base's own when a check begins, and nobody may touch it while it runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.verification import globs

if TYPE_CHECKING:
    from collections.abc import Iterable

Marks = Mapping[str, tuple[int, int, int]]
"""Inode, time of the last change of any kind, mode: nobody but the machine's clock can turn the second one back."""

_ENDINGS = (
    "py js jsx ts tsx mjs cjs mts cts vue svelte go rs java kt kts scala groovy rb php cs fs vb swift c cc cpp cxx h hpp ex exs dart"
    " lua erl sh bats t clj hs R jl feature toml ini cfg xml rspec"
)
_CODE = frozenset(f".{ending}" for ending in _ENDINGS.split())
"""Endings of files that decide; data that tests read and write may change while they run."""
_LARGEST = 1024 * 1024


def sealed(base_files: Iterable[str], protected: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """Return the code of the base that judges a story: protected, and not among the files that the story may change."""
    globs_, own = tuple(protected), tuple(files)
    code = (path for path in base_files if os.path.splitext(path)[1] in _CODE)  # noqa: PTH122  # called per file
    return tuple(sorted(path for path in code if globs.matches(path, globs_) and not globs.names(own, path)))


def contents(folder: str, paths: Iterable[str]) -> dict[str, str]:
    """Return a digest of each file, without following links."""
    return {path: _digest(Path(folder, path)) for path in paths}


def marks(folder: str, paths: Iterable[str]) -> Marks:
    return {path: _mark(Path(folder, path)) for path in paths}


def touched(folder: str, before: Marks) -> frozenset[str]:
    """Return the files that were written, replaced or removed since."""
    return frozenset(path for path, mark in before.items() if _mark(Path(folder, path)) != mark)


def _mark(path: Path) -> tuple[int, int, int]:
    try:
        info = path.lstat()
    except OSError:
        return (0, 0, 0)
    return (info.st_ino, info.st_ctime_ns, info.st_mode)


def _digest(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"unreadable: {error.errno}"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "no file"
        return sha256(os.read(handle, _LARGEST)).hexdigest()
    finally:
        os.close(handle)
