"""Git's index, as far as santiago writes it: the stat marks by which git sees that a file is unchanged.

When santiago replaces the content of a checked-out file, git would take the file for changed. With the new marks in its
index git takes it for unchanged, until somebody really changes the file.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

_START = struct.Struct(">4sII")
_VERSIONS = (2, 3)
"""Index versions that hold every path in full. Git writes no other version unless it is told to."""
_MARKS = struct.Struct(">6I")
_REST = struct.Struct(">3I")
_MODE_AT, _REST_AT, _NAME_AT = 24, 28, 40
_EXTENDED, _LENGTH = 0x4000, 0x0FFF
_WORD = 0xFFFFFFFF


class Entry(NamedTuple):
    at: int
    """Its offset in the index."""
    mode: int
    size: int
    path: bytes


def entries(index: bytes, object_format: str) -> Iterator[Entry]:
    """Yield the entries of an index; none if its version is not known here."""
    start, version, count = _START.unpack_from(index)
    if start != b"DIRC" or version not in _VERSIONS:
        return
    at, names = _START.size, _NAME_AT + hashlib.new(object_format).digest_size
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", index, at + _MODE_AT)
        (size,) = struct.unpack_from(">I", index, at + _NAME_AT - 4)
        (flags,) = struct.unpack_from(">H", index, at + names)
        name = at + names + (4 if flags & _EXTENDED else 2)
        end = name + (flags & _LENGTH)
        if flags & _LENGTH == _LENGTH or index[end]:  # the path is longer than the field can say
            end = index.index(b"\0", name)
        yield Entry(at, mode, size, index[name:end])
        at += (end - at + 8) // 8 * 8


def stamped(index: bytes, marks: Mapping[int, os.stat_result], object_format: str) -> bytes:
    """Return an index with new marks for some files, given by the offsets of their entries."""
    size = hashlib.new(object_format).digest_size
    body = bytearray(index[:-size])
    for at, info in marks.items():
        times = (*divmod(info.st_ctime_ns, 10**9), *divmod(info.st_mtime_ns, 10**9))
        _MARKS.pack_into(body, at, *(value & _WORD for value in (*times, info.st_dev, info.st_ino)))
        _REST.pack_into(body, at + _REST_AT, *(value & _WORD for value in (info.st_uid, info.st_gid, info.st_size)))
    return bytes(body) + hashlib.new(object_format, body).digest()
