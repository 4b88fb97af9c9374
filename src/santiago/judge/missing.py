"""Why a check cannot run here: a program that is not installed, or a module that is not the repository's own.

A test file that is not there yet, or a module of the repository itself that a story has still to write, is no such
reason: that check is red, and may become green.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.process import enter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from santiago.judge.shown import Shown
    from santiago.process.command import Report

PYTHON_TOOLS = frozenset(
    [
        "pytest",
        "unittest",
        "coverage",
        "nose2",
        "tox",
        "nox",
        "mypy",
        "ruff",
        "flake8",
        "black",
        "pylint",
        "pyright",
        "behave",
        "build",
        "pip",
        "hypothesis",
        "pytest_asyncio",
        "pytest_cov",
        "pytest_mock",
        "xdist",
        "freezegun",
    ]
)
_NO_MAIN_MODULE = re.compile(r"^(?:\S*/)?python[\w.]*: No module named (\w+)", re.MULTILINE)
_NOT_FOUND = re.compile(
    r"(?:^|[:\s])([^\s:'\"]+): (?:command not found|not found|Permission denied|No such file or directory|bad interpreter)",
    re.MULTILINE,
)
_FROM_MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 127$", re.MULTILINE)
_NO_PYTHON_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z_]\w*)")
_NO_NODE_MODULE = re.compile(r"Cannot find (?:module|package) '((?:@[\w.-]+/)?[A-Za-z_][\w.-]*)")
_NO_BUILD_MODULE = re.compile(
    r"no required module provides package (\S+?)[;:]|failed to get `([\w-]+)` as a dependency|no matching package named `([\w-]+)`"
)
_NOTHING_THERE = re.compile(
    r"no tests ran|no tests collected|NO TESTS RAN|No tests? files? found|No tests found|No tests were found|No tests executed|Result: NOTESTS"
    r"|No test is available|no test files\]|no tests to run|There are no tests|Missing script|No rule to make target|No targets specified"
    r"|no Go files|no test target named|Justfile does not contain|No justfile found|could not read package\.json|Could not find a package\.json"
    r"|no test specified|Ran 0 tests|Could not find '",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"No such file|can(?:no|')t open|not found|Cannot find|ENOENT|does not exist", re.IGNORECASE)
_MANIFESTS = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Pipfile|environment\.ya?ml|requirements[\w.-]*\.(?:txt|in)|package\.json)"
    r"|(?:.*/)?requirements/[\w.-]+"
)
_MOST_MANIFESTS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something outside the repository that a check needs and this machine does not have."""

    command: str
    kind: str
    """`program`, or the language whose module it is."""
    name: str

    @property
    def sentence(self) -> str:
        what = f"the program `{self.name}`" if self.kind == "program" else f"the {self.kind} module `{self.name}`"
        return (
            f"the check `{self.command}` cannot run here: {what} is missing"
            if self.name
            else (f"the check `{self.command}` cannot be started here")
        )


def could_not_start(report: Report) -> bool:
    """Whether a command failed because a program of this machine, not of the checkout, is missing."""
    return _unstarted(report.head + report.tail, report.exit_code, report.error) is not None


def _unstarted(text: str, exit_code: int | None, error: str = "") -> str | None:
    """Return the name of what could not be started, empty where it is not known; None where it did start."""
    if error or (exit_code in (1, enter.FAILED) and text.startswith(("bwrap: ", enter.SAYS))):
        return ""
    module = _NO_MAIN_MODULE.search(text)
    if module is not None and module[1] in PYTHON_TOOLS:
        return module[1]
    if exit_code in (126, 127) or _FROM_MAKE.search(text):
        names = [name for name in _NOT_FOUND.findall(text) if name not in {"sh", "bash", "env"}]
        # A program that the command names inside the checkout is the story's to make; one on PATH is the machine's.
        if not names:
            return ""
        return names[-1] if "/" not in names[-1] or names[-1].startswith("/") else None
    return None


def missing(
    shown: Shown, files: Collection[str], read: Callable[[str], bytes | None], words: Iterable[str]
) -> Missing | None:
    """Return what keeps a check from running on a base; `words` are the files and commands that the stories name."""
    if shown.is_green or any(status == "passed" for status in (shown.tests or {}).values()):
        return None
    text = shown.result.output.head + "\n" + shown.result.output.tail
    name = _unstarted(text, shown.result.exit_code)
    if shown.result.cause == "unrunnable" or name is not None:
        kind = "Python" if name in PYTHON_TOOLS and _NO_MAIN_MODULE.search(text) else "program"
        return Missing(command=shown.command, kind=kind, name=name or "")
    return missing_module(shown, files, read, words)


def missing_module(
    shown: Shown, files: Collection[str], read: Callable[[str], bytes | None], words: Iterable[str]
) -> Missing | None:
    """Return a module that a check asks for and that is not the repository's own to write."""
    text = shown.result.output.head + "\n" + shown.result.output.tail
    owned = _Owned(files, read, frozenset(words))
    for kind, pattern in (("Python", _NO_PYTHON_MODULE), ("Node", _NO_NODE_MODULE), ("build", _NO_BUILD_MODULE)):
        for found in pattern.finditer(text):
            module = next(group for group in found.groups() if group)
            if owned.is_foreign(kind, module):
                return Missing(command=shown.command, kind=kind, name=module)
    return None


@dataclass(frozen=True, slots=True)
class _Owned:
    """What belongs to the repository, or will."""

    files: Collection[str]
    read: Callable[[str], bytes | None]
    words: frozenset[str]

    def is_foreign(self, kind: str, module: str) -> bool:
        if kind == "build":
            return True
        if any(module in _parts(path) for path in (*self.files, *self.words)):
            return False
        # A test that stands before its module names one that nobody declares as a dependency.
        return module in PYTHON_TOOLS or kind == "Node" or self._is_declared(module)

    def _is_declared(self, module: str) -> bool:
        name = re.compile(rf"(?<![\w-]){re.escape(module).replace('_', '[-_.]?')}(?![\w])", re.IGNORECASE)
        manifests = [path for path in self.files if _MANIFESTS.fullmatch(path)][:_MOST_MANIFESTS]
        texts = ((self.read(path) or b"").decode("utf-8", "replace") for path in manifests)
        return any(name.search(text) for text in texts)


def _parts(path: str) -> set[str]:
    parts = path.split("/")
    return {*parts, parts[-1].partition(".")[0]}


def lacked(shown: Shown, paths: Collection[str]) -> bool:
    """Whether a check failed because one of these files was not there yet."""
    if shown.is_green or shown.tests or not paths:
        return False
    lines = (shown.result.output.head + "\n" + shown.result.output.tail).splitlines()
    return any(path in line for line in lines if _NOT_THERE.search(line) for path in paths)


def found_no_test(shown: Shown) -> bool:
    """Whether a check failed on a tree for the sole reason that there was no test, no script or no target to run."""
    if shown.is_green or any(shown.tests or ()):
        return False
    text = shown.result.output.head + "\n" + shown.result.output.tail
    return not shown.result.checks and _NOTHING_THERE.search(text) is not None
