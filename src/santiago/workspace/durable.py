"""Making git's objects and refs survive a power cut with as few waits for the disk as the file system allows.

Objects are written first, and the ref that needs them last. So one sync after the ref is enough for all of them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from enum import Enum
from functools import cache
from pathlib import Path

from santiago.util.disk import failed
from santiago.util.mounts import kind_of

_JOURNALS = frozenset({"ext3", "ext4", "xfs"})
"""File systems with one ordered journal: syncing the latest write brings all earlier writes to disk too."""


class Durability(Enum):
    JOURNAL = "journal"
    """Git starts the writing of each file; one sync of the ref's folder commits the journal behind all of them."""
    WHOLE = "whole"
    """The file system promises no such order (btrfs, overlays): one sync of the whole file system."""
    EACH = "each"
    """Neither is possible: git syncs every file, and santiago syncs the folders of the ref."""

    @property
    def options(self) -> tuple[str, ...]:
        """Options for a git command whose objects or refs must survive a power cut."""
        method = "fsync" if self is Durability.EACH else "writeout-only"
        return ("-c", "core.fsync=committed,loose-object,pack-metadata,reference", "-c", f"core.fsyncMethod={method}")

    def barrier(self, folder: Path, top: Path) -> None:
        """Return when the ref that was just written into `folder`, somewhere below `top`, is on disk with all it needs."""
        folder = next(place for place in (folder, *folder.parents) if place.is_dir())
        try:
            if self is Durability.JOURNAL:
                sync(folder)
            elif self is Durability.WHOLE:
                _sync_file_system(top)
            else:
                for place in (folder, *folder.parents):
                    sync(place)
                    if place == top:
                        break
        except FileNotFoundError as error:
            if folder == top:
                raise failed(folder, error) from None
            # Meanwhile git packed the refs and removed the empty folder, so the folder above is synced.
            self.barrier(folder.parent, top)
        except OSError as error:
            # Never tried again: a second sync may succeed without the data being on disk.
            raise failed(folder, error) from None


def durability_of(common: Path, objects: Path) -> Durability:
    """Return how to make a repository's writes lasting, by the file system that it stands on."""
    if sys.platform != "linux":
        return Durability.EACH
    if common.stat().st_dev != objects.stat().st_dev:
        return Durability.EACH
    return Durability.JOURNAL if kind_of(common) in _JOURNALS else Durability.WHOLE


@cache
def boot() -> str:
    """Return an id of this boot of the machine; empty if the system gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def sync(folder: Path) -> None:
    """Sync a folder: the names in it are on disk on return."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_file_system(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _library().syncfs(handle) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(handle)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
