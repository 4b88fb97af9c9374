"""What is looked at before any agent starts: that the out-dir can be written, has room, and lies on a local disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.artifacts import beneath
from santiago.artifacts.faults import refused
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util import mounts
from santiago.util.disk import failed, guarding

if TYPE_CHECKING:
    from pathlib import Path

LEAST_FREE = 64 * 2**20
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs"})


def check(out_dir: Path, *, least_free: int = LEAST_FREE) -> list[str]:
    """Make the out-dir if need be and raise where it cannot serve; return warnings."""
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise refused(out_dir, "it is not a folder", "Name a folder, or one that does not exist yet.") from None
    except OSError as error:
        raise failed(out_dir, error) from None
    _check_room(out_dir, least_free)
    _check_writable(out_dir)
    kind = mounts.kind_of(out_dir)
    if kind in _NETWORK:
        return [f"{out_dir} lies on a network file system ({kind}), where locks and syncs may not hold"]
    return []


def _check_room(out_dir: Path, least: int) -> None:
    with guarding(out_dir):
        info = os.statvfs(out_dir)
    free = info.f_bavail * info.f_frsize
    if free < least:
        raise _full(out_dir, f"only {free // 2**20} MiB are free, and {least // 2**20} are needed")
    if info.f_files and not info.f_favail:
        raise _full(out_dir, "the file system has no room for another file (inodes)")


def _full(out_dir: Path, message: str) -> SantiagoError:
    hint = "Free space and run the same command again."
    return SantiagoError(
        Kind.TRANSIENT, f"{message}; nothing was started", where=str(out_dir), hint=hint, reason=Reason.IO_ERROR
    )


def _check_writable(out_dir: Path) -> None:
    """Try it: permissions alone do not tell of read-only mounts and immutable folders."""
    with guarding(out_dir, "nothing was started"):
        folder = os.open(out_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            name = beneath.temporary_of(f"preflight-{os.getpid()}")
            beneath.write(folder, name, b"x", sync=False)
            os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)
