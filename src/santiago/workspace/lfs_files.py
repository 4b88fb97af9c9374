"""Files of Git LFS: they go into a checkout with their content, and back into the repository as pointers."""

from __future__ import annotations

import os
import stat
import uuid
from typing import TYPE_CHECKING

from santiago.util import regular
from santiago.workspace import lfs, stamps
from santiago.workspace.lfs import LARGEST_OBJECT, LARGEST_POINTER, Objects, Pointer, gives, pointer_in

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.workspace.repository import Repository

_FILES = (b"100644", b"100755")
_EARLIER = 10 * 10**9
"""Nanoseconds by which a filled file is dated before the index. Git would read a file again that is as new as its index."""


def fill(repository: Repository, folder: Path, index: Path) -> None:
    """Replace pointers in a fresh checkout by the objects that are here. Its index shows these files as unchanged."""
    data = index.read_bytes()
    if lfs.ATTRIBUTES not in data:
        return
    kind, top = repository.found.object_format, os.fsencode(folder) + b"/"
    entries = [entry for entry in stamps.entries(data, kind) if stat.S_ISREG(entry.mode)]
    rules = [entry.path for entry in entries if entry.path.rpartition(b"/")[2] == lfs.ATTRIBUTES]
    if not any(gives(regular.content(top + path, lfs.LARGEST_RULES)) for path in rules):
        return
    small = {entry.path: entry.at for entry in entries if 0 < entry.size <= LARGEST_POINTER}
    found = _pointers({path: _content(top + path) for path in lfs.given(repository, small, index, folder)})
    objects, before = Objects(repository), index.stat()
    moment = before.st_mtime_ns - _EARLIER
    marks = {small[path]: objects.put(found[path], top + path, moment) for path in objects.fillable(found)}
    if marks:
        index.write_bytes(stamps.stamped(data, marks, kind))
        os.utime(index, ns=(before.st_atime_ns, before.st_mtime_ns))


def point(repository: Repository, folder: Path, index: Path, base: str) -> tuple[bool, list[str]]:
    """Store each changed file of LFS as an object, and put its pointer into the index instead of its content.

    Return whether the index changed, and messages on files that could not be kept. In the index those stay as in the base.
    """
    changed = _changed(repository, index, base)
    objects, made, lost = Objects(repository), {}, []
    for path in sorted(lfs.given(repository, changed, index, folder)):
        file = os.fsencode(folder) + b"/" + path
        content = regular.content(file, LARGEST_POINTER + 1, follow=False)
        if content == b"" or (content and pointer_in(content)):
            continue  # an empty file is its own pointer
        pointer = objects.keep(file) if content else None
        if pointer is None:
            lost.append(path)
        else:
            made[path] = pointer
    if not (made or lost):
        return False, []
    names = _blobs(repository, index.parent, list(made.values()))
    lines = [b"%b %b\t%b" % (changed[path][0], name, path) for path, name in zip(made, names, strict=True)]
    lines += [b"%b %b\t%b" % (*changed[path][1:], path) for path in lost]
    repository.on_objects("update-index", "-z", "--index-info", index=index, stdin=b"".join(x + b"\0" for x in lines))
    return True, [_refusal(path) for path in lost]


def _refusal(path: bytes) -> str:
    shown = path.decode("utf-8", "backslashreplace")
    return f"{shown}: a file of Git LFS of more than {LARGEST_OBJECT // 2**30} GiB, or not to be read"


def _changed(repository: Repository, index: Path, base: str) -> dict[bytes, tuple[bytes, bytes, bytes]]:
    """Return the files that differ between an index and a commit, each with its new mode, its old mode and its old blob."""
    words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--diff-filter=AMT", base)
    fields = repository.on_objects(*words, index=index).out.split(b"\0")
    found = {}
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, mode, old, *_ = head.removeprefix(b":").split(b" ")
        if mode in _FILES:
            found[path] = (mode, old_mode if old.strip(b"0") else b"0", old)
    return found


def _blobs(repository: Repository, own: Path, pointers: list[Pointer]) -> list[bytes]:
    """Write pointers as git's objects, and return their names."""
    if not pointers:
        return []
    file = own / f"pointer-{uuid.uuid4().hex}"
    files = [file.with_name(f"{file.name}-{number}") for number in range(len(pointers))]
    try:
        for each, pointer in zip(files, pointers, strict=True):
            each.write_bytes(pointer.content)
        named = b"".join(os.fsencode(each) + b"\n" for each in files)
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        return repository.on_objects(*words, writes=True, stdin=named).out.split()
    finally:
        for each in files:
            each.unlink(missing_ok=True)


def absent(repository: Repository, index: Path) -> list[bytes]:
    """Return the files of LFS that stay pointers in a checkout, since their objects are not here."""
    listed = repository.on_objects("ls-files", "-s", "-z", index=index).out.split(b"\0")
    blobs = {
        path: head.split()[1] for head, _, path in (line.partition(b"\t") for line in listed) if head[:6] in _FILES
    }
    names = {path: blobs[path] for path in lfs.given(repository, blobs, index)}
    found = _pointers(dict(zip(names, _small(repository, list(names.values())), strict=True)))
    return sorted(found.keys() - set(Objects(repository).fillable(found)))


def _small(repository: Repository, blobs: list[bytes]) -> list[bytes]:
    """Return the contents of blobs; empty for a blob that is too large to be a pointer."""
    sizes = _asked(repository, "--batch-check=%(objectsize)", blobs).split()
    few = [blob for blob, size in zip(blobs, sizes, strict=False) if size.isdigit() and int(size) <= LARGEST_POINTER]
    data, at, contents = _asked(repository, "--batch=%(objectsize)", few), 0, {}
    for blob in few:
        size, start = int(data[at : data.index(b"\n", at)]), data.index(b"\n", at) + 1
        contents[blob], at = data[start : start + size], start + size + 1
    return [contents.get(blob, b"") for blob in blobs]


def _asked(repository: Repository, way: str, blobs: list[bytes]) -> bytes:
    return repository.on_objects("cat-file", way, stdin=b"".join(blob + b"\n" for blob in blobs)).out if blobs else b""


def _content(path: bytes) -> bytes:
    return regular.content(path, LARGEST_POINTER + 1, follow=False) or b""


def _pointers(contents: dict[bytes, bytes]) -> dict[bytes, Pointer]:
    found = {path: pointer_in(content) for path, content in contents.items()}
    return {path: pointer for path, pointer in found.items() if pointer is not None}
