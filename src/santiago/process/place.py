"""Where a checkout stands: its folder on this machine, and the path by which the programs that run in it know it.

In a file system of its own a checkout stands where its repository stands, so that absolute paths, editable installs and
virtual environments mean the checkout; elsewhere it is known by its own path.
"""

from __future__ import annotations

import os
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.process.places import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OUTSIDE = "/run/santiago"
"""In a file system of its own: the folder for what is read beside a checkout; no repository of the user's is there."""
STORES = f"{OUTSIDE}/objects"


@record
class Dependency:
    """A folder of dependencies that git knows nothing of and a checkout needs, such as `.venv`."""

    name: str
    """Its path in the repository."""
    source: str
    """Where its files lie on this machine."""


@record
class Place:
    """Where one checkout stands."""

    host: str
    seen: str
    names: tuple[str, ...] = ()
    """Other paths that lead to where it is seen, through symbolic links."""
    read: Mapping[str, str] = field(default_factory=dict)
    """What its programs read beside it: where it lies on this machine, and by which path they know it."""
    provided: tuple[Dependency, ...] = ()
    shown: tuple[str, ...] = ()
    """What these are built on, known by its own path."""
    over: str | None = None
    """A folder for what is written over them; they can only be read where there is none."""
    first: tuple[str, ...] = ()
    """Folders of the checkout that python must search first: installed packages lead to others of their names."""
    readonly: bool = False
    """Whether its programs are only to look at it, where a fence can see to that."""

    def upper(self, dependency: Dependency) -> str | None:
        """Return the folder for what is written over a dependency."""
        return f"{self.over}/{dependency.name}" if self.over else None

    def called(self, path: str) -> str:
        """Return by which path the programs know a file or folder of this machine that they may read."""
        return self.read.get(path, path)

    def reading(self, *paths: str) -> Place:
        """Return the place with more of this machine that its programs read; outside of what is seen there."""
        moved = self.seen != self.host
        return replace(
            self, read={**self.read, **{path: f"{OUTSIDE}/{Path(path).name}" if moved else path for path in paths}}
        )

    def told(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables for a program that runs here: where it is, and what python searches first."""
        search = [f"{self.seen}/{folder}" for folder in self.first]
        path = ":".join([*search, *filter(None, [environment.get("PYTHONPATH")])])
        return {**environment, "PWD": self.seen, **({"PYTHONPATH": path} if search else {})}

    def lacks(self, path: str) -> bool:
        """Tell whether a path of the repository leads to nothing here: the checkout has no such file."""
        if self.seen == self.host or not inside(path, self.seen):
            return False
        name = os.path.relpath(path, self.seen)
        return not (os.path.lexists(Path(self.host, name)) or any(inside(name, one.name) for one in self.provided))


@record
class Ground:
    """What the checkouts of one repository have in common."""

    repo: str = ""
    seen_there: bool = False
    """Whether all of them are seen where the repository stands; each is known by its own path otherwise."""
    names: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    """The folders of objects that the checkouts' git directories borrow from."""
    dependencies: tuple[Dependency, ...] = ()
    shown: tuple[str, ...] = ()
    over: str | None = None
    first: tuple[str, ...] = ()
    given: dict[str, tuple[Dependency, ...]] = field(default_factory=dict)
    """What single checkouts get in place of these dependencies; whoever prepares a checkout says so here."""

    def place(self, folder: str, *read: str) -> Place:
        """Return where a checkout stands whose programs also read some files or folders of this machine."""
        if not self.seen_there:
            return Place(host=folder, seen=folder, first=self.first).reading(*self.stores, *read)
        return Place(
            host=folder,
            seen=self.repo,
            names=self.names,
            read={store: f"{STORES}/{number}" for number, store in enumerate(self.stores)},
            provided=tuple(one for one in self.given.get(folder, self.dependencies) if _has_room(folder, one.name)),
            shown=self.shown,
            over=f"{self.over}/{beside(folder)}" if self.over else None,
        ).reading(*read)


def link_into(folder: str, dependencies: Iterable[Dependency]) -> None:
    """Put links to dependencies into a checkout, which nothing else brings there."""
    for one in dependencies:
        target = Path(folder, one.name)
        if _has_room(folder, one.name):
            if target.is_dir():
                target.rmdir()
            target.symlink_to(one.source)


def beside(folder: str) -> str:
    """Return the name under which something is kept that belongs to a checkout and does not stand in it."""
    return "-".join(folder.rstrip("/").split("/")[-2:])


def _has_room(folder: str, name: str) -> bool:
    """Tell whether a dependency can be put into a checkout: its parent is there, and set-up or work made none of its own."""
    target = Path(folder, name)
    if os.path.realpath(target.parent) != str(Path(os.path.realpath(folder), name).parent) or target.is_symlink():
        return False  # a link that somebody left here could lead anywhere
    try:
        return target.parent.is_dir() and not any(target.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False
