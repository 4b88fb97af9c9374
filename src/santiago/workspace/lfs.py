"""Git LFS without its program: pointers and the objects behind them, read and written by santiago itself.

In the repository, a file of LFS is a pointer: a few lines with the digest of the real content, which lies beside git's own
objects. LFS replaces one by the other with a filter. Santiago runs no filter of a repository, so it does this itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import struct
import uuid
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.util import regular
from santiago.workspace.durable import sync

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from santiago.workspace.repository import Repository


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


_FILES = (b"100644", b"100755")
_EARLIER = 10 * 10**9
"""Nanoseconds by which a filled file is dated before the index. Git would read a file again that is as new as its index."""


def fill(repository: Repository, folder: Path, index: Path) -> None:
    """Replace pointers in a fresh checkout by the objects that are here. Its index shows these files as unchanged."""
    data = index.read_bytes()
    if ATTRIBUTES not in data:
        return
    kind, top = repository.found.object_format, os.fsencode(folder) + b"/"
    regulars = [entry for entry in entries(data, kind) if stat.S_ISREG(entry.mode)]
    rules = [entry.path for entry in regulars if entry.path.rpartition(b"/")[2] == ATTRIBUTES]
    if not any(gives(regular.content(top + path, LARGEST_RULES)) for path in rules):
        return
    small = {entry.path: entry.at for entry in regulars if 0 < entry.size <= LARGEST_POINTER}
    found = _pointers({path: _content(top + path) for path in given(repository, small, index, folder)})
    objects, before = Objects(repository), index.stat()
    moment = before.st_mtime_ns - _EARLIER
    marks = {small[path]: objects.put(found[path], top + path, moment) for path in objects.fillable(found)}
    if marks:
        index.write_bytes(stamped(data, marks, kind))
        os.utime(index, ns=(before.st_atime_ns, before.st_mtime_ns))


def point(repository: Repository, folder: Path, index: Path, base: str) -> tuple[bool, list[str]]:
    """Store each changed file of LFS as an object, and put its pointer into the index instead of its content.

    Return whether the index changed, and messages on files that could not be kept. In the index those stay as in the base.
    """
    changed = _changed(repository, index, base)
    objects, made, lost = Objects(repository), {}, []
    for path in sorted(given(repository, changed, index, folder)):
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
    names = {path: blobs[path] for path in given(repository, blobs, index)}
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


ATTRIBUTES = b".gitattributes"
GIVEN = b"filter=lfs"
"""Every rule in .gitattributes that gives files to LFS contains this, also one that defines a macro for it."""
LARGEST_RULES = 2**20
LARGEST_POINTER = 1024
LARGEST_OBJECT = 4 * 2**30
MOST_FILLED = 2 * 2**30
"""Bytes of objects that one checkout gets, since each checkout is a copy. Further files stay pointers."""
MOST_READ = 64 * 2**20
_PIECE = 2**20
_VERSION = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER = pattern(_VERSION + rb"(ext-[^\n]{1,200}\n){0,9}oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n")


@lean(frozen=True)
class Pointer:
    oid: str
    size: int

    @property
    def content(self) -> bytes:
        return _VERSION + f"oid sha256:{self.oid}\nsize {self.size}\n".encode()


def pointer_in(content: bytes) -> Pointer | None:
    """Return the pointer in a file's content; None if it holds none. One that only another program understands has no size."""
    found = _POINTER.fullmatch(content) if len(content) <= LARGEST_POINTER else None
    return Pointer(found[2].decode(), -1 if found[1] else int(found[3])) if found else None


def gives(rules: bytes | None) -> bool:
    """Tell whether the content of a .gitattributes file may give files to LFS."""
    return rules is not None and (GIVEN in rules or len(rules) >= LARGEST_RULES)


def is_used(folder: Path, paths: Iterable[str]) -> bool:
    """Tell whether attributes in a folder may give some of these paths to LFS; starts no git."""
    above = {""}
    for path in paths:
        if "\\" in path:
            return True  # the path is not valid text, so this is only a guess
        while "/" in path:
            path = path.rpartition("/")[0]
            if path in above:
                break
            above.add(path)
    name = ATTRIBUTES.decode()
    return any(gives(regular.content(folder / one / name, LARGEST_RULES, follow=False)) for one in above)


