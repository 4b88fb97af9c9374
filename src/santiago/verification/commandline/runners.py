"""Which test runner a command starts, and which file of the checkout."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from santiago.verification.commandline import shell
from santiago.verification.commandline.steps import inner_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_BY_NAME = {
    "pytest": "pytest", "py.test": "pytest", "unittest": "unittest", "jest": "jest", "react-scripts": "jest", "vitest": "vitest",
    "mocha": "mocha", "_mocha": "mocha", "rspec": "rspec", "phpunit": "phpunit", "pest": "phpunit", "ctest": "ctest", "gotestsum": "go",
    "prove": "prove",
}  # fmt: skip
_BY_NAME_AND_WORD = {
    ("go", "test"): "go", ("cargo", "test"): "cargo", ("cargo", "t"): "cargo", ("cargo", "nextest"): "cargo", ("dotnet", "test"): "dotnet",
    **{("mvn", goal): "maven" for goal in ("test", "verify", "package", "install", "integration-test")},
    **{("gradle", task): "gradle" for task in ("test", "check", "build")},
}  # fmt: skip
_ALIASES = {"mvnw": "mvn", "gradlew": "gradle"}
SCRIPT_RUNNERS = frozenset({"npm", "yarn", "pnpm", "bun"})
_LOADS_FIRST = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "-I"})
"""Options of interpreters that are followed by something else than the script."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
JUSTFILES = ("justfile", "Justfile", ".justfile")


@shell.remembered
def known_runners(command: str) -> tuple[str, ...]:
    """Return the test runners that the command line itself starts."""
    found = (runner_of(argv) for argv in programs(command))
    return tuple(dict.fromkeys(runner for runner in found if runner))


def programs(command: str) -> list[list[str]]:
    """Return what a command line runs, each as program and arguments, without what only starts it."""
    found: list[list[str]] = []
    for words in shell.simple_commands(command):
        argv = shell.effective([word.text for word in words])
        inner = inner_command(argv)
        if inner is not None:
            found += programs(inner)
        elif argv:
            found.append(argv)
    return found


def runner_of(argv: Sequence[str]) -> str | None:
    """Return the test runner that a program is."""
    name = argv[0].rpartition("/")[2]
    name = _ALIASES.get(name, name)
    words = [word for word in argv[1:] if not word.startswith("-")]
    if name == "node" and any(word == "--test" for word in argv[1:]):
        return "node"
    if name == "doctest" and {"-v", "--verbose"} & set(argv):
        return "doctest"  # otherwise it says nothing where all is well
    if name in SCRIPT_RUNNERS and words and words[0] in _BY_NAME:
        return _BY_NAME[words[0]]
    if name in {"mvn", "gradle"}:
        tasks = (word.rpartition(":")[2] for word in words)
        return next((found for task in tasks if (found := _BY_NAME_AND_WORD.get((name, task)))), None)
    if name == "cargo":
        words = [word for word in words if not word.startswith("+")]
    return _BY_NAME.get(name) or (_BY_NAME_AND_WORD.get((name, words[0])) if words else None)


def script_of(argv: Sequence[str]) -> str | None:
    """Return the file of the checkout that is run: the program itself, or what an interpreter is given."""
    if "/" in argv[0] and not argv[0].startswith("/"):
        return _plain(argv[0])
    name = argv[0].rpartition("/")[2]
    if name in SHELLS or re.match(
        r"(?:python|pypy)[\d.]*$|(?:node|ruby|perl|php|deno|bun|tsx|ts-node|source|\.)$", name
    ):
        for before, word in pairwise(argv):
            if word in {"-c", "-e", "-m", "--eval", "--test"}:
                return None
            if not word.startswith("-") and word != "run" and before not in _LOADS_FIRST:
                return _plain(word) if not word.startswith("/") else None
    return None


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path


def script_names(name: str, words: Sequence[str]) -> list[str]:
    """Return the package scripts that a package manager is told to run, with those that run around them."""
    words = words[2:] if words[:1] == ["workspace"] else words
    wanted = (
        words[1:2]
        if words[:1] in (["run"], ["run-script"])
        else ["test"]
        if words[:1] in (["test"], ["t"], ["tst"])
        else []
    )
    if not wanted and name in {"yarn", "pnpm"} and words:
        wanted = [words[0]]
    return [around + script for script in wanted for around in ("pre", "", "post")]


def package_scripts(raw: bytes | None) -> dict[str, str]:
    try:
        data = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return scripts if isinstance(scripts, dict) else {}
