"""Making a folder readable as a whole: rights given back, and the git directories of repositories inside taken out.

A repository inside another would be kept as the mere number of a commit that nobody has; without its git directory it is
a folder like any other, and its files are kept.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_PATH = 4096
"""Bytes with the one that ends it; a system that takes fewer shows it by an error, and git then names the file."""


def mend(folder: Path, nested: Path, submodules: set[bytes]) -> list[str]:
    """Mend everything below a folder; git directories go to `nested`, but those of known submodules stay.

    What stands so deep that no path leads there goes there too, since git gives up over it; return words on that.
    """
    top = os.fsencode(folder)
    waiting, too_deep = [b""], []
    while waiting:
        place = waiting.pop()
        here = os.path.join(top, place) if place else top  # noqa: PTH118  # bytes
        # What still cannot be read is git's to name, as left out.
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
