"""Files that an agent leaves in the work folder for itself, such as caches and histories. They are not part of the work."""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def cleared(folder: str, patterns: tuple[str, ...]) -> Iterator[None]:
    """Remove what appears under these names within this context. What was there before stays."""
    before = _named(folder, patterns)
    try:
        yield
    finally:
        for path in _named(folder, patterns) - before:
            _remove(path)


def _named(folder: str, patterns: tuple[str, ...]) -> set[Path]:
    if not patterns:
        return set()
    try:
        return {path for path in Path(folder).iterdir() if any(fnmatchcase(path.name, one) for one in patterns)}
    except OSError:
        return set()


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
