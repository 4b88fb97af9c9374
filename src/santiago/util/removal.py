"""Removing a folder, whatever an agent did to it: no depth is too deep, no right too narrow, and no link is followed."""

from __future__ import annotations

import os
import stat
import uuid

_LONG = 2048
"""Bytes of a path, half of what the system takes, from which nothing is looked for below it."""


def remove(top: str) -> None:
    """Remove whatever stands here, folders last and from the inside out."""
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        os.unlink(top)
        return
    folders = [top]
    for folder in folders:  # it grows meanwhile
        folders += _emptied(folder, top)
    for folder in reversed(folders):
        os.rmdir(folder)


def move(path: str, target: str) -> None:
    """Give a folder another place on the same file system."""
    try:
        os.rename(path, target)
    except PermissionError:
        # A folder that is not writable cannot change its parent.
        _open_up(path)
        os.rename(path, target)


def _emptied(folder: str, top: str) -> list[str]:
    """Remove the files of a folder and return the folders inside; those whose path grows long are moved up to the top."""
    _open_up(folder)
    with os.scandir(folder) as found:
        entries = list(found)
    inside = []
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        elif len(os.fsencode(entry.path)) < _LONG:
            inside.append(entry.path)
        else:
            inside.append(f"{top}/{uuid.uuid4().hex}")
            move(entry.path, inside[-1])
    return inside


def _open_up(path: str) -> None:
    """Give the owner all rights on a folder."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
        os.chmod(path, stat.S_IMODE(mode) | 0o700)
