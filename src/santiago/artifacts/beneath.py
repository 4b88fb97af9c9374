"""Files below one folder, opened by handles and never through a link, since an agent may have put links there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from hashlib import file_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PIECE = 1 << 20


class PlantedError(Exception):
    """In place of one of santiago's files or folders there is something else: a link, a pipe, a device."""


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a path inside the folder. A path that could leave the folder is a bug, and raises ValueError."""
    parts = tuple(path.split("/"))
    if any(part in {"", ".", ".."} or "\0" in part for part in parts):
        raise ValueError(f"not a path inside the out-dir: {path!r}")
    return parts


@contextlib.contextmanager
def opened(root: int, folders: Sequence[str], *, make: bool = False) -> Iterator[list[int]]:
    """Yield handles of the folders along a path, the root's own first."""
    handles = [os.dup(root)]
    try:
        for name in folders:
            handles.append(_enter(handles[-1], name, make=make))
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def _enter(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=folder)
        return _enter(folder, name, make=False)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise PlantedError(name) from None
        raise


def read(folder: int, name: str, limit: int) -> bytes | None:
    """Return a regular file's bytes; None if it does not exist. Raise PlantedError if it is larger than the limit."""
    handle = _regular(folder, name)
    if handle is None:
        return None
    try:
        content = bytearray()
        while piece := os.read(handle, PIECE):
            content += piece
            if len(content) > limit:  # perhaps it grew meanwhile
                raise PlantedError(name)
        return bytes(content)
    finally:
        os.close(handle)


def digest(folder: int, name: str) -> str | None:
    """Return the SHA-256 of a regular file of any size, read piece by piece; None where there is none."""
    handle = _regular(folder, name)
    if handle is None:
        return None
    with os.fdopen(handle, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _regular(folder: int, name: str) -> int | None:
    """Return the handle of a regular file; None if it does not exist. Raise PlantedError if it is anything else."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise PlantedError(name) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise PlantedError(name)
    return handle


def write(folder: int, name: str, content: bytes, *, sync: bool) -> None:
    """Write a new file in place of an old one. This is not atomic."""
    handle = create(folder, name)
    try:
        write_all(handle, content)
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def replace(folder: int, name: str, content: bytes, *, sync: bool = True) -> None:
    """Write a file so that after any crash it is the old one or the new one. With `sync` it is on disk on return."""
    check_place(folder, name)
    temporary = temporary_of(name)
    try:
        write(folder, temporary, content, sync=sync)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    if sync:
        os.fsync(folder)


def sync(folder: int, name: str) -> None:
    """Return when a file and its name are on disk."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.fsync(folder)


def temporary_of(name: str) -> str:
    return f".{name}.tmp"


def is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def create(folder: int, name: str) -> int:
    """Return the handle of a new file. An old one is unlinked and not truncated, since it may be a hard link to another file."""
    try:
        return os.open(name, _NEW, 0o644, dir_fd=folder)
    except FileExistsError:
        check_place(folder, name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        return os.open(name, _NEW, 0o644, dir_fd=folder)


def check_place(folder: int, name: str) -> None:
    """Raise if there is something other than a regular file at the place to write."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise PlantedError(name)


def write_all(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
