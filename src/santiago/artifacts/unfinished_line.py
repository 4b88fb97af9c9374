"""An unfinished last line of the log: how it differs from damage, and how it is moved to a file of its own."""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from santiago.artifacts.beneath import PIECE, create, temporary_of, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAST_BYTES = 1 << 16
"""How many bytes at the end of the log are written again when it is opened."""


class SetAside(NamedTuple):
    """Bytes in a file beside the log, which never became a whole line of it."""

    length: int
    digest: str


def is_unfinished(handle: int, start: int) -> bool:
    """Tell whether from here to the end of the file there is one unfinished line and nothing else.

    Zeros after it do not count: file systems leave them if the power fails before the data is written.
    """
    ended = False
    for piece in _pieces(handle, start):
        after = piece
        if not ended:
            _, newline, after = piece.partition(b"\n")
            ended = bool(newline)
        if ended and after.strip(b"\0"):
            return False
    return True


def mend(path: Path, handle: int, end: int, torn: int) -> SetAside | None:
    """Move what follows the last whole line to a file of its own; return what must be recorded, if anything.

    A crash may come after each step. So the bytes are copied before they are cut off, and a copy for the very end of the
    log tells the next start that only the record is missing.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        name = f"{path.stem}.torn.{end}"
        if torn == 0:
            return _digest_of(folder, name)
        found = _set_aside(folder, name, handle, end)
        os.fsync(folder)
        os.ftruncate(handle, end)
        os.fsync(handle)
        return found
    finally:
        os.close(folder)


def write_again(path: Path, end: int) -> None:
    """Write the last bytes of the log over themselves and sync them.

    After a failed sync, the system may wrongly take a page for written. This makes it write the page again.
    """
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        start = max(end - LAST_BYTES, 0)
        os.pwrite(handle, os.pread(handle, end - start, start), start)
        os.fdatasync(handle)
    finally:
        os.close(handle)


def _set_aside(folder: int, name: str, handle: int, start: int) -> SetAside:
    """Copy the bytes to a file whose name no earlier, different copy has."""
    found = _digest(_pieces(handle, start))
    number, free = 1, name
    while (there := _digest_of(folder, free)) is not None:
        if there == found:
            return found
        number += 1
        free = f"{name}.{number}"
    temporary = temporary_of(free)
    try:
        _copy(folder, temporary, handle, start)
        os.rename(temporary, free, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return found


def _copy(folder: int, name: str, handle: int, start: int) -> None:
    target = create(folder, name)
    try:
        for piece in _pieces(handle, start):
            write_all(target, piece)
        os.fsync(target)
    finally:
        os.close(target)


def _digest_of(folder: int, name: str) -> SetAside | None:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        return _digest(_pieces(handle, 0))
    finally:
        os.close(handle)


def _digest(pieces: Iterator[bytes]) -> SetAside:
    length, digest = 0, sha256()
    for piece in pieces:
        length += len(piece)
        digest.update(piece)
    return SetAside(length, digest.hexdigest())


def _pieces(handle: int, start: int) -> Iterator[bytes]:
    while piece := os.pread(handle, PIECE, start):
        start += len(piece)
        yield piece
