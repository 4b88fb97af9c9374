"""Making fresh checkouts ready. Dependencies are installed once for all checkouts that need the same ones.

What the set-up commands made is kept under a digest of the commands and of the files that say what to install. Later
checkouts get it, and the commands do not run again. If the commands made anything but folders of dependencies and the files
into which a build writes the version, nothing is kept, and they run in every checkout: what they made may follow from the code.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import uuid
from contextlib import suppress
from dataclasses import field
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.process.place import Dependency
from santiago.util import regular
from santiago.util.inside import is_inside
from santiago.util.removal import remove
from santiago.workspace import built, manifests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from santiago.process.place import Ground
    from santiago.workspace.workspace import GitWorkspace

_LARGEST = 64 * 1024 * 1024
MOST_KEPT = 8
"""How many sets of dependencies are kept for one repository."""
_INSTALLED = "*.egg-info"
"""Folders that an installer leaves beside the code of a package. By them, older installations are found."""
_LIST = "names.json"
_VERSIONS = "versions"
_FILES = (
    "Makefile makefile GNUmakefile justfile Justfile Taskfile.yml tox.ini noxfile.py setup.py setup.cfg Pipfile .npmrc .yarnrc"
    " .yarnrc.yml pnpm-workspace.yaml .python-version .nvmrc .tool-versions mise.toml"
)
_STEERING = frozenset(_FILES.split())
"""Files at the top of a tree that change what an installer does, even if no command names them."""


@record
class Preparing:
    """Prepares the checkouts of a run."""

    workspace: GitWorkspace
    ground: Ground
    setup: Sequence[str]
    names: Sequence[str]
    """Names of folders that hold dependencies."""
    environment: Mapping[str, str]
    """The environment in which the set-up commands run."""
    furnish: Callable[[str], None]
    """Copies into a checkout what every checkout gets."""
    _noted: dict[str, tuple[str, Path]] = field(default_factory=dict)
    """Checkouts in which set-up commands run now, each with its digest and the index from before."""

    @property
    def shelf(self) -> Path:
        return shelf_of(self.workspace.folders.top.parent)

    def begin(self, folder: str) -> bool:
        """Give a fresh checkout what it needs; return whether the set-up commands must run in it."""
        self.furnish(folder)
        self.ground.given.pop(folder, None)
        if not self.setup or not self.ground.seen_there:
            return bool(self.setup)  # each checkout has another path, so what is installed in one does not fit others
        digest = self._digest(folder)
        kept = _taken(self.shelf / digest)
        if kept is not None:
            written = self.shelf / digest / _VERSIONS
            copy_into(written, [str(one.relative_to(written)) for one in written.rglob("*")], folder)
        # Set-up commands expect a checkout without dependencies.
        self.ground.given[folder] = kept or ()
        if kept is None:
            self._noted[folder] = digest, self.workspace.noted_index(folder)
        return kept is None

    def again(self, folder: str) -> bool:
        """After set-up commands failed: give the checkout the repository's own dependencies; tell whether to try again."""
        lacked = self.ground.given.pop(folder, None) == () and bool(self.ground.place(folder).provided)
        if lacked:
            self._forget(folder)  # what they make now is only part of the dependencies
        return lacked

    def end(self, folder: str) -> None:
        """Keep what the set-up commands made, if they made nothing but dependencies."""
        noted = self._noted.get(folder)
        made, versions = self._made(folder, noted[1]) if noted else ((), ())
        self._forget(folder)
        if noted and made:
            self.ground.given[folder] = self._keep(folder, noted[0], made, versions)

    def keep_built(self, folder: str) -> None:
        built.keep(self.ground, folder)

    def lacking(self, base: str, work: str, *, failed: bool = False) -> str:
        """Return a message if files of the work ask for other packages than its base, and no set-up would install them.

        If the checks `failed` since packages are missing, files count too that name packages among much else.
        """
        if self.setup:
            return ""
        before, after = self._manifests(base, more=failed), self._manifests(work, more=failed)
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        files, read = self.workspace.files(work), partial(self.workspace.read, work)
        if not failed:
            changed = [
                path for path in changed if manifests.matters(path, self.workspace.read(base, path), read(path), files)
            ]
        if not changed:
            return ""
        named = ", ".join(changed[:3]) + (" …" if len(changed) > 3 else "")
        install = dict.fromkeys(manifests.installer(path, files, read) for path in changed if path in after)
        line = f"Add setup = {json.dumps(list(install), ensure_ascii=False)} under [workspace] in santiago.toml."
        return (
            f"{named} asks for other packages, but no set-up command is configured to install them. The checks ran with the "
            f"packages that the repository has. {line}"
        )

    def _manifests(self, commit: str, *, more: bool) -> dict[str, str]:
        def is_named(path: str) -> bool:
            return manifests.is_one(path) or (more and path.rpartition("/")[2] in manifests.MORE)

        return manifests.of_tree(self.workspace.files(commit), partial(self.workspace.read, commit), is_named)

    def _digest(self, folder: str) -> str:
        """Return a digest of all that decides what the set-up commands install in a checkout."""
        files = self.workspace.files(self.workspace.commit_in(folder))
        words = _STEERING.union(word for command in self.setup for word in _words(command))

        def read(path: str) -> bytes | None:
            return regular.content(Path(folder, path), _LARGEST, follow=False)

        scripts = {
            path: sha256(read(path) or b"").hexdigest() for path in sorted(files & words) if not manifests.is_one(path)
        }
        path = self.environment.get("PATH", "")
        versions = sorted(manifests.version_files(read("pyproject.toml")))
        said = [
            list(self.setup),
            list(self.names),
            versions,
            manifests.of_tree(files, read),
            scripts,
            path,
            os.uname().machine,
        ]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]

    def _made(self, folder: str, index: Path) -> tuple[Sequence[str], Sequence[str]]:
        """Return the folders of dependencies and the files with a version that appeared; nothing where anything else did."""
        found = self.workspace.changed_in(folder, index) or {}
        made = [name for name in found if self._is_dependency(name)]
        named = manifests.version_files(regular.content(Path(folder, "pyproject.toml"), _LARGEST, follow=False))
        versions = [
            name
            for name, is_ignored in found.items()
            if is_ignored and name in named and is_inside(Path(folder, name), folder)
        ]
        return (made, versions) if len(made) + len(versions) == len(found) else ((), ())

    def _is_dependency(self, name: str) -> bool:
        return name in self.names or PurePosixPath(name).name in self.names or fnmatchcase(name, _INSTALLED)

    def _keep(self, folder: str, digest: str, made: Sequence[str], versions: Sequence[str]) -> tuple[Dependency, ...]:
        """Move folders of dependencies to the shelf, and copy the versions. If another checkout was first, its folders are used."""
        fresh = self.shelf / f"new-{uuid.uuid4().hex}"
        fresh.mkdir(parents=True)
        (fresh / _LIST).write_text(json.dumps(made), encoding="utf-8")
        for number, name in enumerate(made):
            Path(folder, name).rename(fresh / str(number))
        (fresh / _VERSIONS).mkdir()
        copy_into(Path(folder), versions, str(fresh / _VERSIONS))
        with suppress(OSError):
            fresh.rename(self.shelf / digest)
        kept = _taken(self.shelf / digest) or _taken(fresh) or ()
        _thin_out(self.shelf)
        return kept

    def _forget(self, folder: str) -> None:
        noted = self._noted.pop(folder, None)
        if noted:
            noted[1].unlink(missing_ok=True)


