"""The files that say which packages a tree needs: lock files as a whole, and the parts of manifests that name packages."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
