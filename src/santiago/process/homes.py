"""An agent's part of the home folder: a copy of its settings, except for files that it may write in place.

An agent could write a command into its settings that runs at every start, and the user's next session would run it without
a sandbox. So the agent works on a copy that is removed afterwards. What is too large to copy can only be read.
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
from santiago.process.toolchains import inside
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MOST_BYTES = 16 * 1024 * 1024
MOST_FILES = 1_000
"""Bytes of all copies for one attempt. A folder or file beyond that is not copied, and can only be read."""
MOST_LEFT = 100
"""How many changed files of a copy are named."""
_LOOKED_AT = 20_000
"""How many files of a copy are checked for changes, since an agent may have left any number."""


@record
class Home:
    """What one attempt has of the user's home folder. The user's own paths are written as in the profile."""

    folder: str
    """The folder that replaces the home folder if nothing can be mounted over it."""
    real: str
    copies: dict[str, str] = field(default_factory=dict)
    """The user's own file or folder → the copy that replaces it."""
    shown: tuple[str, ...] = ()
    """Files and folders inside these that were too large to copy."""
    writable: tuple[str, ...] = ()
    """The user's own files that the agent may write in place."""
    fresh: tuple[str, ...] = ()
    """Patterns of what is not copied. It begins empty, and changes of it are not reported."""
    before: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Size and digest of the copied files, by their own names."""

    def left(self) -> tuple[str, ...]:
        """Return the files that the agent changed, made or removed in the copies, by their names in the home folder."""
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
        """Turn the folder into a home folder, for a sandbox that cannot mount over folders; return the variables for it.

        What is not copied is a link to the user's own file, which the sandbox protects from writing.
        """
        for path in (*self.shown, *self.writable):
            for own, copy in self.copies.items():
                if inside(path, own):
                    _link(Path(copy + path[len(own) :]), path)
        if self.real:
            self._fill(Path(self.folder), Path(self.real))
        return {name: self._moved(name, value) for name, value in environment.items()}

    def _moved(self, name: str, value: str) -> str:
        """Return the new value of a variable that names the home folder, or a folder of the agent's settings."""
        if self.real and (value == self.real or (name.startswith("XDG_") and inside(value, self.real))):
            return self.folder + value[len(self.real) :]
        return self.copies.get(value, value)

    def _fill(self, folder: Path, real: Path) -> None:
        """Add links to everything that a folder lacks. The copies themselves are complete."""
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
    """Copy what an agent needs of the home folder `real` into a folder below `side`."""
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
        """Copy a file, or a folder entry by entry, so that one large entry does not prevent the others."""
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
        """Copy a link whose target is not copied. The target is shown at its real path."""
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
    """Yield at most `most` files at or below a path, each with its name; names that match `without` are left out."""
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
        return []  # unreadable for us, so the agent does not get it either


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  # thousands of them
    except OSError:
        return 0


def _holds(path: str, size: int, digest: str) -> bool:
    """Tell whether a file is unchanged since it was copied. A file of another size is not read."""
    return _size(path) == size and _digest(regular.content(path, size + 1, follow=False) or b"") == digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _link(path: Path, leads: str) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(leads)
