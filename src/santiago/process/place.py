"""Where a checkout is: its folder on this machine, and the path at which programs that run in it see it.

In a sandbox with its own file system, a checkout is mounted at the path of its repository, so that absolute paths, editable
installs and virtual environments lead to the checkout. Otherwise it is seen at its own path.
"""

from __future__ import annotations

import os
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.process.toolchains import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OUTSIDE = "/run/santiago"
"""In a sandbox with its own file system: the folder for what is read besides a checkout. No user's repository is there."""
STORES = f"{OUTSIDE}/objects"


@record
class Dependency:
    """A folder of dependencies that git ignores and a checkout needs, such as `.venv`."""

    name: str
    """Its path in the repository."""
    source: str
    """The path of its files on this machine."""
    beneath: tuple[str, ...] = ()
    """Folders whose files are seen where the source has none. They need an overlay."""
    variable: str = ""
    """The variable that tells programs its path, if there is one."""


@record
class Place:
    """Where one checkout is."""

    host: str
    seen: str
    names: tuple[str, ...] = ()
    """Other paths that lead there through symbolic links."""
    read: Mapping[str, str] = field(default_factory=dict)
    """What its programs read besides it: path on this machine → path that they see."""
    provided: tuple[Dependency, ...] = ()
    shown: tuple[str, ...] = ()
    """Folders that the dependencies need, at their own paths."""
    over: str | None = None
    """A folder for what is written to the dependencies; without one, they can only be read."""
    first: tuple[str, ...] = ()
    """Folders of the checkout that python must search first, since installed packages would lead to other copies."""
    readonly: bool = False
    """Whether its programs may only read it, if the sandbox can enforce that."""

    def upper(self, dependency: Dependency) -> str | None:
        """Return the folder for what is written to a dependency; None if it can only be read."""
        return f"{self.over}/{dependency.name}" if self.over else None

    def called(self, path: str) -> str:
        """Return the path at which the programs see a file or folder of this machine."""
        return self.read.get(path, path)

    def reading(self, *paths: str) -> Place:
        """Return the place with more files or folders of this machine that its programs may read."""
        moved = self.seen != self.host
        return replace(
            self, read={**self.read, **{path: f"{OUTSIDE}/{Path(path).name}" if moved else path for path in paths}}
        )

    def told(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables for a program that runs here: its folder, and what python searches first."""
        search = [f"{self.seen}/{folder}" for folder in self.first]
        path = ":".join([*search, *filter(None, [environment.get("PYTHONPATH")])])
        return {**environment, "PWD": self.seen, **({"PYTHONPATH": path} if search else {})}

    @property
    def variables(self) -> dict[str, str]:
        """The variables that tell programs where their dependencies are."""
        return {one.variable: f"{self.seen}/{one.name}" for one in self.provided if one.variable}

    def lacks(self, path: str) -> bool:
        """Tell whether the checkout lacks a file that the repository has at this path."""
        if self.seen == self.host or not inside(path, self.seen):
            return False
        name = os.path.relpath(path, self.seen)
        return not (os.path.lexists(Path(self.host, name)) or any(inside(name, one.name) for one in self.provided))


@record
class Ground:
    """What the checkouts of one repository share."""

    repo: str = ""
    seen_there: bool = False
    """Whether all of them are seen at the repository's path. Otherwise each is seen at its own path."""
    names: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    """The folders of objects that the checkouts' git directories borrow from."""
    dependencies: tuple[Dependency, ...] = ()
    shown: tuple[str, ...] = ()
    over: str | None = None
    first: tuple[str, ...] = ()
    given: dict[str, tuple[Dependency, ...]] = field(default_factory=dict)
    """Checkout → the dependencies that it gets instead of these. Set when a checkout is prepared."""
    built: dict[str, Dependency] = field(default_factory=dict)
    """Build caches, by name. Each checkout has an overlay of its own over them, so what is built there is seen there only."""

    def place(self, folder: str, *read: str, builds: bool = False) -> Place:
        """Return the place of a checkout whose programs also read some files or folders of this machine.

        Only a program that `builds` gets the build caches. They are the user's own, so no program with a network should.
        """
        if not self.seen_there:
            return Place(host=folder, seen=folder, first=self.first).reading(*self.stores, *read)
        return Place(
            host=folder,
            seen=self.repo,
            names=self.names,
            read={store: f"{STORES}/{number}" for number, store in enumerate(self.stores)},
            provided=tuple(
                one
                for one in (*self.given.get(folder, self.dependencies), *(self.built.values() if builds else ()))
                if _has_room(folder, one.name)
            ),
            shown=self.shown,
            over=f"{self.over}/{beside(folder)}" if self.over else None,
        ).reading(*read)


def link_into(folder: str, dependencies: Iterable[Dependency]) -> None:
    """Put links to dependencies into a checkout that does not get them in another way."""
    for one in dependencies:
        target = Path(folder, one.name)
        if _has_room(folder, one.name):
            if target.is_dir():
                target.rmdir()
            target.symlink_to(one.source)


def beside(folder: str) -> str:
    """Return the name for something that belongs to a checkout but is kept outside it."""
    return "-".join(folder.rstrip("/").split("/")[-2:])


def _has_room(folder: str, name: str) -> bool:
    """Tell whether a dependency can be put into a checkout: its parent exists, and nothing else has its name."""
    target = Path(folder, name)
    if os.path.realpath(target.parent) != str(Path(os.path.realpath(folder), name).parent) or target.is_symlink():
        return False  # a link that was left here could lead anywhere
    try:
        return target.parent.is_dir() and not any(target.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False
