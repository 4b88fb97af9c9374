"""Test commands that the files of a repository suggest, before any of them is tried."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.util import regular
from santiago.workspace.manifests import ENVIRONMENT, node_install, python_install

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 2**20
_MOST_FILES = 50
_MOST_LISTED = 10_000
_MOST_PARTS = 8
"""How many folders of a monorepo get a check of their own."""
_FOR_PYTEST = pattern(r"^(?:async )?def test_|^(?:import|from) pytest\b", re.MULTILINE)
_WATCHES = pattern(r"\bvitest\b(?![^&|;]*\brun\b)|\breact-scripts test\b")
"""Runners that wait for files to change, and never end. Where they believe that this is CI, they run once."""
_HOLDING_PARTS = ("packages", "apps", "services", "libs", "crates", "modules")
_NO_PART = frozenset({"node_modules", "vendor", "target", "build", "dist", "docs", "examples", "tests", "test"})


class Found(NamedTuple):
    """A test command that the repository's files suggest."""

    test: str
    because: str
    setup: str = ""
    copy: tuple[str, ...] = ()
    provide: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """What it needs in addition under these settings of [workspace]."""

    @property
    def lent(self) -> dict[str, tuple[str, ...]]:
        named = {"copy": self.copy, "provide": self.provide, "env": self.env}
        return {key: names for key, names in named.items() if names}


@record
class Candidates:
    """The commands to try."""

    whole: list[Found] = field(default_factory=list)
    """The authors' own commands for the whole repository. If one works, nothing else is needed."""
    parts: list[list[Found]] = field(default_factory=list)
    """Ways to test each part, the most certain first."""

    @property
    def likely(self) -> list[Found]:
        """The commands to take if nothing can be tried."""
        return self.whole or [ways[0] for ways in self.parts]


def detect(root: Path) -> Candidates:
    """Return the test commands that the files of a repository suggest."""
    whole = _task_file(root)
    return Candidates(whole=whole, parts=_ways(root) or _monorepo(root) or ([] if whole else _untested(root)))


def environments(root: Path) -> list[str]:
    """Return the virtual environments at the top of a folder, whatever they are called."""
    found = (path.parent.name for path in islice(root.glob("*/pyvenv.cfg"), _MOST_FILES))
    return sorted(found, key=lambda name: (name not in (".venv", "venv"), name))


def _ways(root: Path) -> list[list[Found]]:
    return [ways for look in (_python, _javascript, _others) if (ways := look(root))]


def _monorepo(root: Path) -> list[list[Found]]:
    """Return ways to test the folders below, if the top folder suggests none."""
    found = [[_inside(name, way) for way in ways] for name, folder in monorepo_folders(root) for ways in _ways(folder)]
    return found[:_MOST_PARTS]


