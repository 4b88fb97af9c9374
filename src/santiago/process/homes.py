"""An agent's own part of the home folder: a copy of its settings, in which only what is named is the user's own.

Whatever an agent wrote into its settings, such as a command that runs at every start, the user's next session would carry
out, which no fence surrounds. So it works on a copy that is gone afterwards; what is too large for that can only be read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.process.places import inside
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MOST_BYTES = 16 * 1024 * 1024
MOST_FILES = 1_000
"""Of all copies for one attempt; a folder or file that would go beyond is shown as it is, to be read."""
MOST_LEFT = 100
"""Names of what was left in a copy."""
_LOOKED_AT = 20_000
"""Files that are looked at for that; an agent may have left any number."""


@record
class Home:
    """What one attempt has of the user's home folder. Paths of the user's own are written as the profile means them."""

    folder: str
    """Stands for the home folder where nothing can be put over that."""
    real: str
    copies: dict[str, str] = field(default_factory=dict)
    """The user's own file or folder, and the copy that stands in its place."""
    shown: tuple[str, ...] = ()
    """What lies in these and was too large to be copied."""
    writable: tuple[str, ...] = ()
    """What is the user's own and can be written."""
    fresh: tuple[str, ...] = ()
    """What was left out, `*` for any letters: it begins empty, and what becomes of it is of no interest."""
    before: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Size and digest of the copied files, by their own names."""

    def left(self) -> tuple[str, ...]:
        """Return what the agent changed, made or removed in the copies, by the names that it has in the home folder."""
        beside = _among((*self.shown, *self.writable), self.fresh)
        now = {
            name: path
            for own, copy in self.copies.items()
            for name, path in _files(copy, own, _LOOKED_AT, beside)
            if os.path.lexists(path)
        }
        changed = [
            name for name, path in now.items() if name not in self.before or not _holds(path, *self.before[name])
        ]
        gone = [name for name in self.before if name not in now]
        return tuple(self._short(name) for name in sorted({*changed, *gone})[:MOST_LEFT])

    def _short(self, name: str) -> str:
        return f"~{name[len(self.real) :]}" if self.real and inside(name, self.real) else name

    def furnished(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Make the folder a home of its own, for a fence that can put nothing over another; return the variables for it.

        All that is not copied is a link to the user's own, which the fence keeps from being written.
        """
        for path in (*self.shown, *self.writable):
            for own, copy in self.copies.items():
                if inside(path, own):
                    _link(Path(copy + path[len(own) :]), path)
        if self.real:
            self._fill(Path(self.folder), Path(self.real))
        return {name: self._moved(name, value) for name, value in environment.items()}

    def _moved(self, name: str, value: str) -> str:
        """Return where a variable leads that names the home folder, or one of its own for an agent's settings."""
        if self.real and (value == self.real or (name.startswith("XDG_") and inside(value, self.real))):
            return self.folder + value[len(self.real) :]
        return self.copies.get(value, value)

    def _fill(self, folder: Path, real: Path) -> None:
        """Link to everything that a folder lacks; the copies themselves are whole."""
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            for entry in real.iterdir():
                here = folder / entry.name
                if not os.path.lexists(here):
                    here.symlink_to(entry)
                elif str(here) not in self.copies.values():
                    self._fill(here, entry)


def copied(
    side: str, real: str, *, own: Iterable[str], writable: Iterable[str] = (), fresh: Iterable[str] = ()
) -> Home:
    """Copy what an agent reads of the home folder `real` into a folder of its own below `side`."""
    real = real.rstrip("/")
    copying = _Copying(tuple(path for path in writable if Path(path).exists()), tuple(fresh))
    folder = f"{side}/home"
    copies: dict[str, str] = {}
    for number, path in enumerate(dict.fromkeys(own)):
        if Path(path).exists():
            copies[path] = folder + path[len(real) :] if real and inside(path, real) else f"{side}/home-{number}"
            copying.take(path, copies[path])
    return Home(
        folder=folder, real=real, copies=copies, shown=tuple(copying.shown), writable=copying.writable,
        fresh=copying.fresh, before=copying.before,
    )  # fmt: skip


class _Copying:
    """Copies within the limits of one attempt."""

    def __init__(self, writable: tuple[str, ...], fresh: tuple[str, ...]) -> None:
        self.writable = writable
        self.fresh = fresh
        self.apart = _among(writable, fresh)
        self.shown: list[str] = []
        self.before: dict[str, tuple[int, str]] = {}
        self.bytes, self.files = MOST_BYTES, MOST_FILES

    def take(self, own: str, copy: str) -> None:
        """Copy a file, or a folder entry by entry, so that one large entry does not keep the others out."""
        Path(copy).parent.mkdir(parents=True, exist_ok=True)
        if not Path(own).is_dir():
            self._entry(own, copy)
            return
        Path(copy).mkdir(parents=True, exist_ok=True)
        for name in _names(own):
            self._entry(f"{own}/{name}", f"{copy}/{name}")

    def _entry(self, own: str, copy: str) -> None:
        if self.apart(own):
            self._lead(own, copy)
            return
        found = list(_files(own, own, self.files + 1, self.apart, follow=True))
        size = sum(_size(path) for _, path in found)
        if len(found) > self.files or size > self.bytes:
            self.shown.append(own)
            self._lead(own, copy)
            return
        self.files -= len(found)
        self.bytes -= size
        if Path(own).is_dir():
            Path(copy).mkdir(exist_ok=True)
        for name, path in found:
            self._file(name, path, Path(copy + name[len(own) :]))

    def _lead(self, own: str, copy: str) -> None:
        """Keep the link by which something is known that is not copied: it is shown where it really lies."""
        if os.path.islink(own) and (own in self.writable or own in self.shown):  # noqa: PTH114  # a text
            Path(copy).symlink_to(os.path.realpath(own))

    def _file(self, name: str, path: str, target: Path) -> None:
        content = regular.content(path, MOST_BYTES)
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(stat.S_IWUSR | stat.S_IRUSR | (stat.S_IXUSR if os.access(path, os.X_OK) else 0))
            self.before[name] = len(content), _digest(content)


def _among(names: tuple[str, ...], patterns: tuple[str, ...]) -> Callable[[str], bool]:
    exact = frozenset(names)
    return lambda name: name in exact or any(fnmatchcase(name, pattern) for pattern in patterns)


def _files(
    path: str, name: str, most: int, without: Callable[[str], bool], *, follow: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield at most so many files at or below a path, each with the name that stands for it; some names are left out."""
    if not os.path.isdir(path) or (os.path.islink(path) and not follow):  # noqa: PTH112, PTH114  # thousands of them
        yield name, path
        return
    count = 0
    for folder, below, files in os.walk(path, followlinks=follow):
        called = name + folder[len(path) :]
        below[:] = sorted(one for one in below if not without(f"{called}/{one}"))
        links = [] if follow else [one for one in below if os.path.islink(f"{folder}/{one}")]  # noqa: PTH114  # as above
        for one in (*files, *links):
            if not without(f"{called}/{one}"):
                count += 1
                if count > most:
                    return
                yield f"{called}/{one}", f"{folder}/{one}"


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  # names, not paths
    except OSError:
        return []  # not ours to read, so not the agent's either


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  # thousands of them
    except OSError:
        return 0


def _holds(path: str, size: int, digest: str) -> bool:
    """Tell whether a file is what was copied; one of another size, however large, is not read."""
    return _size(path) == size and _digest(regular.content(path, size + 1, follow=False) or b"") == digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _link(path: Path, leads: str) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(leads)
