"""Whether a check failed because it was not there itself: a file or module that its command names, or a runner's tests.

What a test asks for and does not find is the work that is to be done; what the command names and the base does not have is
a check that somebody has still to write. So a complaint about something missing counts only where it names the latter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from santiago.verification.commandline import recipes, runners
from santiago.verification.commandline.steps import resolved, steps
from santiago.verification.counting.tally import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from santiago.contract.outcomes import CheckResult
    from santiago.verification.commandline.steps import Step

_NOTHING_THERE = re.compile(
    r"no tests ran|no tests collected|NO TESTS RAN|No tests? files? found|No tests found|No tests were found|No tests executed|Result: NOTESTS"
    r"|No test is available|no test files\]|no tests to run|There are no tests|Missing script|No rule to make target|No targets specified"
    r"|no Go files|no test target named|Justfile does not contain|No justfile found|could not read package\.json|Could not find a package\.json",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"No such file or directory|can't open file|can(?:not|'t) open|cannot load such file|Could not (?:find|open)|file or directory not found"
    r"|Cannot find (?:module|path)|Cannot open file|ENOENT|not found|No module named|does not exist|directory not found|Cannot detect source of",
    re.IGNORECASE,
)
_EXIT_NO_TESTS = 5
_EXIT_NOT_FOUND = 127
_BY_PATTERN = frozenset({"jest", "vitest"})
"""Runners whose words are parts of paths."""
_PYTHON = re.compile(r"python|pypy|unittest|pytest")


def found_no_test(result: CheckResult) -> bool:
    """Whether a runner of tests failed for the sole reason that there was none to run."""
    return result.checks == 0 and bool(runners.known_runners(result.command)) and _says_nothing_there(result)


def _says_nothing_there(result: CheckResult) -> bool:
    return _NOTHING_THERE.search(plain(result.output.head + "\n" + result.output.tail)) is not None


@dataclass(frozen=True)
class Base:
    """The files of a base, as far as the commands that ran on it name them."""

    files: Collection[str] = frozenset()
    read: Callable[[str], bytes | None] = lambda _path: None

    def lacked(self, result: CheckResult) -> bool:
        """Whether a check failed on this base because it was not there itself."""
        command = result.command
        if runners.known_runners(command) == ("pytest",) and result.exit_code in (4, _EXIT_NO_TESTS):
            return True
        if not result.checks and _says_nothing_there(result):
            return True
        if result.exit_code == _EXIT_NOT_FOUND and not any(self._runs_own(step) for step in self._steps(command)):
            return True
        lacking = {form for step in self._steps(command) for word in self._lacking(step) for form in _forms(word, step)}
        text = plain(result.output.head + "\n" + result.output.tail)
        lines = [line for line in text.splitlines() if _MISSING.search(line)] if lacking else []
        return any(_names(line, word) for line in lines for word in lacking) or any(
            f"No module named '{package}'" in line for line in lines for word in lacking for package in _packages(word)
        )

    def _steps(self, command: str) -> Iterator[Step]:
        """Yield what a command runs, through make and package scripts; what a script of the base runs is its own matter."""
        for line, _ in recipes.walked(command, self.read, lambda step: (step,) if _only_passes_on(step) else ()):
            yield from steps(line.text, line.folder, line.script)

    def _runs_own(self, step: Step) -> bool:
        """Whether a step runs a script that the base has, so that it is the script which did not find something."""
        script = runners.script_of(step.argv)
        return script is not None and resolved(step.folder, script) in self.files

    def _lacking(self, step: Step) -> Iterator[str]:
        """Yield the words of a step that name nothing which the base has."""
        # A target or a package script is no file, and it is there.
        told = {line.told for line in recipes.lines_behind(step, self.read)} if _only_passes_on(step) else set()
        program = step.written[:1] if "/" in step.written[0] else ()
        for word in (*program, *step.written[1:], *step.reads):
            name = word.partition("::")[0]
            if len(name) > 1 and not word.startswith("-") and word not in told and not self._has(name, step):
                yield name

    def _has(self, name: str, step: Step) -> bool:
        """Whether the base has what a word means: a file or folder, a module, or a part of a path."""
        if runners.runner_of(step.argv) in _BY_PATTERN and any(name in path for path in self.files):
            return True
        path = resolved(step.folder, name)
        if path in self._known:
            # An interpreter that is given a folder runs a file in it.
            is_script = name.removeprefix("./") == runners.script_of(step.argv) and path not in self.files
            return not is_script or any(f"{path}/{main}" in self.files for main in ("index.js", "package.json"))
        is_python = any(map(_PYTHON.search, step.written))
        return is_python and any(path in self._known for path in _module_files(name, step.folder))

    @cached_property
    def _known(self) -> frozenset[str]:
        """Files and folders."""
        found = {"", *self.files}
        for path in self.files:
            while (path := path.rpartition("/")[0]) not in found:
                found.add(path)
        return frozenset(found)


def _only_passes_on(step: Step) -> bool:
    return step.name in runners.SCRIPT_RUNNERS or recipes.making_of(step) is not None


def _forms(word: str, step: Step) -> set[str]:
    """Return how an output may speak of a word: as it is written, and from the checkout's root."""
    return {word.removeprefix("./"), resolved(step.folder, word) or word} - {""}


def _module_files(name: str, folder: str) -> Iterator[str]:
    """Yield the paths that a dotted name may mean: a package, a module, or a module with a class and a test behind it."""
    parts = name.split(".")
    for root in (folder, f"{folder}/src".lstrip("/")):
        places = ["/".join((root, *parts[:length])).lstrip("/") for length in range(1, len(parts) + 1)]
        yield from (places[-1], *(f"{place}.py" for place in places))


def _packages(module: str) -> list[str]:
    """Return the packages that a dotted name lies in: python complains of the outermost that is not there."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))] if all(map(str.isidentifier, parts)) else []


def _names(line: str, word: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", line) is not None
