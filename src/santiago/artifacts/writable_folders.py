"""Checks before any agent starts: every folder that will be written must be writable and have room."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from santiago.artifacts import beneath
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import guarding
from santiago.util.mounts import network_of

if TYPE_CHECKING:
    from pathlib import Path

LEAST_FREE = 64 * 2**20
_SAFE = "nothing was started"


def check(out_dir: Path, *, least_free: int = LEAST_FREE) -> list[str]:
    """Make the out-dir if needed; raise if it cannot be used; return warnings."""
    check_place(out_dir, "name another one with --out-dir", least_free=least_free)
    if kind := network_of(out_dir):
        return [f"{out_dir} is on a network file system ({kind}), where locks and writes are not reliable"]
    return []


def check_place(folder: Path, remedy: str = "", *, least_free: int = LEAST_FREE) -> None:
    """Make a folder that the run will write to; raise if it cannot be used. `remedy` says how to avoid this folder."""
    with guarding(folder, _SAFE, remedy):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, "") from None
        _check_room(folder, least_free, remedy)
        _check_writable(folder)


def _check_room(folder: Path, least: int, remedy: str) -> None:
    info = os.statvfs(folder)
    free = info.f_bavail * info.f_frsize
    if free < least:
        raise _full(folder, f"only {free // 2**20} MiB are free, and {least // 2**20} are needed", remedy)
    if info.f_files and not info.f_favail:
        raise _full(folder, "the file system has no room for another file (inodes)", remedy)


def _full(folder: Path, message: str, remedy: str) -> SantiagoError:
    hint = f"Free space{f' or {remedy}' if remedy else ''} and run the same command again."
    return SantiagoError(Kind.TRANSIENT, f"{message}; {_SAFE}", where=str(folder), hint=hint, reason=Reason.IO_ERROR)


def _check_writable(place: Path) -> None:
    """Raise if a file cannot be written here. It is tried, since permissions do not show read-only mounts."""
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        name = beneath.temporary_of(f"preflight-{os.getpid()}")
        beneath.write(folder, name, b"x", sync=False)
        os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
