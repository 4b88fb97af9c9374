"""What a check's command line tells: its test runners, and the files that it names."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from santiago.contract import globs
from santiago.contract.patterns import pattern
from santiago.judge.shell import PYTHON, Program, programs, resolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_BY_NAME = "pytest unittest doctest nose2 behave jest vitest mocha tap ava tape jasmine karma cypress playwright rspec phpunit ctest prove bats"
_RUNNERS: dict[str, str] = {
    **{name: name for name in _BY_NAME.split()},
    "py.test": "pytest", "react-scripts": "jest", "_mocha": "mocha", "pest": "phpunit", "gotestsum": "go", "go test": "go", "node --test": "node",
    "cargo test": "cargo", "cargo t": "cargo", "cargo nextest": "cargo", "dotnet test": "dotnet", "deno test": "deno", "bun test": "bun",
    "swift test": "swift", "mix test": "mix", "rake test": "rake", "rake spec": "rspec",
    **{f"{name} {goal}": "maven" for name in ("mvn", "mvnw") for goal in ("test", "verify", "package", "install", "integration-test")},
    **{f"{name} {task}": "gradle" for name in ("gradle", "gradlew") for task in ("test", "check", "build")},
}  # fmt: skip
"""Test runners, by the program or by the program and one of its words."""
PACKAGE_MANAGERS = ("npm", "yarn", "pnpm", "bun")
STEERED_BY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")), "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"), "rake": ("Rakefile",), "nox": ("noxfile.py",), **dict.fromkeys(("invoke", "inv"), ("tasks.py",)),
    **dict.fromkeys(PACKAGE_MANAGERS, ("package.json",)), "tox": ("tox.ini", "pyproject.toml"), "composer": ("composer.json",),
}  # fmt: skip
"""Programs that do what a file of the repository tells them, and that file's names."""
_ELSEWHERE = frozenset({"-C", "--directory", "--prefix", "--cwd", "--dir"})
"""Options that make such a program work in another folder."""
_WELL_KNOWN = pattern(
    r"true|false|:|echo|printf|test|\[|\[\[|cd|exit|set|export|pwd|e?grep|diff|cmp|comm|cat|head|tail|sort|uniq|wc|cut|tr|sed|awk|find|ls|mkdir|rm"
    r"|cp|mv|touch|tee|jq|seq|expr|tar|rg|cmake|ninja|gcc|g\+\+|cc|clang|rustc|node|deno|bun|npm|npx|yarn|pnpm|go|cargo|g?make|just|task|mvnw?|gradlew?"
    r"|ruby|rake|php|perl|java|javac|dotnet|swift|mix|tox|nox|ruff|mypy|pyright|flake8|black|isort|pylint|coverage|tsc|eslint|prettier|xo|standard"
    rf"|tsd|biome|{PYTHON.pattern}|{_BY_NAME.replace(' ', '|')}"
)
_FILE = pattern(r"(?<![\w./$-])(?:[\w-]{1,100}/){0,20}[\w-]{1,100}\.[a-z]\w{0,5}(?![\w./-])")
"""A word that looks like the name of a file."""
_SOURCE = pattern(
    r"(?:[\w.@-]{1,100}/){0,20}[\w.-]{1,100}\.(?:py|[cm]?[jt]sx?|rb|php|go|rs|sh|bats|t|exs|java|kts?|dart|swift|feature)"
)


def runner_of(program: Program) -> str | None:
    """Return which test runner a program is; None if it is none."""
    words = [word.rpartition(":")[2] for word in program.argv[1:]]
    if program.name not in {"mvn", "mvnw", "gradle", "gradlew", "node"}:
        words = [word for word in words if not word.startswith(("-", "+"))][:1]
    named = [*(f"{program.name} {word}" for word in words), program.name]
    named += words if program.name in PACKAGE_MANAGERS else []  # `yarn jest`
    return next((_RUNNERS[name] for name in named if name in _RUNNERS), None)


