"""The lint, typecheck and build commands that the files of a repository suggest."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.app.candidates import environments, monorepo_folders, package, text_of
from santiago.workspace.manifests import node_install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Kind = Literal["lint", "typecheck", "build"]
_NAMES: dict[Kind, tuple[str, ...]] = {
    "lint": ("lint",),
    "typecheck": ("typecheck", "type-check", "check-types", "types", "tsc"),
    "build": ("build",),
}
"""Names that authors give to such a script or target, the most usual first."""
_MOST = 24
"""How many scripts of a monorepo are looked at."""


class Script(NamedTuple):
    """A command of the repository's authors for one purpose."""

    kind: Kind
    command: str
    because: str


def scripts(root: Path) -> list[Script]:
    """Return the lint, typecheck and build commands of a repository; if its top folder has none, those of its parts."""
    found = list(_of(root))
    for name, folder in () if found else monorepo_folders(root):
        inside = _of(folder)
        found += [Script(one.kind, f"cd {name} && {one.command}", f"{one.because}, in {name}") for one in inside]
    return found[:_MOST]


def _of(root: Path) -> Iterator[Script]:
    """Yield the first command for each purpose."""
    seen: set[Kind] = set()
    for one in (*_targets(root), *_package_scripts(root), *_python(root), *_toolchain(root)):
        if one.kind not in seen:
            seen.add(one.kind)
            yield one


def _targets(root: Path) -> Iterator[Script]:
    for name, tool in (("Makefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just")):
        text = text_of(root / name)
        for kind, words in _NAMES.items():
            for word in words:
                if re.search(rf"^{word}\b[^\n=]*:", text, re.MULTILINE):
                    yield Script(kind, f"{tool} {word}", f"the {word} target of {name}")


def _package_scripts(root: Path) -> Iterator[Script]:
    given = package(root).get("scripts")
    if not isinstance(given, dict):
        return
    tool = node_install({path.name for path in root.glob("*lock*")}).split()[0]
    for kind, words in _NAMES.items():
        for word in words:
            if word in given:
                yield Script(kind, f"{tool} run {word}", f"the {word} script of package.json")


def _python(root: Path) -> Iterator[Script]:
    tools = _tools(root)
    tests: tuple[tuple[Kind, str, str, tuple[str, ...]], ...] = (
        ("lint", "ruff", "ruff check .", ("ruff.toml", ".ruff.toml")),
        ("lint", "flake8", "flake8", (".flake8",)),
        ("typecheck", "mypy", "mypy .", ("mypy.ini", ".mypy.ini")),
        ("typecheck", "pyright", "pyright", ("pyrightconfig.json",)),
    )
    for kind, tool, command, files in tests:
        named = next((name for name in files if (root / name).is_file()), "")
        if named or tool in tools:
            yield Script(kind, _runnable(root, tool, command), named or f"[tool.{tool}] in pyproject.toml")


def _tools(root: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(text_of(root / "pyproject.toml")).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _runnable(root: Path, tool: str, command: str) -> str:
    """Return the command as it can be started here: from an environment of the project, through uv, or from PATH."""
    folder = next((name for name in environments(root) if (root / name / "bin" / tool).exists()), None)
    if folder is not None:
        return f"{folder}/bin/{command}"
    return f"uv run --no-sync {command}" if (root / "uv.lock").is_file() else command


_TOOLCHAINS: tuple[tuple[str, tuple[tuple[Kind, str], ...]], ...] = (
    ("Cargo.toml", (("lint", "cargo clippy"), ("build", "cargo build"))),
    ("go.mod", (("lint", "go vet ./..."), ("build", "go build ./..."))),
    ("gradlew", (("lint", "./gradlew check -x test"), ("build", "./gradlew assemble"))),
    ("build.gradle", (("lint", "gradle check -x test"), ("build", "gradle assemble"))),
    ("build.gradle.kts", (("lint", "gradle check -x test"), ("build", "gradle assemble"))),
)


def _toolchain(root: Path) -> Iterator[Script]:
    for name, commands in _TOOLCHAINS:
        if (root / name).is_file():
            yield from (Script(kind, command, name) for kind, command in commands)
