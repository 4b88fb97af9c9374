"""Installed packages that lead into the repository itself: editable installs, their finders, links to workspaces.

Where a checkout is not mounted at the repository's own path, such a package would give a check the user's own files
instead of the work. Leads are found by reading files, within limits; nothing that is found is ever run.
"""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_LARGEST = 1024 * 1024
MOST_FILES = 5000
"""How many entries of one folder of packages are looked at."""
MOST_SITES = 50
_NO_PYTHONPATH = pattern(r"\bPYTHONPATH=|\bpy(?:thon|py)[\d.]*(?:\s+-[WX]\s+\S+|\s+-\w+)*?\s+-\w*[IE]")
"""A command line with which python ignores PYTHONPATH."""


@record
class Lead:
    """One file that leads into the repository."""

    file: str
    target: str
    """Where it leads to, as a path from the repository's top."""
    first: str | None
    """The folder of a checkout that replaces it when it comes first in PYTHONPATH; None if nothing can replace it."""


def leads(repo: Path, folders: Iterable[str], environment: Mapping[str, str]) -> list[Lead]:
    """Return the leads into a repository from its folders of dependencies, and from the python that is first on PATH."""
    real = Path(os.path.realpath(repo))
    own = [Path(folder) for folder in folders]
    sites = dict.fromkeys(site for prefix in (*own, *_prefixes(environment)) for site in _sites(prefix))
    found = [lead for site in list(sites)[:MOST_SITES] for lead in _of_python(site, real)]
    found += [lead for folder in own for lead in (*_of_node(folder, real), *_of_composer(folder, real))]
    inside = [str(folder.relative_to(real)) for folder in own if folder.is_relative_to(real)]
    return [one for one in found if not any(Path(one.target).is_relative_to(folder) for folder in inside)]


def elsewhere(repo: Path, folders: Iterable[str]) -> list[str]:
    """Return the folders outside a repository that its dependencies lead to, such as another package under development."""
    real = Path(os.path.realpath(repo))
    found: dict[str, None] = {}
    for folder in map(Path, folders):
        links = (
            [str(entry) for entry in _packages(folder) if entry.is_symlink()] if folder.name == "node_modules" else []
        )
        sites = [entry for site in _sites(folder) for entry in _entries(site)]
        paths = [path for entry in sites for path in (*_lines(entry, entry.parent), *_mapping(entry).values())]
        found |= dict.fromkeys(os.path.realpath(path) for path in (*links, *paths))
    return [path for path in found if os.path.isdir(path) and not Path(path).is_relative_to(real)]  # noqa: PTH112  # never raises


def blind_to(found: Sequence[Lead], commands: Iterable[str]) -> tuple[Lead, str] | None:
    """Return a lead that nothing can replace, or one with a command that ignores its replacement; None if there is none."""
    for lead in found:
        if lead.first is None:
            return lead, ""
    deaf = next((command for command in commands if _NO_PYTHONPATH.search(command)), None)
    return (found[0], deaf) if found and deaf else None


