"""The files that say which packages a tree needs: lock files as a whole, and the parts of manifests that name packages."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

_LOCKS = (
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb poetry.lock uv.lock pdm.lock Pipfile.lock"
    " pylock.toml conda-lock.yml Cargo.lock go.sum go.mod Gemfile.lock composer.lock mix.lock pubspec.lock"
)
_NAMES = frozenset([*_LOCKS.split(), "pyproject.toml", "package.json"])
_REQUIREMENTS = pattern(r"requirements[\w.-]{0,60}\.txt|[\w.-]{1,60}[-_]requirements\.txt")
_OF_NODE = (
    "dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "bundledDependencies", "workspaces",
    "overrides", "resolutions", "pnpm", "packageManager",
)  # fmt: skip
_HOOKS = ("preinstall", "install", "postinstall", "prepare")
_OF_PROJECT = ("dependencies", "optional-dependencies", "requires-python", "name")
_OF_POETRY = ("dependencies", "dev-dependencies", "group", "extras", "source")
_FOLLOWS = {
    **dict.fromkeys(("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"), "package.json"),
    **dict.fromkeys(("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml"), "pyproject.toml"), "Cargo.lock": "Cargo.toml",
    "go.sum": "go.mod", "go.mod": "go.mod", "Gemfile.lock": "Gemfile", "mix.lock": "mix.exs", "pubspec.lock": "pubspec.yaml",
}  # fmt: skip
"""Lock files that follow a manifest which is read here, or whose tool refuses to run with other packages than they name."""
_ASIDE = pattern(
    r"(?i)(?:.*[/_-])?(?:docs?|documentation|rtd|website|examples?|bench(?:es|marks?)?|(?:__)?fixtures(?:__)?|testdata)(?:[/_-].*|\.txt)?"
)
"""Files and groups of packages that no test needs."""
_TESTED_WITH = ("dependencies", "devDependencies", "optionalDependencies", "overrides", "resolutions")
MOST = 500
"""How many such files of one tree are read, those near its top first."""


def of_tree(files: Iterable[str], read: Callable[[str], bytes | None]) -> dict[str, str]:
    """Return the manifests and lock files of a tree, each with a digest of what it asks to install."""
    paths = sorted((path for path in files if is_one(path)), key=lambda path: (path.count("/"), path))[:MOST]
    contents = ((path, read(path)) for path in paths)
    return {path: sha256(relevant(path, content)).hexdigest() for path, content in contents if content is not None}


def is_one(path: str) -> bool:
    name = path.rpartition("/")[2]
    is_named = name in _NAMES or (name.endswith(".txt") and _REQUIREMENTS.fullmatch(name) is not None)
    return is_named and "node_modules" not in path.split("/")


def relevant(path: str, content: bytes) -> bytes:
    """Return what a file says about packages; its whole content if it cannot be parsed."""
    name = PurePosixPath(path).name
    try:
        if name == "package.json":
            return _written(_of_node(json.loads(content)))
        if name == "pyproject.toml":
            return _written(_of_python(tomllib.loads(content.decode("utf-8"))))
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    return content


def matters(path: str, before: bytes | None, after: bytes | None, files: Collection[str]) -> bool:
    """Tell whether a changed file asks for other packages to test with than before.

    The Python or Node that a project needs, its documentation, its version, and a lock file that follows do not count.
    """
    folder, slash, name = path.rpartition("/")
    if _ASIDE.fullmatch(path) or (name in _FOLLOWS and f"{folder}{slash}{_FOLLOWS[name]}" in files):
        return False
    return _for_tests(name, before or b"") != _for_tests(name, after or b"")


def _for_tests(name: str, content: bytes) -> object:
    """Return the packages that a manifest names for tests; its whole content if it cannot be parsed."""
    try:
        if name == "package.json":
            return _some(json.loads(content), _TESTED_WITH)
        if name == "pyproject.toml":
            said = _of_python(tomllib.loads(content.decode("utf-8")))
            project, poetry = said["project"], said["poetry"]
            groups = {
                **project.get("optional-dependencies", {}),
                **said.get("dependency-groups", {}),
                **poetry.get("group", {}),
            }
            needed = {key: value for key, value in poetry.get("dependencies", {}).items() if key != "python"}
            used = {key: value for key, value in groups.items() if not _ASIDE.fullmatch(key)}
            return [
                project.get("dependencies", []),
                used,
                needed,
                poetry.get("dev-dependencies"),
                said["uv"],
                said["pdm"],
            ]
        if name.endswith(".txt"):
            return sorted(filter(None, (line.partition(b"#")[0].strip() for line in content.splitlines())))
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    return content


def _of_node(data: dict[str, Any]) -> dict[str, Any]:
    return {**_some(data, _OF_NODE), "scripts": _some(data.get("scripts", {}), _HOOKS)}


def _of_python(data: dict[str, Any]) -> dict[str, Any]:
    tool = data.get("tool", {})
    return {
        **_some(data, ("build-system", "dependency-groups")),
        "project": _some(data.get("project", {}), _OF_PROJECT),
        "poetry": _some(tool.get("poetry", {}), _OF_POETRY),
        "uv": tool.get("uv", {}),
        "pdm": tool.get("pdm", {}),
    }


def _some(data: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _written(data: dict[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, default=str).encode()
