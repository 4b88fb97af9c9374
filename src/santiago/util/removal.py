"""Removing a folder, whatever an agent did to it: at any depth, without permissions, and without following links."""

from __future__ import annotations

import os
import stat
import uuid

_LONG = 2048
"""Longest path, in bytes, below which is searched: half of the system's limit."""


def remove(top: str) -> None:
    """Remove whatever is at a path, folders last and from the inside out."""
    if not stat.S_ISDIR(os.lstat(top).st_mode):
        os.unlink(top)
        return
    folders = [top]
    for folder in folders:  # the list grows meanwhile
        folders += _emptied(folder, top)
    for folder in reversed(folders):
        os.rmdir(folder)


def move(path: str, target: str) -> None:
    """Move a folder within its file system."""
    try:
        os.rename(path, target)
    except PermissionError:
        # A folder that is not writable cannot be moved to another parent.
        _open_up(path)
        os.rename(path, target)


def _emptied(folder: str, top: str) -> list[str]:
    """Remove the files of a folder and return the folders inside. Those whose path is too long are moved up to the top."""
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
    """Give the owner all permissions on a folder."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
        os.chmod(path, stat.S_IMODE(mode) | 0o700)
