"""Reading documents that may be hostile, and writing files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from pathlib import Path

MAX_DOCUMENT = 16 * 1024 * 1024
"""Largest document that is read, in bytes. A requirements document needs no more."""

LARGEST = 64 * 2**20
"""Largest file of a run that is read back, in bytes."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})
"""Errors of file systems that have no hard links."""
_WORDS = {
    errno.ENOENT: ("there is no such file", "Check the path."),
    errno.ENOTDIR: ("a part of the path is not a folder", "Check the path."),
    errno.EACCES: ("reading it is not permitted", "Change its permissions, or run as its owner."),
    errno.ELOOP: ("its symbolic links lead in a circle", "Point the link at a file."),
    errno.ENAMETOOLONG: ("the name is too long", "Check the path."),
    errno.ENXIO: ("it is a socket or a device without a reader", "Name a regular file."),
}


_PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of .docx and .odt, and of .doc."""


def read_text(path: Path, limit: int = MAX_DOCUMENT) -> str:
    """Return the text of a document; raise a clear error if it is not readable UTF-8 text."""
    data = read_bytes(path, limit)
    if data.startswith(_PACKED):
        raise _bad(
            path,
            "it is not text but a Word file or an archive",
            f"Convert it: `pandoc {path.name} -t gfm -o {path.stem}.md`.",
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise _bad(
            path, "it holds NUL bytes, so it is not text", "Save it as UTF-8 text.", line=data.count(b"\n", 0, nul) + 1
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad(path, f"it is not UTF-8 (byte {error.start})", "Save it as UTF-8.", line=line) from None


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file within the limit. Never waits for a FIFO or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        message, hint = _WORDS.get(error.errno or 0, (os.strerror(error.errno or 0), "Check the path."))
        raise _bad(path, message, hint) from None
    except ValueError:
        raise _bad(path, "the path holds a NUL byte", "Check the path.") from None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            what = "a folder" if stat.S_ISDIR(info.st_mode) else "not a regular file"
            raise _bad(path, f"it is {what}", "Name a file.")
        if info.st_size > limit:
            raise _bad(path, f"it is larger than {limit // 2**20} MiB", "Split the document.")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(limit + 1)
    finally:
        os.close(handle)
    if len(data) > limit:
        raise _bad(path, f"it is larger than {limit // 2**20} MiB", "Split the document.")
    return data


def read_json(path: Path, limit: int) -> Any:
    """Return what a small JSON file holds; None if it is missing or unreadable."""
    import json

    try:
        return json.loads(read_bytes(path, limit))
    except (SantiagoError, OSError, ValueError, RecursionError):
        return None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that after any crash it is the old one or the new one. It is on disk on return."""
    with guarding(path, "it was not written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        _write_synced(temporary, content)
        temporary.replace(path)
        sync_folder(path.parent)


def _write_synced(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(handle)
    finally:
        os.close(handle)


def write_new(path: Path, content: bytes) -> bool:
    """Make a complete file, unless one exists; return whether this call made it.

    Several processes may do so at once. The file of the first one stays, even if it was changed since.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with guarding(path, "it was not written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write_synced(temporary, content)
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            temporary.rename(path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _bad(path: Path, message: str, hint: str, *, line: int = 0) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, where=str(path), hint=hint, line=line, reason=Reason.INVALID_INPUT)
