"""Santiago's own folders: where they stand, and how they go away whatever an agent did to them."""

from __future__ import annotations

import itertools
import os
import stat
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.workspace.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("work", "own", "clean")
"""Folders of agents, santiago's notes beside each, clean checkouts."""


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
        self._apart = self.top.parents[2] / sha256(str(self.top).encode()).hexdigest()[:12]
        """Beside all that is santiago's, where no name tells whose it is; on the same disk, and there only while in use."""
        self._parents = frozenset((*(str(self.top / kind) for kind in KINDS), str(self._apart)))
        self.trash = self.top / "trash"
        self.temporary = self.top / "tmp"
        """For the temporary files of checks."""
        self._sweeper: Sweeper | None = None

    @contextmanager
    def sweeping(self) -> Iterator[None]:
        """Remove what is discarded in the background meanwhile; on leaving, all of it is gone."""
        with Sweeper(_remove) as self._sweeper:
            try:
                yield
            finally:
                self._sweeper = None
                with suppress(OSError):
                    self._apart.rmdir()

    def attempt(self, story: str, attempt: int) -> Place:
        name = f"{story}-{attempt}"
        return Place(self.top / "work" / name, self.top / "own" / name)

    def clean(self, name: str) -> Path:
        return self.top / "clean" / name

    def apart(self) -> Path:
        """Return a folder, not yet made, whose path says nothing of santiago, the run or the story."""
        return self._apart / uuid.uuid4().hex[:8]

    def discard(self, folder: Path) -> None:
        """Remove a folder of santiago's own, without following any link; nothing happens where there is none."""
        folder = self._checked(folder)
        if not os.path.lexists(folder):
            return
        # Out of the way in one step first: a crash then leaves rubbish, never half a folder that looks whole.
        rubbish = self.trash / uuid.uuid4().hex
        try:
            self.trash.mkdir(parents=True, exist_ok=True)
            _move(folder, rubbish)
            (self._sweeper or _remove)(rubbish)
        except OSError as error:
            raise SantiagoError(
                Kind.TRANSIENT, f"cannot remove it: {os.strerror(error.errno or 0)}", where=str(error.filename or folder),
                hint="Remove it yourself; nothing in it is needed any more.", reason=Reason.IO_ERROR,
            ) from None  # fmt: skip

    def discard_all(self) -> list[str]:
        """Remove everything that the run left here, and return the names; not while something is being swept."""
        names = [str(path) for kind in KINDS for path in sorted((self.top / kind).glob("*"))]
        names += map(str, sorted(self._apart.glob("*")))
        for name in names:
            self.discard(Path(name))
        for left in (*self.trash.glob("*"), *self.temporary.glob("*")):
            _remove(left)
        for kind in (*KINDS, "trash", "tmp", ""):
            with suppress(OSError):
                (self.top / kind).rmdir()
        with suppress(OSError):
            self._apart.rmdir()
        return names

    def _checked(self, folder: Path) -> Path:
        """Refuse what is not exactly two steps below the run's folder once all links on the way are followed."""
        parent = os.path.realpath(folder.parent)
        if parent not in self._parents or folder.name in ("", ".", ".."):
            raise SantiagoError(Kind.BUG, "not a folder of santiago's own; it is left alone", where=str(folder))
        return Path(parent, folder.name)


def _remove(top: Path) -> None:
    """Remove whatever stands here. Folders inside move up before they are emptied, so that no depth is too deep."""
    if not stat.S_ISDIR(top.lstat().st_mode):
        top.unlink()
        return
    names = (top / uuid.uuid4().hex for _ in itertools.count())
    waiting = _emptied(top, names)
    while waiting:
        folder = waiting.pop()
        waiting += _emptied(folder, names)
        folder.rmdir()
    top.rmdir()


def _emptied(folder: Path, names: Iterator[Path]) -> list[Path]:
    """Remove the files of a folder, give the folders inside new names, and return these."""
    _open_up(folder)
    with os.scandir(folder) as found:
        entries = list(found)
    moved = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            target = next(names)
            _move(Path(entry.path), target)
            moved.append(target)
        else:
            os.unlink(entry.path)  # noqa: PTH108  # the entry's own path
    return moved


def _move(path: Path, target: Path) -> None:
    try:
        path.rename(target)
    except PermissionError:
        # A folder that is not writable cannot change its parent.
        _open_up(path)
        path.rename(target)


def _open_up(path: Path) -> None:
    """Give the owner all rights on a folder."""
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
        path.chmod(stat.S_IMODE(mode) | 0o700)