def absent(command: str, base_files: Collection[str], work_files: Collection[str]) -> bool:
    """Tell whether the command runs a test file, script or module that only the work has.

    If so, its failure on the base says nothing. A program whose output is checked by another program on the line is the
    work itself: that it is missing on the base is a failure like any other.
    """
    return any(
        holds(work_files, path) and not holds(base_files, path)
        for program in programs(command)
        for path in _judging(program)
    )


def _judging(program: Program) -> Iterable[str]:
    """Return the files and folders that a program takes its judgement from."""
    if runner_of(program):
        words = tuple(word for word in program.written if "=" not in word)
        return (*given(replace(program, written=words)), *modules(program))
    return (program.script or "", *modules(program)) if not program.is_heard else ()


def holds(files: Collection[str], path: str) -> bool:
    """Tell whether a file, a folder or a pattern matches any of these files."""
    return path in files or any(globs.matches(file, (path,)) for file in files)


def names_what_is_missing(command: str, files: Collection[str]) -> bool:
    """Tell whether a command names a file that a commit does not have, so that a story still has to make it."""
    return any(path not in files for path in _FILE.findall(command))


def unwritten(command: str, files: Collection[str]) -> list[str]:
    """Return the test files that a command has a test runner run and a commit does not have."""
    found: list[str] = []
    for program in filter(runner_of, programs(command)):
        found += [path for path in given(program) if _SOURCE.fullmatch(path) and not holds(files, path)]
        is_named = program.name == "unittest" and "discover" not in program.argv
        named = modules(replace(program, module="")) if is_named else []
        found += named[:1] if not any(holds(files, path) for path in named) else []
    return found


def is_opaque(program: Program) -> bool:
    """Tell whether the line does not show what a program runs: a script, a makefile, an unknown tool."""
    if runner_of(program):
        return False
    return program.name in STEERED_BY or program.script is not None or not _WELL_KNOWN.fullmatch(program.name)


def steering(program: Program) -> list[str]:
    """Return the files that may tell a program what to do: t/Makefile for `make -C t`."""
    words = [part for word in program.argv for part in (word.split("=", 1) if word.startswith("-") else [word])]
    told = [after for option, after in pairwise(words) if option in _ELSEWHERE]
    folder = resolved(program.folder, told[-1]) if told else program.folder
    return [posixpath.join(folder, name) for name in STEERED_BY.get(program.name, ()) if folder is not None]


def package_scripts(program: Program) -> list[str]:
    """Return the names of the scripts that a package manager is told to run, with their `pre` and `post` scripts."""
    words = program.argv[1:] if program.name in PACKAGE_MANAGERS else ()
    wanted = ["test" if word == "t" else word for word in words if not word.startswith("-")]
    return [around + script for script in wanted for around in ("pre", "", "post")]


def modules(program: Program) -> list[str]:
    """Return the files that a program's dotted names may mean: `-m pkg.tool`, `unittest tests.test_x.Case.test_y`."""
    dotted = (program.module, *(program.argv[1:] if program.name == "unittest" else ()))
    plain = (word.split(".") for word in dotted if re.fullmatch(r"\w+(?:\.\w+)*", word))
    parts = [list(takewhile(lambda part: not part[0].isupper(), word)) for word in plain]
    told = [place for name, value in program.assigned if name == "PYTHONPATH" for place in value.split(":")]
    roots = {place for one in (".", "src", *told) if (place := resolved(program.folder, one)) is not None}
    stems = [posixpath.join(root, *names) for names in parts if names for root in sorted(roots)]
    return [stem + ending for stem in stems for ending in (".py", "/__main__.py", "/__init__.py")]


def given(program: Program) -> list[str]:
    """Return the paths that a program's arguments may mean, existing or not: `path::id`, `--option=path`."""
    words = (re.sub(r"^-[\w-]*=|::.*|:\d+$|/\.\.\.$", "", word) for word in program.written)
    return [path for word in dict.fromkeys(words) if (path := resolved(program.folder, word))]
