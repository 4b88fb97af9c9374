"""The files that say which packages a tree needs (lock files, and the parts of manifests that name packages), and what installs them."""

from __future__ import annotations

import json
import shlex
import tomllib
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from santiago.contract.lazy_regex import pattern

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
ENVIRONMENT = "python3 -m venv .venv && .venv/bin/pip install -q"
_FOR_TESTS = ("test", "tests", "testing", "dev")
"""Names that projects give to the extra or group with the dependencies of their tests."""
_FOR_PIP = pattern(
    r"requirements(?:[-_]?(?:dev|tests?))?\.txt|(?:dev|tests?)[-_]requirements\.txt|requirements/(?:dev|tests?)\.txt"
)
_MOST_NAMED = 40
_OF_NODE_LOCKS = {
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    **dict.fromkeys(("bun.lock", "bun.lockb"), "bun install --frozen-lockfile"),
    **dict.fromkeys(("package-lock.json", "npm-shrinkwrap.json"), "npm ci"),
}
_OTHERS = {
    # A set-up's home folder is not the one that checks see, so these install into the checkout.
    "go.": "GOMODCACHE=$TMPDIR/mod go mod vendor",
    "Cargo.": "mkdir -p .cargo && CARGO_HOME=$TMPDIR/cargo cargo vendor >> .cargo/config.toml",
    "uv.": "uv sync --all-extras",
    "poetry.": "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install",
    "Gemfile": "bundle install --path vendor/bundle",
    "composer.": "composer install",
    "mix.": "mix deps.get",
    "pubspec.": "dart pub get",
}
"""What installs the packages that a file names, by how its name begins."""
MORE = frozenset(
    [
        "Cargo.toml",
        "Gemfile",
        "composer.json",
        "setup.py",
        "setup.cfg",
        "Pipfile",
        "environment.yml",
        "pom.xml",
        "build.gradle",
    ]
)
"""Files that name packages among much else, so that a change of one says little by itself."""
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


def of_tree(
    files: Iterable[str],
    read: Callable[[str], bytes | None],
    is_named: Callable[[str], bool] = lambda path: is_one(path),
) -> dict[str, str]:
    """Return the manifests and lock files of a tree, each with a digest of what it asks to install."""
    paths = sorted((path for path in files if is_named(path)), key=lambda path: (path.count("/"), path))[:MOST]
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
            data = json.loads(content)
            return _written({**_some(data, _OF_NODE), "scripts": _some(data.get("scripts", {}), _HOOKS)})
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


def version_files(project: bytes | None) -> set[str]:
    """Return the files into which a build writes the version that it reads from git, as pyproject.toml names them."""
    tools = _table(_parsed(project), "tool")
    hatch = _table(_table(_table(_table(tools, "hatch"), "build"), "hooks"), "vcs")
    setuptools = _table(tools, "setuptools_scm")
    return {
        str(table[name])
        for table in (hatch, setuptools)
        for name in ("version-file", "version_file", "write_to")
        if name in table
    }


def installer(path: str, files: Collection[str], read: Callable[[str], bytes | None]) -> str:
    """Return the command that installs what a manifest or lock file asks for."""
    above, slash, name = path.rpartition("/")
    prefix, folder = (f"cd {shlex.quote(above)} && ", f"{above}/") if slash else ("", "")
    if name == "package.json" or name in _OF_NODE_LOCKS:
        return prefix + node_install(files, folder)
    lock = next((one for one in ("uv.lock", "poetry.lock") if f"{folder}{one}" in files), name)
    if other := next((install for begins, install in _OTHERS.items() if lock.startswith(begins)), ""):
        return prefix + other
    below = [one[len(folder) :] for one in files if one.startswith(folder)]
    project = read(f"{folder}pyproject.toml")
    wanted = python_install(below, project) or ["-r", name]
    if b"pytest" in (project or b"") or "pytest.ini" in below:  # people often install it by hand
        wanted += [] if any(word.startswith("pytest") for word in wanted) else ["pytest"]
    return f"{prefix}{ENVIRONMENT} {shlex.join(wanted)}"


def python_install(files: Collection[str], project: bytes | None) -> list[str]:
    """Return what pip has to install for a project: the project and what its tests need. Empty if there is nothing."""
    table = _parsed(project)
    extras, groups = _table(_table(table, "project"), "optional-dependencies"), _table(table, "dependency-groups")
    wanted = ",".join(name for name in _FOR_TESTS if name in extras)
    is_package = "setup.py" in files or "project" in table or "build-system" in table
    named = [one for name in _FOR_TESTS for one in groups.get(name, ()) if isinstance(one, str)]
    listed = [word for path in sorted(files) if _FOR_PIP.fullmatch(path) for word in ("-r", path)]
    itself = ["-e", f".[{wanted}]" if wanted else "."] if is_package else []
    return [*itself, *dict.fromkeys(named[:_MOST_NAMED]), *listed]


def _parsed(text: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((text or b"").decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(outer: dict[str, Any], name: str) -> dict[str, Any]:
    inner = outer.get(name)
    return inner if isinstance(inner, dict) else {}


def node_install(files: Collection[str], folder: str = "") -> str:
    """Return the command that installs what a folder's package needs, by its lock file."""
    return next((command for lock, command in _OF_NODE_LOCKS.items() if f"{folder}{lock}" in files), "npm install")
