"""Removing a folder, whatever an agent did to it: no depth is too deep, no right too narrow, and no link is followed."""

from __future__ import annotations

import os
import stat
import uuid


def remove(top: str) -> None:
    """Remove whatever stands here. Folders inside move up before they are emptied, so that no path grows too long."""
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        os.unlink(top)
        return
    waiting = _emptied(top, top)
    while waiting:
        folder = waiting.pop()
        waiting += _emptied(folder, top)
        os.rmdir(folder)
    os.rmdir(top)


def move(path: str, target: str) -> None:
    """Give a folder another place on the same file system."""
    try:
        os.rename(path, target)
    except PermissionError:
        # A folder that is not writable cannot change its parent.
        _open_up(path)
        os.rename(path, target)


def _emptied(folder: str, top: str) -> list[str]:
    """Remove the files of a folder, move the folders inside up to the top under new names, and return these."""
    _open_up(folder)
    with os.scandir(folder) as found:
        entries = list(found)
    moved = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            moved.append(f"{top}/{uuid.uuid4().hex}")
            move(entry.path, moved[-1])
        else:
            os.unlink(entry.path)
    return moved


def _open_up(path: str) -> None:
    """Give the owner all rights on a folder."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
        os.chmod(path, stat.S_IMODE(mode) | 0o700)
