"""Which test runner a command starts, also through package scripts, make targets and shell scripts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from santiago.verification import shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BY_NAME = {
    "pytest": "pytest", "py.test": "pytest", "unittest": "unittest", "jest": "jest", "react-scripts": "jest", "vitest": "vitest",
    "mocha": "mocha", "_mocha": "mocha", "rspec": "rspec", "phpunit": "phpunit", "pest": "phpunit", "ctest": "ctest", "gotestsum": "go",
}  # fmt: skip
_BY_NAME_AND_WORD = {
    ("go", "test"): "go", ("cargo", "test"): "cargo", ("cargo", "t"): "cargo", ("cargo", "nextest"): "cargo", ("dotnet", "test"): "dotnet",
    **{("mvn", goal): "maven" for goal in ("test", "verify", "package", "install", "integration-test")},
    **{("gradle", task): "gradle" for task in ("test", "check", "build")},
}  # fmt: skip
_ALIASES = {"mvnw": "mvn", "gradlew": "gradle"}
_SCRIPT_RUNNERS = frozenset({"npm", "yarn", "pnpm", "bun"})
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
JUSTFILES = ("justfile", "Justfile", ".justfile")
_DEEPEST = 3


def known_runners(command: str) -> tuple[str, ...]:
    """Return the test runners that the command line itself starts."""
    found = (_runner(argv) for argv in programs(command))
    return tuple(dict.fromkeys(runner for runner in found if runner))


def programs(command: str) -> list[list[str]]:
    """Return what a command line runs, each as program and arguments, without what only starts it."""
    found: list[list[str]] = []
    for words in shell.simple_commands(command):
        argv = shell.effective([word.text for word in words])
        inner = _inner(argv)
        if inner is not None:
            found += programs(inner)
        elif argv:
            found.append(argv)
    return found


def _inner(argv: list[str]) -> str | None:
    """Return the command line that a shell is given as an argument."""
    if argv and argv[0].rpartition("/")[2] in SHELLS:
        for place, word in enumerate(argv[:-1]):
            if re.match(r"-\w*c$", word):
                return argv[place + 1]
    return None


def _runner(argv: list[str]) -> str | None:
    name = argv[0].rpartition("/")[2]
    name = _ALIASES.get(name, name)
    words = [word for word in argv[1:] if not word.startswith("-")]
    if name == "node" and any(word == "--test" for word in argv[1:]):
        return "node"
    if name in _SCRIPT_RUNNERS and words and words[0] in _BY_NAME:
        return _BY_NAME[words[0]]
    if name in {"mvn", "gradle"}:
        tasks = (word.rpartition(":")[2] for word in words)
        return next((found for task in tasks if (found := _BY_NAME_AND_WORD.get((name, task)))), None)
    if name == "cargo":
        words = [word for word in words if not word.startswith("+")]
    return _BY_NAME.get(name) or (_BY_NAME_AND_WORD.get((name, words[0])) if words else None)


def expanded(command: str, read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """Return the command lines behind a command: the package script, the make recipe, the shell script that it runs."""
    found: list[str] = []
    waiting = [(command, 0)]
    while waiting:
        line, depth = waiting.pop(0)
        for argv in programs(line):
            if depth < _DEEPEST and line not in found[:-1]:
                waiting += [(behind, depth + 1) for behind in _behind(argv, read)]
        if depth:
            found.append(line)
    return tuple(found[:200])


def _behind(argv: list[str], read: Callable[[str], bytes | None]) -> Iterator[str]:
    name = argv[0].rpartition("/")[2]
    words = [word for word in argv[1:] if not word.startswith("-")]
    if name in _SCRIPT_RUNNERS:
        yield from _package_scripts(name, words, read)
    elif name in {"make", "gmake", "just"}:
        yield from _recipes(
            JUSTFILES if name == "just" else MAKEFILES, [word for word in words if "=" not in word], read
        )
    elif (name in SHELLS or "/" in argv[0]) and (script := script_of(argv)):
        text = read(script)
        if text is not None and (name in SHELLS or re.match(rb"#!.*\b(?:ba|da|z|k)?sh\b", text)):
            yield text[:100_000].decode("utf-8", "replace")


def script_of(argv: Sequence[str]) -> str | None:
    """Return the file of the checkout that is run: the program itself, or what an interpreter is given."""
    if "/" in argv[0] and not argv[0].startswith("/"):
        return _plain(argv[0])
    name = argv[0].rpartition("/")[2]
    if name in SHELLS or re.match(
        r"(?:python|pypy)[\d.]*$|(?:node|ruby|perl|php|deno|bun|tsx|ts-node|source|\.)$", name
    ):
        for word in argv[1:]:
            if word in {"-c", "-e", "-m", "--eval", "--test"}:
                return None
            if not word.startswith("-") and word != "run":
                return _plain(word) if not word.startswith("/") else None
    return None


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path


def script_names(name: str, words: Sequence[str]) -> list[str]:
    """Return the package scripts that a package manager is told to run, with those that run around them."""
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


def _package_scripts(name: str, words: list[str], read: Callable[[str], bytes | None]) -> Iterator[str]:
    scripts = package_scripts(read("package.json"))
    for script in script_names(name, words):
        if isinstance(scripts.get(script), str):
            yield scripts[script]


def package_scripts(raw: bytes | None) -> dict[str, str]:
    try:
        data = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return scripts if isinstance(scripts, dict) else {}


def _recipes(files: Sequence[str], targets: list[str], read: Callable[[str], bytes | None]) -> Iterator[str]:
    text = next((raw.decode("utf-8", "replace") for raw in map(read, files) if raw is not None), "")
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: tuple[list[str], list[str]] | None = None
    for line in text.splitlines():
        head = re.match(r"([\w./-]+(?: [\w./-]+)*)\s*::?(?!=)\s*([^=#;]*)(?:;(.*))?$", line)
        if head:
            current = (head[2].split(), [head[3]] if head[3] else [])
            rules.update(dict.fromkeys(head[1].split(), current))
        elif line.startswith(("\t", "    ")) and current is not None:
            current[1].append(line.strip().lstrip("@-+"))
    waiting = targets or [name for name in rules if not name.startswith(".")][:1]
    seen: set[str] = set()
    while waiting:
        target = waiting.pop(0)
        if target in rules and target not in seen:
            seen.add(target)
            waiting += rules[target][0]
            yield from rules[target][1]
