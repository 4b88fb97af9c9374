"""Git LFS without its program: pointers and the objects behind them, read and written by santiago itself.

In the repository, a file of LFS is a pointer: a few lines with the digest of the real content, which lies beside git's own
objects. LFS replaces one by the other with a filter. Santiago runs no filter of a repository, so it does this itself.
"""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.patterns import pattern
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.util import regular
from santiago.workspace.durable import sync

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from santiago.workspace.repository import Repository

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
