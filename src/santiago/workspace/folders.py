"""Santiago's own folders: where they stand, and how they go away whatever an agent did to them."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.process.place import beside
from santiago.util.disk import CACHE, failed, guarding
from santiago.util.removal import move, remove
from santiago.workspace.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

KINDS = ("work", "own", "clean", "over")
"""Folders of agents, santiago's notes beside each, clean checkouts, what was written over the dependencies of either."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one attempt stands: the agent's folder, and beside it what the agent has no business with."""

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
        """Names what set-up left, of which git knows nothing: it was there before the agent began."""
        return self.own / "provided"

    @property
    def boot(self) -> Path:
        """Says since which start of the machine the attempt's files are written."""
        return self.own / "boot"


class Folders:
    """The folders of one run."""

    def __init__(self, scratch: Path, run_id: str) -> None:
        # Resolved once, so that later comparisons need not follow any link.
        self.top = Path(os.path.realpath(scratch)) / run_id
        self._parents: dict[str, tuple[int, int] | None] = {str(self.top / kind): None for kind in KINDS}
        """Where folders of santiago's own stand, and by which number each is known once no link was found on its way."""
        self._work, self._own = self.top / "work", self.top / "own"
        self.over = self.top / "over"
        self.trash = self.top / "trash"
        self.temporary = self.top / "tmp"
        """For the temporary files of checks."""
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
        """Guard what writes here: a disk that fails is said with the place and the remedy."""
        return guarding(self.top, remedy=CACHE)

    def attempt(self, story: str, attempt: int) -> Place:
        name = f"{story}-{attempt}"
        return Place(self._work / name, self._own / name)

    def clean(self, name: str) -> Path:
        return self.top / "clean" / name

    def discard(self, folder: Path) -> None:
        """Remove a folder of santiago's own, without following any link; nothing happens where there is none."""
        self._check(folder)
        over = self.over / beside(str(folder))
        if os.path.lexists(over):
            self.discard(over)
        if not os.path.lexists(folder):
            return
        # Out of the way in one step first: a crash then leaves rubbish, never half a folder that looks whole.
        rubbish = f"{self.trash}/{uuid.uuid4().hex}"
        try:
            if not self.trash.is_dir():
                self.trash.mkdir(parents=True, exist_ok=True)
            move(str(folder), rubbish)
            (self._sweeper or remove)(rubbish)
        except OSError as error:  # perhaps over an earlier folder, in the background
            raise failed(error.filename or folder, error, "it is not removed", "remove it yourself") from None

    def discard_all(self) -> list[str]:
        """Remove everything that the run left here, and return the names; not while something is being swept."""
        names = [str(path) for kind in KINDS for path in sorted((self.top / kind).glob("*"))]
        for name in names:
            self.discard(Path(name))
        for left in (*self.trash.glob("*"), *self.temporary.glob("*")):
            with guarding(left, "it is not removed", "remove it yourself"):
                remove(str(left))
        for kind in (*KINDS, "trash", "tmp", ""):
            with suppress(OSError):
                (self.top / kind).rmdir()
        return names

    def _check(self, folder: Path) -> None:
        """Refuse what does not stand in a folder of santiago's own, and one that a link leads to."""
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
