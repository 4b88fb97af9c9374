"""A store for the new objects of one run, out of reach of any clean-up of the repository.

`git gc --prune=now` removes what no ref names, at any moment. So new objects lie in a folder of santiago's own that borrows
from the repository. Before a ref is to name them, they are moved to the repository as one pack with a `.keep` file, by which
git leaves the pack alone. When the ref is written, the `.keep` file is removed.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util import regular
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MOST = 32
"""How many folders are followed. Git itself follows five in a row."""
_LARGEST = 64 * 1024


def stores_of(objects: Path) -> tuple[str, ...]:
    """Return the real paths of a folder of objects and of those that it names as its alternates, each once."""
    found: dict[str, None] = {}
    waiting = [os.path.realpath(objects)]
    while waiting and len(found) < MOST:
        store = waiting.pop(0)
        if store not in found and Path(store).is_dir():
            found[store] = None
            waiting += _borrowed(store)
    return tuple(found)


def _borrowed(store: str) -> list[str]:
    note = regular.content(Path(store, "info", "alternates"), _LARGEST) or b""
    lines = [os.fsdecode(line) for line in note.split(b"\n") if line and not line.startswith(b"#")]
    return [os.path.realpath(Path(store, _unquoted(line))) for line in lines]


def _unquoted(line: str) -> str:
    """Return a path without the quotes that git puts around an unusual one."""
    if not (line.startswith('"') and line.endswith('"') and len(line) > 1):
        return line
    return os.fsdecode(os.fsencode(line[1:-1]).decode("unicode_escape").encode("latin-1", "replace"))


_PARTS = (".pack", ".rev", ".idx")
"""The files of a pack in the order of moving. The index comes last, since git sees a pack by its index."""


class OwnObjects:
    """The store of one run, known to git as a folder of objects."""

    def __init__(self, folder: Path, objects: Path) -> None:
        self.folder = folder
        self._objects = objects
        self._alternates = folder / "info" / "alternates"
        self._borrows = os.fsencode(objects) + b"\n"
        self._mark = f"santiago {folder.name}\n".encode()
        """The content of this run's `.keep` files, by which a later start recognises them."""

    @property
    def is_there(self) -> bool:
        """Tell whether git can use the store. What a power cut or a removal in part left is none: it borrows nothing."""
        try:
            return self._alternates.read_bytes() == self._borrows
        except OSError:
            return False

    def make(self) -> None:
        if self.is_there:
            return
        with guarding(self.folder):
            (self.folder / "info").mkdir(parents=True, exist_ok=True)
            (self.folder / "pack").mkdir(exist_ok=True)
            written = self._alternates.with_suffix(".new")
            written.write_bytes(self._borrows)
            written.replace(self._alternates)  # last and at once, since it makes the store

    def clear(self) -> None:
        """Remove the store and any `.keep` files that a crash left. All that refs name is in the repository by now."""
        if not self.folder.is_dir():
            return
        for guard in (self._objects / "pack").glob("*.keep"):
            with suppress(OSError):
                if guard.read_bytes() == self._mark:
                    guard.unlink()
        with suppress(OSError):
            self._alternates.unlink(missing_ok=True)  # first, so that the rest is no store
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            self.folder.parent.rmdir()

    @property
    def staging(self) -> Path:
        """The prefix of packs that are about to be moved. Git does not look for packs here."""
        return self.folder / "over"  # to which git adds a digest and an ending

    @contextmanager
    def guarded(self, digest: str) -> Iterator[None]:
        """Move a staged pack to the repository. Within this context, no clean-up removes it."""
        target = self._objects / "pack" / f"pack-{digest}"
        guard = target.with_suffix(".keep")
        with guarding(target.parent):
            if not target.parent.is_dir():
                target.parent.mkdir(exist_ok=True)
            guard.write_bytes(self._mark)
            for end in _PARTS:
                staged = self.folder / f"over-{digest}{end}"
                if staged.exists():
                    _move(staged, target.with_suffix(end))
        yield
        if not all(target.with_suffix(end).exists() for end in (".pack", ".idx")):
            # Git leaves a guarded pack alone, so a person or another program removed it.
            raise SantiagoError(
                Kind.BLOCKED, "somebody removed a pack while a ref was being written", where=f"{target}.pack",
                hint="`git fsck` shows what is missing.", reason=Reason.ARTIFACT_CORRUPT,
            )  # fmt: skip
        with guarding(guard):
            guard.unlink(missing_ok=True)


def _move(staged: Path, target: Path) -> None:
    """Move a file. If the objects are on another file system, copy it and wait until it is on disk."""
    with suppress(OSError):
        staged.rename(target)
        return
    copy = target.with_name(f"santiago-{target.name}")
    with staged.open("rb") as source, copy.open("wb") as sink:
        shutil.copyfileobj(source, sink)
        sink.flush()
        os.fsync(sink.fileno())
    copy.rename(target)
