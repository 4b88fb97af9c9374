"""Why a check cannot run here: a program that is not installed, or a module that is not the repository's own.

A test file that is not there yet, or a module of the repository itself that a story has still to write, is no such
reason: that check is red, and may become green.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.record import record
from santiago.judge.judges import is_test
from santiago.process import enter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from santiago.judge.shown import Shown
    from santiago.process.command import Report

    Read = Callable[[str], bytes | None]

PYTHON_TOOLS = frozenset({
    "pytest", "unittest", "coverage", "nose2", "tox", "nox", "mypy", "ruff", "flake8", "black", "pylint", "pyright", "behave", "build",
    "pip", "hypothesis", "pytest_asyncio", "pytest_cov", "pytest_mock", "xdist", "freezegun",
})  # fmt: skip
_NO_MAIN_MODULE = pattern(r"^(?:\S*/)?python[\w.]*: No module named (\w+)", re.MULTILINE)
_NOT_FOUND = pattern(
    r"(?:^|[:\s])([^\s:'\"]+): (?:command not found|not found|Permission denied|No such file or directory|bad interpreter)",
    re.MULTILINE,
)
_FROM_MAKE = pattern(r"^make(?:\[\d+\])?: \*\*\* .* Error 127$", re.MULTILINE)
_NO_PYTHON_MODULE = pattern(r"(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z_]\w*)")
_NO_NODE_MODULE = pattern(r"Cannot find (?:module|package) '((?:@[\w.-]+/)?[A-Za-z_][\w.-]*)")
_NO_BUILD_MODULE = pattern(
    r"(?:no required module provides package |no matching package named `|failed to get `(?=[\w-]+` as a dep))([^\s;:`]+)"
)
_NO_MODULE = {"Python": _NO_PYTHON_MODULE, "Node": _NO_NODE_MODULE, "build": _NO_BUILD_MODULE}
_NOTHING_THERE = pattern(
    r"no tests ran|no tests collected|NO TESTS RAN|No tests? files? found|No tests found|No tests were found|No tests executed|Result: NOTESTS"
    r"|No test is available|no test files\]|no tests to run|There are no tests|Missing script|No rule to make target|No targets specified"
    r"|no Go files|no test target named|Justfile does not contain|No justfile found|could not read package\.json|Could not find a package\.json"
    r"|no test specified|Ran 0 tests|Could not find '",
    re.IGNORECASE,
)
_NOT_THERE = pattern(r"No such file|can(?:no|')t open|not found|Cannot find|ENOENT|does not exist", re.IGNORECASE)
_MANIFESTS = pattern(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Pipfile|environment\.ya?ml|requirements[\w.-]*\.(?:txt|in)|package\.json)"
    r"|(?:.*/)?requirements/[\w.-]+"
)
_MOST_MANIFESTS = 30


@record
class Missing:
    """Something outside the repository that a check needs and this machine does not have."""

    command: str
    kind: str
    """`program`, or the language whose module it is."""
    name: str

    @property
    def sentence(self) -> str:
        if not self.name:
            return f"the check `{self.command}` cannot be started here"
        what = "the program" if self.kind == "program" else f"the {self.kind} module"
        return f"the check `{self.command}` cannot run here: {what} `{self.name}` is missing"


def could_not_start(report: Report) -> bool:
    """Whether a command failed because a program of this machine, not of the checkout, is missing."""
    return bool(report.error) or _unstarted(report.head + report.tail, report.exit_code) is not None


def _unstarted(text: str, exit_code: int | None) -> tuple[str, str] | None:
    """Return kind and name of what could not be started, the name empty where it is not known; None where it did start."""
    if exit_code in (1, enter.FAILED) and text.startswith(("bwrap: ", enter.SAYS)):
        return "program", ""
    module = _NO_MAIN_MODULE.search(text)
    if module is not None and module[1] in PYTHON_TOOLS:
        return "Python", module[1]
    if exit_code not in (126, 127) and not _FROM_MAKE.search(text):
        return None
    name = next((name for name in reversed(_NOT_FOUND.findall(text)) if name not in {"sh", "bash", "env"}), "")
    # A program that the command names inside the checkout is the story's to make; one on PATH is the machine's.
    return ("program", name) if "/" not in name or name.startswith("/") else None


def missing(shown: Shown, files: Collection[str], read: Read, words: Iterable[str]) -> Missing | None:
    """Return what keeps a check from running on a base; `words` are the files and commands that the stories name."""
    if shown.is_green or "passed" in (shown.tests or {}).values():
        return None
    unstarted = _unstarted(shown.output, shown.result.exit_code)
    if unstarted is None and shown.result.cause != "unrunnable":
        return missing_module(shown, files, read, words)
    kind, name = unstarted or ("program", "")
    return Missing(command=shown.command, kind=kind, name=name)


def missing_module(shown: Shown, files: Collection[str], read: Read, words: Iterable[str]) -> Missing | None:
    """Return a module that a check asks for and that is not the repository's own to write."""
    own = {part for path in (*files, *words) for part in (*path.split("/"), path.rpartition("/")[2].partition(".")[0])}
    for kind, complaint in _NO_MODULE.items():
        for module in complaint.findall(shown.output):
            # A test that stands before its module names one that nobody declares as a dependency.
            is_told = kind != "Python" or module in PYTHON_TOOLS or _is_declared(module, files, read)
            if is_told and (kind == "build" or module not in own):
                return Missing(command=shown.command, kind=kind, name=module)
    return None


def _is_declared(module: str, files: Collection[str], read: Read) -> bool:
    name = re.compile(rf"(?<![\w-]){re.escape(module).replace('_', '[-_.]?')}(?![\w])", re.IGNORECASE)
    manifests = [path for path in files if _MANIFESTS.fullmatch(path)][:_MOST_MANIFESTS]
    return any(name.search((read(path) or b"").decode("utf-8", "replace")) for path in manifests)


def lacked(shown: Shown, paths: Collection[str]) -> bool:
    """Whether a check failed because one of these files was not there yet."""
    if shown.is_green or shown.tests:
        return False
    return any(path in line for line in shown.output.splitlines() if _NOT_THERE.search(line) for path in paths)


def found_no_test(shown: Shown) -> bool:
    """Whether a check failed on a tree for the sole reason that there was no test, no script or no target to run."""
    nothing_ran = not shown.is_green and not any(shown.tests or ()) and not shown.result.checks
    return nothing_ran and _NOTHING_THERE.search(shown.output) is not None


def waits_for_tests(shown: Shown, files: Collection[str]) -> bool:
    """Whether a check ran no test because the tree has none: what it will see has still to be written."""
    return shown.result.checks == 0 and not any(shown.tests or ()) and not any(map(is_test, files))