def monorepo_folders(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folders that may be separate parts, each with its name as a command line spells it."""
    tops = sorted(path for path in root.glob("*/") if not path.name.startswith(".") and path.name not in _NO_PART)
    inner = [path for top in tops if top.name in _HOLDING_PARTS for path in sorted(top.glob("*/"))]
    for folder in (*tops, *inner):
        name = folder.relative_to(root).as_posix()
        if re.fullmatch(r"[\w.@/-]+", name):
            yield name, folder


def _inside(folder: str, way: Found) -> Found:
    setup = f"cd {folder} && {way.setup}" if way.setup else ""
    return Found(f"cd {folder} && {way.test}", f"{way.because}, in {folder}", setup)


def text_of(path: Path) -> str:
    """Return the text of a file; empty if it is missing or too large."""
    return (regular.content(path, _LARGEST) or b"").decode("utf-8", "replace")


def _task_file(root: Path) -> list[Found]:
    """Return the `test` target of a Makefile or justfile, by which the authors themselves test."""
    for name, tool in (("Makefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just")):
        if re.search(r"^test\b[^\n=]*:", text_of(root / name), re.MULTILINE):
            return [Found(f"{tool} test", f"the test target of {name}")]
    return []


def _python(root: Path) -> list[Found]:
    runners, because = _python_runners(root)
    in_environments = _in_environments(root, runners, because)
    plain = [Found(f"python3 -m {runner}", because) for runner in runners]
    installed = _installed(root, runners[0], because) if runners and not in_environments else []
    return [*in_environments, *_locked(root, runners), *plain, *installed]


def _in_environments(root: Path, runners: list[str], because: str) -> list[Found]:
    return [
        Found(f"{name}/bin/python -m {runner}", f"{because}, and {name}")
        for name in environments(root)
        for runner in runners
        if runner.startswith("unittest") or any(root.glob(f"{name}/lib*/python*/site-packages/pytest/"))
    ]


def _installed(root: Path, runner: str, because: str) -> list[Found]:
    """Return a check with its own environment, for a project whose tests load it as an installed package."""
    files = [path.relative_to(root).as_posix() for path in islice(root.glob("*"), _MOST_LISTED)]
    files += [f"requirements/{path.name}" for path in islice(root.glob("requirements/*"), _MOST_FILES)]
    words = python_install(files, text_of(root / "pyproject.toml").encode())
    tools = ["pytest"] if runner.startswith("pytest") else []
    setup = f"{ENVIRONMENT} {shlex.join([*words, *tools])}"
    return [Found(f".venv/bin/python -m {runner}", because, setup)] if words else []


def _locked(root: Path, runners: list[str]) -> list[Found]:
    """Return a check with the tool that a lock file belongs to."""
    if runners and (root / "uv.lock").is_file():
        return [Found(f"uv run --no-sync python -m {runners[0]}", "uv.lock", "uv sync --all-extras")]
    if runners and (root / "poetry.lock").is_file():
        install = "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install"
        return [Found(f".venv/bin/python -m {runners[0]}", "poetry.lock", install)]
    return []


def _python_runners(root: Path) -> tuple[list[str], str]:
    """Return the modules that may run the tests, and what suggests them."""
    if (
        "pytest" in text_of(root / "pyproject.toml")
        or (root / "pytest.ini").is_file()
        or "[tool:pytest]" in text_of(root / "setup.cfg")
        or "pytest" in text_of(root / "requirements-dev.txt")
    ):
        return ["pytest -q"], "pytest in the project's settings"
    return _runners_of_tests(root)


def _runners_of_tests(root: Path) -> tuple[list[str], str]:
    """Return pytest if a test is a plain function, which only pytest finds; else ways to run unittest."""
    files = [*islice(root.glob("test*/**/test_*.py"), _MOST_FILES), *islice(root.glob("test_*.py"), _MOST_FILES)]
    for path in files:
        if _FOR_PYTEST.search(text_of(path)):
            return ["pytest -q"], f"the tests in {path.relative_to(root)}"
    folders = [name for name in ("tests", "test") if (root / name).is_dir()]
    runners = ["unittest discover", *(f"unittest discover -s {name}" for name in folders)]
    return (runners, "test_*.py files") if files else ([], "")


def _javascript(root: Path) -> list[Found]:
    manifest = package(root)
    names = {path.name for path in islice(root.glob("*"), _MOST_LISTED)} if manifest else set()
    setup = node_install(names)
    tool = setup.split()[0]
    given = manifest.get("scripts")
    scripts = given if isinstance(given, dict) else {}
    script = str(scripts.get("test", ""))
    if script and "no test specified" not in script:
        once = "CI=true " if _WATCHES.search(script) else ""
        own = "" if {"pretest", "posttest"} & scripts.keys() else _own_command(script, tool)
        test, because = own or f"{once}{'bun run' if tool == 'bun' else tool} test", "the test script of package.json"
    elif manifest.get("workspaces") or "pnpm-workspace.yaml" in names:
        test, because = _OF_WORKSPACES.get(tool, _OF_WORKSPACES["npm"]), "the workspaces of package.json"
    else:
        return []
    needs = any(manifest.get(key) for key in ("dependencies", "devDependencies", "workspaces"))
    plain, prepared = Found(test, because), Found(test, because, setup)
    return [prepared] if needs and "node_modules" not in names else [plain, prepared] if needs else [plain]


def _own_command(script: str, tool: str) -> str:
    """Return what a script runs, as a command that names its runner, so that it can be asked to name each test.

    Empty if the script does anything else.
    """
    lone = _LONE_RUNNER.fullmatch(script)
    if lone is None:
        return ""
    variables, runner, words = lone[1], lone[2], _WATCHING.sub("", lone[3])
    once = " run" if runner == "vitest" and not _ONCE.search(words) else ""
    return f"{variables}{_STARTED_BY.get(tool, 'npx')} {runner}{once}{words}"


_STARTED_BY = {"pnpm": "pnpm", "yarn": "yarn", "bun": "bunx"}
_LONE_RUNNER = pattern(r"((?:\w+=[^\s$`;&|<>]* )*)(vitest|jest)((?: (?!bench\b)[^\s$`;&|<>]+)*)")
_WATCHING = pattern(r" (?:watch|dev)(?= |$)| (?:-w|--watch(?:All)?(?:=\w+)?)(?= |$)")
_ONCE = pattern(r" (?:--)?run(?= |$)")
_OF_WORKSPACES = {
    "npm": "npm test --workspaces --if-present",
    "pnpm": "pnpm -r test",
    "yarn": "yarn workspaces run test",
    "bun": "bun run --filter '*' test",
}


def package(root: Path) -> dict[str, Any]:
    """Return what package.json holds; empty if there is none."""
    try:
        found = json.loads(text_of(root / "package.json") or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_OTHERS: tuple[tuple[str, str], ...] = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("mvnw", "./mvnw -q test"),
    ("pom.xml", "mvn -q test"),
    ("mix.exs", "mix test"),
    ("deno.json", "deno test"),
    ("pubspec.yaml", "dart test"),
    ("Package.swift", "swift test"),
    ("composer.json", "composer test"),
)


def _others(root: Path) -> list[Found]:
    for name, test in _OTHERS:
        if (root / name).is_file():
            return [Found(test, name)]
    if (root / "spec").is_dir() and (root / "Gemfile").is_file():
        return [Found("bundle exec rspec", "Gemfile and spec/")]
    if any(root.glob("*.sln")) or any(root.glob("*.csproj")):
        return [Found("dotnet test", "a .NET solution")]
    return []


def _untested(root: Path) -> list[list[Found]]:
    """Return the runner that comes with the language of a repository which has no tests yet."""
    if any(root.glob("*.py")) or any(root.glob("src/*/*.py")) or (root / "pyproject.toml").is_file():
        because = "its Python files, which have no tests yet"
        plain = Found("python3 -m unittest discover", because)
        return [[*_in_environments(root, ["pytest -q"], because), plain]]
    return [[Found("node --test", "package.json, which has no test script yet")]] if package(root) else []


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
    for one in (*_targets(root), *_package_scripts(root), *_python_scripts(root), *_toolchain(root)):
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


def _python_scripts(root: Path) -> Iterator[Script]:
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
