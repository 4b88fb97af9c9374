"""Making a whole folder readable: restores permissions, and takes the git directories of nested repositories out.

Git would keep a nested repository only as the id of a commit that nobody else has. Without its git directory it is a folder
like any other, and its files are kept.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_PATH = 4096
"""Longest path in bytes, with the final NUL. A system with a lower limit gives an error, and git then names the file."""


def mend(folder: Path, nested: Path, submodules: set[bytes]) -> list[str]:
    """Mend everything below a folder. Git directories are moved to `nested`, except those of known submodules.

    What lies too deep for any path is moved there too, since git would fail on it. Return messages on that.
    """
    top = os.fsencode(folder)
    waiting, too_deep = [b""], []
    while waiting:
        place = waiting.pop()
        here = os.path.join(top, place) if place else top  # noqa: PTH118  # bytes
        # If it still cannot be read, git will name it as left out.
        with suppress(OSError):
            _give_back(here, 0o700)
            for entry in list(os.scandir(here)):
                inside = os.path.join(place, entry.name)  # noqa: PTH118  # bytes
                if len(entry.path) >= _LONGEST_PATH:
                    too_deep.append(f"path of {len(inside)} bytes: {_short(inside)}")
                    _take_out(here, entry, nested)
                elif entry.name == b".git":
                    if place and place not in submodules:
                        _give_back(entry.path, 0o700 if entry.is_dir(follow_symlinks=False) else 0)
                        _take_out(here, entry, nested)
                elif entry.is_dir(follow_symlinks=False):
                    if inside not in submodules:
                        waiting.append(inside)
                elif entry.is_file(follow_symlinks=False):
                    _give_back(entry.path, 0o400)
    return too_deep


def _give_back(path: bytes, rights: int) -> None:
    with suppress(OSError):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if mode & rights != rights:
            os.chmod(path, mode | rights)  # noqa: PTH101  # bytes


def _take_out(here: bytes, entry: os.DirEntry[bytes], nested: Path) -> None:
    nested.mkdir(parents=True, exist_ok=True)
    target = os.fsencode(nested / str(len(list(nested.iterdir()))))
    handle = os.open(here, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.rename(entry.name, target, src_dir_fd=handle)
    finally:
        os.close(handle)


def _short(path: bytes) -> str:
    return f"{path[:60].decode('utf-8', 'backslashreplace')}…"