def _prefixes(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the python installations that PATH leads to, and the folder of the user's own packages."""
    home = environment.get("HOME", "/nonexistent")
    for entry in environment.get("PATH", "").split(":"):
        for name in ("python3", "python"):
            if entry.startswith("/") and os.path.lexists(f"{entry}/{name}"):
                yield Path(entry).parent
                yield Path(os.path.realpath(f"{entry}/{name}")).parent.parent
    versions = Path(environment.get("PYENV_ROOT") or f"{home}/.pyenv", "versions")
    yield from _entries(versions)
    yield Path(home, ".local")
    yield Path("/usr/local")


def _sites(prefix: Path) -> Iterator[Path]:
    for library in (prefix / "lib", prefix / "local" / "lib"):
        for version in _entries(library):
            if version.name.startswith("python"):
                yield from (one for name in ("site-packages", "dist-packages") if (one := version / name).is_dir())


def _of_python(site: Path, repo: Path) -> Iterator[Lead]:
    """Yield what leads into the repository from one folder of python's packages."""
    explained, editable = [], []
    for entry in _entries(site, _may_lead):
        explained += [Lead(file=str(entry), target=name, first=name) for name in _named(entry, site, repo)]
        explained += [_stood_in(entry, module, name) for module, name in _mapped(entry, repo)]
        if entry.is_symlink() and (name := _inside(os.path.realpath(entry), repo)) is not None:
            explained.append(_stood_in(entry, entry.stem, name))
        elif entry.suffix == ".dist-info" and (name := _editable(entry / "direct_url.json", repo)) is not None:
            editable.append(Lead(file=str(entry / "direct_url.json"), target=name, first=None))
    yield from explained
    known = [Path(lead.target) for lead in explained]
    yield from (one for one in editable if not any(path.is_relative_to(one.target) for path in known))


def _may_lead(entry: os.DirEntry[str]) -> bool:
    """Tell, by its name alone, whether an entry can lead elsewhere. There are thousands of packages to look at."""
    return entry.name.endswith((".pth", ".egg-link", ".dist-info", ".py")) or entry.is_symlink()


def _named(file: Path, site: Path, repo: Path) -> list[str]:
    """Return the folders of the repository that lines of a file name."""
    names = (_inside(os.path.realpath(path), repo) for path in _lines(file, site) if os.path.isdir(path))  # noqa: PTH112  # never raises
    return [name for name in names if name is not None]


def _lines(file: Path, site: Path) -> list[str]:
    """Return the paths that a file adds to python's search path; lines with code belong to a finder."""
    if file.suffix not in (".pth", ".egg-link"):
        return []
    lines = [line.strip() for line in _text(file).splitlines()[:MOST_FILES] if not line.startswith(("import ", "#"))]
    return [str(site / line) for line in lines if line and "\0" not in line]


def _mapped(finder: Path, repo: Path) -> list[tuple[str, str]]:
    """Return the modules that a finder takes from the repository, each with its place there."""
    inside = ((module, _inside(os.path.realpath(path), repo)) for module, path in _mapping(finder).items())
    return [(module, name) for module, name in inside if name is not None]


def _mapping(finder: Path) -> dict[str, str]:
    """Return the modules that a finder knows, each with its path: the constant tables at its top."""
    if finder.suffix != ".py" or "editable" not in finder.name:
        return {}
    try:
        body = ast.parse(_text(finder)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    tables = [
        one.value for one in body if isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(one.value, ast.Dict)
    ]
    pairs = [pair for table in tables for pair in zip(table.keys, table.values, strict=True)]
    found = {
        str(key.value): value.value
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }
    return {module: path for module, path in found.items() if path.startswith("/") and "\0" not in path}


def _stood_in(file: Path, module: str, target: str) -> Lead:
    """Return a lead to a module. A module of the same name replaces it if its folder comes first in PYTHONPATH."""
    parts = tuple(module.split("."))
    path = Path(target.removesuffix(".py"))
    first = str(path.parents[len(parts) - 1]) if path.parts[-len(parts) :] == parts else None
    return Lead(file=str(file), target=target, first=first)


def _editable(note: Path, repo: Path) -> str | None:
    """Return the folder of the repository that a package was installed from as editable; None if it was not."""
    try:
        data = json.loads(_text(note) or "{}")
        url, info = data.get("url", ""), data.get("dir_info", {})
        path = unquote(urlsplit(url).path) if isinstance(url, str) and url.startswith("file:") else ""
        editable = isinstance(info, dict) and info.get("editable") is True
    except (ValueError, AttributeError, RecursionError):
        return None
    return _inside(os.path.realpath(path), repo) if path and editable and "\0" not in path else None


def _of_node(folder: Path, repo: Path) -> Iterator[Lead]:
    """Yield the links in `node_modules` that lead to packages of the repository itself."""
    if folder.name != "node_modules":
        return
    for entry in _packages(folder):
        name = _inside(os.path.realpath(entry), repo) if entry.is_symlink() else None
        if name is not None and "node_modules" not in Path(name).parts:
            yield Lead(file=str(entry), target=name, first=None)


def _packages(folder: Path) -> list[Path]:
    """Return the packages in `node_modules`, also those with a scope."""
    entries = [entry for entry in _entries(folder) if not entry.name.startswith(".")]
    return [*entries, *(one for entry in entries if entry.name.startswith("@") for one in _entries(entry))]


def _of_composer(folder: Path, repo: Path) -> Iterator[Lead]:
    """Yield the tables of composer that name classes by where their folder really lies."""
    for name in ("autoload_psr4.php", "autoload_classmap.php", "autoload_files.php", "autoload_namespaces.php"):
        table = folder / "composer" / name
        if re.search(r"=> (?:array\()?\$baseDir", _text(table)):
            target = _inside(os.path.realpath(folder.parent), repo)
            if target is not None:
                yield Lead(file=str(table), target=target, first=None)


def _inside(real: str, repo: Path) -> str | None:
    """Return a path from the repository's top; None where it lies elsewhere."""
    return str(Path(real).relative_to(repo)) if Path(real).is_relative_to(repo) else None


def _entries(folder: Path, wanted: Callable[[os.DirEntry[str]], bool] = lambda _: True) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            paths = sorted(entry.path for entry, _ in zip(entries, range(MOST_FILES), strict=False) if wanted(entry))
            return [Path(path) for path in paths]
    except OSError:
        return []


def _text(path: Path) -> str:
    return (regular.content(path, _LARGEST) or b"").decode("utf-8", "replace")