def given(repository: Repository, paths: Iterable[bytes], index: Path, folder: Path | None = None) -> set[bytes]:
    """Return which of these paths the attributes give to LFS. They are read from the folder, or from the index without one."""
    asked = b"".join(path + b"\0" for path in paths)
    if not asked:
        return set()
    words = ("check-attr", "-z", "--stdin", *(() if folder else ("--cached",)), "filter")
    fields = repository.on_objects(*words, index=index, folder=folder, stdin=asked).out.split(b"\0")
    return {path for path, value in zip(fields[::3], fields[2::3], strict=False) if value == b"lfs"}


class Objects:
    """The objects of LFS in a repository, as its program lays them out.

    `git lfs prune` removes what no recent branch names, at any moment. So each object of a run's work has a second name in a
    folder of the run's own, and comes back from there when it is asked for.
    """

    def __init__(self, repository: Repository) -> None:
        found = repository.found
        self._top = found.common / (found.config.get("lfs.storage") or "lfs")
        self._guarded = repository.guarded_lfs

    def path(self, oid: str) -> Path:
        return self._top / "objects" / oid[:2] / oid[2:4] / oid

    def has(self, pointer: Pointer) -> bool:
        self._bring_back(pointer.oid)
        try:
            info = self.path(pointer.oid).stat()
        except OSError:
            return False
        return stat.S_ISREG(info.st_mode) and info.st_size == pointer.size

    def bring_all_back(self) -> None:
        """See to it that LFS has all objects of the run's work: a branch is about to name them."""
        for guarded in self._guarded.iterdir() if self._guarded.is_dir() else ():
            self._bring_back(guarded.name)

    def _bring_back(self, oid: str) -> None:
        guarded, target = self._guarded / oid, self.path(oid)
        if guarded.exists() and not target.exists():
            with _in_words(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    target.hardlink_to(guarded)
                self._sync(target)

    def beginning(self, pointer: Pointer) -> bytes | None:
        """Return the beginning of an object's content, up to the limit for files in memory; None if it is not here."""
        return regular.content(self.path(pointer.oid), MOST_READ) if self.has(pointer) else None

    def fillable(self, pointers: Mapping[bytes, Pointer]) -> list[bytes]:
        """Return the paths whose objects are here, up to what one checkout gets."""
        left, found = MOST_FILLED, []
        for path in sorted(pointers):
            size = pointers[path].size
            if size <= left and self.has(pointers[path]):
                found.append(path)
                left -= size
        return found

    def keep(self, path: bytes) -> Pointer | None:
        """Store a regular file as an object of LFS, and return its pointer; None if it is no such file, or too large."""
        temporary = self._top / "tmp" / f"santiago-{uuid.uuid4().hex}"
        digest, size = sha256(), 0
        with _in_words(temporary), suppress(FileNotFoundError), regular.opened(path, follow=False) as source:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("xb") as sink:
                    while piece := source.read(_PIECE):
                        digest.update(piece)
                        size += len(piece)
                        if size > LARGEST_OBJECT:
                            return None
                        sink.write(piece)
                    sink.flush()
                    os.fsync(sink.fileno())
                pointer = Pointer(digest.hexdigest(), size)
                self._guarded.mkdir(parents=True, exist_ok=True)
                with suppress(OSError):  # it is there already, or LFS keeps its objects on another file system
                    (self._guarded / pointer.oid).hardlink_to(temporary)
                self._place(temporary, pointer)
                return pointer
            finally:
                temporary.unlink(missing_ok=True)
        return None

    def _place(self, temporary: Path, pointer: Pointer) -> None:
        if self.has(pointer):
            return
        target = self.path(pointer.oid)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(target)
        self._sync(target)

    def _sync(self, target: Path) -> None:
        for folder in (target.parent, *target.parent.parents):
            sync(folder)
            if folder == self._top.parent:
                break

    def put(self, pointer: Pointer, file: bytes, moment: int) -> os.stat_result:
        """Replace a pointer in a file by its object, with an earlier time stamp; return the file's new stat."""
        target = Path(os.fsdecode(file))
        with _in_words(target), self.path(pointer.oid).open("rb") as source, target.open("r+b") as sink:
            shutil.copyfileobj(source, sink, _PIECE)
            sink.flush()
            os.utime(sink.fileno(), ns=(moment, moment))
        return os.lstat(file)


@contextmanager
def _in_words(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SantiagoError(
            Kind.TRANSIENT, f"cannot write an object of Git LFS: {os.strerror(error.errno or 0)}", where=str(where),
            hint="Make room on the disk or give back its rights, then run the same command again.", reason=Reason.IO_ERROR,
        ) from None  # fmt: skip
