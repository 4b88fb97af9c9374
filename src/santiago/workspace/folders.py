"""Santiago's own folders: where they are, and how they are removed, whatever an agent did to them."""

from __future__ import annotations

import os
import threading
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Self

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import lean
from santiago.process.place import beside
from santiago.util.disk import CACHE, failed, guarding
from santiago.util.removal import move, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


_MOST = 8
"""How many folders may wait to be removed. A caller with one more waits, so that the disk does not fill up."""


class Sweeper:
    """A thread that removes the folders it is given. After a crash, the rest lies in the trash for the next start."""

    def __init__(self, remove: Callable[[str], None]) -> None:
        self._remove = remove
        self._waiting: Queue[str | None] = Queue(_MOST)
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="sweeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._thread.join()

    def __call__(self, folder: str) -> None:
        """Have a folder removed; raise if an earlier one could not be."""
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        self._waiting.put(folder)

    def _work(self) -> None:
        while (folder := self._waiting.get()) is not None:
            try:
                self._remove(folder)
            except Exception as error:  # raised when the next folder is discarded
                self._failed = error


KINDS = ("work", "own", "clean", "over")
"""Folders of agents, santiago's notes beside each, clean checkouts, and what either wrote over its dependencies."""


@lean(frozen=True)
class Place:
    """The paths of one attempt: the agent's folder, and beside it santiago's own notes, which are not for the agent."""

    folder: Path
    own: Path

    @property
    def index(self) -> Path:
        return self.own / "index"

    @property
    def base(self) -> Path:
        return self.own / "base"

    @property
    def provided(self) -> Path:
        """Lists the untracked files that were there before the agent began, such as those that set-up made."""
        return self.own / "provided"

    @property
    def boot(self) -> Path:
        """Holds the id of the boot in which the attempt's files were written."""
        return self.own / "boot"


class Folders:
    """The folders of one run."""

    def __init__(self, scratch: Path, run_id: str) -> None:
        # Resolved once, so that later comparisons need not follow any link.
        self.top = Path(os.path.realpath(scratch)) / run_id
        self._parents: dict[str, tuple[int, int] | None] = {str(self.top / kind): None for kind in KINDS}
        """Santiago's own folders, each with its inode number once it is known that no symbolic link leads to it."""
        self._work, self._own = self.top / "work", self.top / "own"
        self.over = self.top / "over"
        self.trash, self.aside = self.top / "trash", self.top / "aside"
        self.temporary = self.top / "tmp"
        """For the temporary files of checks."""
        self.examined = self.top / "examined"
        """For results of checks on the base, until the first agent starts. The next start reads what a crash leaves here."""
        self._sweeper: Sweeper | None = None

    @contextmanager
    def sweeping(self) -> Iterator[None]:
        """Remove what is discarded in the background meanwhile; on leaving, all of it is gone."""
        with Sweeper(remove) as self._sweeper:
            try:
                yield
            finally:
                self._sweeper = None

    def written(self) -> AbstractContextManager[None]:
        """Turn a disk error into one that names the place and the remedy."""
        return guarding(self.top, remedy=CACHE)

    def attempt(self, story: str, attempt: int) -> Place:
        name = f"{story}-{attempt}"
        return Place(self._work / name, self._own / name)

    def clean(self, name: str) -> Path:
        return self.top / "clean" / name

    def discard(self, folder: Path) -> None:
        """Remove a folder of santiago's own, without following any link. A missing folder is fine."""
        self._check(folder)
        over = self.over / beside(str(folder))
        if os.path.lexists(over):
            self.discard(over)
        if not os.path.lexists(folder):
            return
        # First moved away in one step, so that a crash never leaves half a folder that looks whole.
        rubbish = f"{self.trash}/{uuid.uuid4().hex}"
        try:
            if not self.trash.is_dir():
                self.trash.mkdir(parents=True, exist_ok=True)
            move(str(folder), rubbish)
            (self._sweeper or remove)(rubbish)
        except OSError as error:  # perhaps about an earlier folder, removed in the background
            raise failed(error.filename or folder, error, "it could not be removed", "remove it yourself") from None

    def put_aside(self, folder: Path) -> str:
        """Keep a folder of an attempt until the run is pruned; return where it is now, or nothing if it cannot be moved."""
        self._check(folder)
        target = self.aside / f"{folder.name}-{uuid.uuid4().hex[:8]}"
        try:
            self.aside.mkdir(parents=True, exist_ok=True)
            move(str(folder), str(target))
        except OSError:
            return ""
        return str(target)

    def discard_all(self) -> list[str]:
        """Remove everything that the run left here, and return the names. Not to be called while `sweeping`."""
        names = [str(path) for kind in KINDS for path in sorted((self.top / kind).glob("*"))]
        for name in names:
            self.discard(Path(name))
        for left in (*self.trash.glob("*"), *self.temporary.glob("*")):
            with guarding(left, "it could not be removed", "remove it yourself"):
                remove(str(left))
        for kind in (*KINDS, "trash", "tmp", "aside", ""):
            with suppress(OSError):
                (self.top / kind).rmdir()
        return names

    def _check(self, folder: Path) -> None:
        """Raise if a folder is outside santiago's own folders, or if a symbolic link leads to it."""
        parent = str(folder.parent)
        if parent not in self._parents or folder.name in ("", ".", ".."):
            raise SantiagoError(Kind.BUG, "not a folder of santiago's own; it is left alone", where=str(folder))
        try:
            info = os.stat(parent)  # noqa: PTH116  # asked for with every folder
        except OSError:
            return  # then nothing stands there
        if self._parents[parent] != (info.st_dev, info.st_ino):
            if os.path.realpath(parent) != parent:
                raise SantiagoError(
                    Kind.BUG, "a link leads out of santiago's own folder; it is left alone", where=parent
                )
            self._parents[parent] = info.st_dev, info.st_ino
