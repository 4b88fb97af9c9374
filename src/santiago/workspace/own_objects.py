"""A store for the objects of one run, which no clean-up of the repository touches, until a ref is to name them.

`git gc --prune=now` removes what no ref names, at any moment. So new objects lie in a folder of santiago's own that borrows
from the repository. What a ref is to name goes over as one pack with git's own guard, a `.keep` file, beside it; the guard
goes when the ref stands.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PARTS = (".pack", ".rev", ".idx")
"""The index comes last: git takes a pack for there when it sees that."""


class OwnObjects:
    """The store of one run, known to git as a folder of objects."""

    def __init__(self, folder: Path, objects: Path) -> None:
        self.folder = folder
        self._objects = objects
        self._mark = f"santiago {folder.name}\n".encode()
        """What a guard of this run says, so that a later start can tell it from those of others."""

    @property
    def is_there(self) -> bool:
        return self.folder.is_dir()

    def make(self) -> None:
        if self.is_there:
            return
        with guarding(self.folder):
            (self.folder / "info").mkdir(parents=True, exist_ok=True)
            (self.folder / "pack").mkdir(exist_ok=True)
            (self.folder / "info" / "alternates").write_bytes(os.fsencode(self._objects) + b"\n")

    def clear(self) -> None:
        """Remove the store, and the guards that a crash left: what a ref names is in the repository, the rest is nobody's."""
        if not self.is_there:
            return
        for guard in (self._objects / "pack").glob("*.keep"):
            with suppress(OSError):
                if guard.read_bytes() == self._mark:
                    guard.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            self.folder.parent.rmdir()

    @property
    def staging(self) -> Path:
        """Begins the names of packs that are on their way; nobody else looks for packs here."""
        return self.folder / "over"  # to which git adds a digest and an ending

    @contextmanager
    def guarded(self, digest: str) -> Iterator[None]:
        """Hand a staged pack over to the repository, where no clean-up removes it until this is left."""
        target = self._objects / "pack" / f"pack-{digest}"
        guard = target.with_suffix(".keep")
        with guarding(target.parent):
            target.parent.mkdir(exist_ok=True)
            guard.write_bytes(self._mark)
            for end in _PARTS:
                staged = self.folder / f"over-{digest}{end}"
                if staged.exists():
                    _move(staged, target.with_suffix(end))
        yield
        if not all(target.with_suffix(end).exists() for end in (".pack", ".idx")):
            # Only a hand does this: git leaves alone what is guarded.
            raise SantiagoError(
                Kind.BLOCKED, "somebody removed a pack while a ref was being written", where=f"{target}.pack",
                hint="`git fsck` shows what is missing.", reason=Reason.ARTIFACT_CORRUPT,
            )  # fmt: skip
        with guarding(guard):
            guard.unlink(missing_ok=True)


def _move(staged: Path, target: Path) -> None:
    """Move a file within a file system; where the objects stand on another one, copy it and wait until it is on disk."""
    with suppress(OSError):
        staged.rename(target)
        return
    copy = target.with_name(f"santiago-{target.name}")
    with staged.open("rb") as source, copy.open("wb") as sink:
        shutil.copyfileobj(source, sink)
        sink.flush()
        os.fsync(sink.fileno())
    copy.rename(target)