def shelf_of(scratch: Path) -> Path:
    """Return the folder in which installed dependencies of a repository are kept."""
    return scratch / "prepared"


def copy_into(repo: Path, names: Iterable[str], folder: str) -> None:
    for name in names:
        source, target = repo / name, Path(folder) / name
        above = next(one for one in target.parents if os.path.lexists(one))
        # Through a link that an agent left here, santiago could be made to write anywhere.
        safe = above.is_dir() and is_inside(above, folder)
        if safe and source.is_file() and not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def _words(command: str) -> list[str]:
    try:
        return [word.removeprefix("./") for word in shlex.split(command)]
    except ValueError:
        return []


def _taken(place: Path) -> tuple[Dependency, ...] | None:
    """Return the dependencies that are kept at a place, and mark them as in use; None where there are none."""
    content = regular.content(place / _LIST, _LARGEST)
    if content is None:
        return None
    with suppress(OSError):
        os.utime(place)
    names = json.loads(content)
    return tuple(Dependency(name=name, source=str(place / str(number))) for number, name in enumerate(names))


def _thin_out(shelf: Path) -> None:
    """Remove what was not used for longest, so that old lock files do not fill the disk."""
    kept = sorted(shelf.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True)
    for old in kept[MOST_KEPT:]:
        remove(str(old))
