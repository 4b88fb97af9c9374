"""Watching what judges: test code must be the base's own when a check begins, and nobody may touch it while it runs."""

from __future__ import annotations

import os
import re
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.util import regular
from santiago.verification.sealing import globs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_ENDINGS = (
    "py js jsx ts tsx mjs cjs mts cts vue svelte go rs java kt kts scala groovy rb php cs fs vb swift c cc cpp cxx h hpp ex exs dart"
    " lua erl sh bats t clj hs R jl feature toml ini cfg xml rspec"
)
_CODE = frozenset(f".{ending}" for ending in _ENDINGS.split())
"""Endings of files that decide."""
_WRITTEN = frozenset({".db", ".sqlite", ".sqlite3", ".log", ".lock", ".pid", ".pyc"})
_ABOUT_TESTS = re.compile(r"(?:^|[/_.-])(?:tests?|specs?)(?:[/_.*-]|$)", re.IGNORECASE)
_LOADED = frozenset({".so", ".pyd", ".json", ".yml", ".yaml", ".pth"})
_NOTHING = (0, 0, 0)
_MOST = 50_000
"""So many files are watched; no honest tree has more of them around its tests."""


def sealed(
    base_files: Iterable[str], protected: Iterable[str], files: Iterable[str], *, data: bool = False
) -> tuple[str, ...]:
    """Return the code of the base that judges a story: protected, and not among the files that the story may change.

    With `data`, also what tests read; but not what programs write to as long as they run.
    """
    globs_, own = tuple(protected), tuple(files)
    endings = ((path, os.path.splitext(path)[1]) for path in base_files)  # noqa: PTH122  # called per file
    found = (path for path, ending in endings if (ending not in _WRITTEN if data else ending in _CODE))
    return tuple(sorted(path for path in found if globs.matches(path, globs_) and not globs.names(own, path)))


def unsealed(files: Iterable[str], base_files: Collection[str], protected: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a story may change although they judge it.

    A folder or a glob that is not about tests itself says where a story works, and leaves the tests below it sealed.
    """
    found: list[str] = []
    for file in files:
        if file in base_files or _ABOUT_TESTS.search(file) or globs.matches(file, protected):
            found.append(file)
        else:
            below = [path for path in base_files if globs.names((file,), path)]
            found += [path for path in below if not globs.matches(path, protected)] if below else [file]
    return tuple(found)


def contents(folder: str, paths: Iterable[str]) -> dict[str, str]:
    """Return a digest of each file, without following links."""
    return {path: _digest(Path(folder, path)) for path in paths}


def marks(folder: str, paths: Collection[str]) -> dict[str, object]:
    """Return marks of files, and of all that stands beside or above them, from where it could steer them."""
    return {path: _mark(f"{folder}/{path}") for path in {*paths, *_around(folder, paths)}}


def touched(folder: str, before: Mapping[str, object], paths: Collection[str]) -> frozenset[str]:
    """Return the files that were made, written, replaced or removed since, there and around."""
    now = {*before, *_around(folder, paths)}
    return frozenset(path for path in now if _mark(f"{folder}/{path}") != before.get(path, _NOTHING))


def may_steer(path: str) -> bool:
    """Whether a file that only came while checks ran could be code or settings by its name; results are neither."""
    name = path.rpartition("/")[2]
    return name.startswith(".") or name.lower().endswith("file") or os.path.splitext(name)[1] in _CODE | _LOADED  # noqa: PTH122


def _around(folder: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the files in the top folder, in those of these files, and in all between."""
    above = {path[:end] for path in paths for end, letter in enumerate(path) if letter == "/"}
    names = (
        f"{place}/{name}".removeprefix("./")
        for place in sorted({".", "src", "bin", *above})
        for name in _listed(f"{folder}/{place}")
    )
    yield from islice(names, _MOST)


def _listed(place: str) -> Iterator[str]:
    try:
        with os.scandir(place) as found:
            entries = list(islice(found, _MOST))
    except OSError:
        return
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            yield entry.name
        elif os.path.isfile(f"{entry.path}/__init__.py"):  # noqa: PTH113  # plain text, as all that is asked for each file
            yield f"{entry.name}/__init__.py"


def _mark(path: str) -> tuple[int, int, int]:
    """Return inode, time of the last change of any kind, and mode: nobody but the machine's clock turns the second back."""
    try:
        info = os.lstat(path)
    except OSError:
        return _NOTHING
    return (info.st_ino, info.st_ctime_ns, info.st_mode)


def _digest(path: Path) -> str:
    try:
        with regular.opened(path, follow=False) as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.errno}"
