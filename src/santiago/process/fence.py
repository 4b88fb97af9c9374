"""Sandboxes without their own file system: none at all, and the kernel's Landlock."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.process import toolchains
from santiago.process.place import Ground, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from santiago.process.command import Command
    from santiago.process.homes import Home
    from santiago.process.place import Dependency

SandboxKind = Literal["bubblewrap", "namespaces", "landlock", "none"]
_CACHES = {
    "XDG_CACHE_HOME": "cache",
    "GOCACHE": "go",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
}


_KEPT_BY_PATH = {"XDG_CACHE_HOME": ".cache", "PYTHONPYCACHEPREFIX": ".pycache", "GOCACHE": ".cache/go-build"}


def with_own_caches(environment: Mapping[str, str], temporary: str) -> dict[str, str]:
    """Return the variables with temporary files moved to a folder, and also those caches that variables put elsewhere.

    Caches that a tool keeps by path must not outlive their checkout, since the next one may have the same path.
    """
    moved = {name: f"{temporary}/{folder}" for name, folder in _KEPT_BY_PATH.items() if name in environment}
    return {**environment, **moved, "TMPDIR": temporary}


@lean(frozen=True)
class Fence:
    """What one command may see and do."""

    place: Place | None
    writable: tuple[str, ...]
    readonly: tuple[str, ...]
    hidden: tuple[str, ...]
    network: bool
    temporary: str | None
    home: Home | None = None


@lean(frozen=True, slots=False)
class Sandbox:
    """No sandbox at all. The others are subclasses."""

    kind: SandboxKind = "none"
    name: str = "none"
    """Its name for the run's header and log."""

    def temporary_seen(self, temporary: str) -> str:
        """Return the path of its temporary folder as a command inside sees it."""
        return temporary

    @property
    def stores(self) -> str | None:
        """The folder below which a checkout finds the objects that it borrows; None if they have their own paths."""
        return None

    def ground(
        self,
        repo: str,
        *,
        names: Iterable[str] = (),
        stores: Iterable[str] = (),
        dependencies: Iterable[Dependency] = (),
        needed: Iterable[str] = (),
        over: str | None = None,
        built: Iterable[Dependency] = (),
    ) -> Ground:
        """Return how the checkouts of a repository are placed in this sandbox.

        `names` are other paths that lead to the repository. Its `dependencies` need the folders `needed` elsewhere, and `over` is a
        folder for what is written to them. `built` are its build caches.
        """
        return self._grounded(
            Ground(
                repo=os.path.realpath(repo),
                names=tuple(names),
                stores=tuple(stores),
                dependencies=tuple(dependencies),
                shown=tuple(needed),
                over=over,
                built={one.name: one for one in built},
            )
        )

    def _grounded(self, ground: Ground) -> Ground:
        return ground

    def wrap(
        self,
        command: Command,
        *,
        place: Place | None = None,
        writable: tuple[str, ...] = (),
        readonly: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        network: bool = False,
        temporary: str | None = None,
        home: Home | None = None,
    ) -> Command:
        """Return the command inside the sandbox. `temporary` is its folder for temporary files, `home` its part of the home folder.

        It starts in the `place`, can write it unless that is read-only, and gets its path in variables.
        """
        if place is not None:
            command = replace(command, cwd=place.host, env=place.told(command.env))
        for folder in (*([place.host] if place else []), *writable, *([temporary] if temporary else [])):
            if not toolchains.is_there(folder):
                raise SantiagoError(Kind.TRANSIENT, "the folder was removed", where=folder, reason=Reason.IO_ERROR)
        if home is not None:
            writable, readonly = (*writable, *home.writable), (*readonly, *home.shown)
        # A user namespace brings keyrings of its own; Landlock and the superuser have none.
        keyless = self.kind == "landlock" or (self.kind != "none" and os.geteuid() == 0)
        command = replace(command, keyless=keyless)
        return self._fenced(command, Fence(place, writable, readonly, hidden, network, temporary, home))

    def _fenced(self, command: Command, fence: Fence) -> Command:
        return replace(command, env=with_own_caches(command.env, fence.temporary)) if fence.temporary else command


@lean(frozen=True, slots=False)
class Landlock(Sandbox):
    """Writing is limited to the given folders, and TCP is off without a network. Nothing is hidden."""

    kind: SandboxKind = "landlock"

    def _fenced(self, command: Command, fence: Fence) -> Command:
        command = replace(command, tcp=fence.network)
        folders = (*([fence.place.host] if fence.place and not fence.place.readonly else []), *fence.writable)
        if fence.home is not None:
            command = replace(command, env=fence.home.furnished(command.env))
            folders = (*folders, fence.home.folder, *fence.home.copies.values())
        if fence.temporary is None:
            return replace(command, landlock=tuple(map(os.path.realpath, folders)))
        # Tools get other cache folders, since the home folder cannot be written here.
        caches = {name: str(Path(fence.temporary, folder)) for name, folder in _CACHES.items()}
        allowed = tuple(map(os.path.realpath, (*folders, fence.temporary)))
        return replace(command, landlock=allowed, env={**command.env, **caches, "TMPDIR": fence.temporary})
