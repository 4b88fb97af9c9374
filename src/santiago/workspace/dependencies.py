"""Folders of dependencies that the user has installed in the repository and that git ignores, such as `node_modules`."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from santiago.process.place import Dependency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from santiago.workspace.repository import Repository

BUILT = frozenset({"target", "build", "dist", "out", "__pycache__"})
"""Build output. It holds the repository's own code, so an old copy of it would make broken work pass."""
MOST_FOLDERS = 2000
"""How many folders of the repository are searched, those near its top first."""
MOST = 100
_PACKAGES_AT = ("*/", "*/*/", "*/*/*/")
"""Where packages may be below a folder of dependencies: the last is `lib/python3.12/site-packages` of a virtual environment."""


def find(repository: Repository, files: Iterable[str], names: Sequence[str]) -> tuple[Dependency, ...]:
    """Return the git-ignored folders with these names, anywhere beside tracked files. A name with `/` is a path."""
    root = repository.found.root
    tracked = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    wanted = [name for name in names if PurePosixPath(name).name not in BUILT]
    there = [name for name in _candidates(wanted, tracked) if name not in tracked and (root / name).is_dir()][:MOST]
    ignored = _ignored(repository, there)
    return tuple(Dependency(name=name, source=os.path.realpath(root / name)) for name in there if name in ignored)


def installed(paths: Iterable[Path]) -> tuple[tuple[str, int], ...]:
    """Return files, and the folders near the top of folders, each with its last change: installing a package changes a folder."""
    below = (one for path in paths for one in (path, *(one for at in _PACKAGES_AT for one in path.glob(at))))
    return tuple((str(one), one.stat().st_mtime_ns) for one in islice(below, MOST_FOLDERS) if one.exists())


def on_path(root: Path, path: str) -> list[str]:
    """Return the virtual environments inside a repository that a search path (PATH) leads to, whatever their names are."""
    real = Path(os.path.realpath(root))
    folders = [Path(os.path.realpath(entry)).parent for entry in path.split(":") if entry.startswith("/")]
    inside = [one for one in folders if one != real and one.is_relative_to(real) and (one / "pyvenv.cfg").is_file()]
    return [str(one.relative_to(real)) for one in dict.fromkeys(inside)]


def _candidates(names: Sequence[str], tracked: set[str]) -> Iterator[str]:
    plain = [name for name in names if "/" not in name]
    yield from (name for name in names if "/" in name and not name.startswith("/") and ".." not in name.split("/"))
    for folder in sorted(tracked, key=lambda folder: (folder.count("/"), folder))[:MOST_FOLDERS]:
        yield from (name if folder == "." else f"{folder}/{name}" for name in plain)


def _ignored(repository: Repository, names: Sequence[str]) -> set[str]:
    """Return which folders git ignores, by a rule for the folder or by a rule inside it."""
    root = repository.found.root
    # An ignore rule for a folder does not apply to a symbolic link, and git does not look beyond links.
    links = {name for name in names if (root / name).is_symlink()}
    asked = {f"{root}/{name}/_": name for name in names if name not in links}
    if not asked:
        return links
    question = b"".join(os.fsencode(path) + b"\0" for path in asked)
    answer = repository.on_objects("check-ignore", "--stdin", "-z", folder=root, stdin=question, accept=(0, 1))
    return links.union(asked[os.fsdecode(path)] for path in answer.out.split(b"\0") if path)
