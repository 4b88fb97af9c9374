"""Why a check cannot run here: a program, a module, a variable or the network is missing.

A missing test file, or a missing module of the repository itself that a story still has to write, is no such reason:
that check fails now, and may pass later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.judge.judge_files import is_test
from santiago.process import enter

if TYPE_CHECKING:
    from santiago.judge.comparison import Shown
    from santiago.process.command import Report

Read = Callable[[str], bytes | None]
PYTHON_TOOLS = frozenset({
    "pytest", "unittest", "coverage", "nose2", "tox", "nox", "mypy", "ruff", "flake8", "black", "pylint", "pyright", "behave", "build",
    "pip", "hypothesis", "pytest_asyncio", "pytest_cov", "pytest_mock", "pytest_timeout", "xdist", "freezegun",
})  # fmt: skip
_NO_MAIN_MODULE = pattern(r"^(?:\S*/)?python[\w.]*: No module named (\w+)", re.MULTILINE)
_NOT_FOUND = pattern(
    r"(?m)(?:^|[:\s])([^\s:'\"]+): (?:command not found|not found|Permission denied|No such file or directory|bad interpreter)"
)
_NOT_STARTED = pattern(
    r"(?mi)(?:Failed to spawn: `?|exec: \"|linker `|command '|error: toolchain ')([\w.+-]+)(?:`?$|\": executable file not found|` not found"
    r"|' failed: No such|' is not installed)|^Command not found: ([\w.+-]+)$|No (CMAKE_\w+_COMPILER) could be found|connect to the (docker) daemon"
    r"|rustup could not choose a version of (\w+)"
)
_NOT_STARTED_BY_TESTS = pattern(
    r"(?:_execute_child[\s\S]{0,8000}?No such file or directory: '|spawn(?:Sync)? )(docker|podman|git|psql|mysql|redis-server|postgres|java|ffmpeg"
    r"|pandoc|chromedriver|geckodriver|chromium|google-chrome|protoc|gcc|cc|make|node|npm|go|cargo)(?:'| ENOENT)"
)
_HOST = r"'?([\w-]+(?:\.[\w-]+)+)'?"
_NO_NETWORK = pattern(
    rf"(?i)(?:EAI_AGAIN|ENOTFOUND|Could not resolve host:|UnknownHostException:|Unknown host) {_HOST}|Failed to resolve {_HOST} \(\[Errno"
    rf"|lookup {_HOST}(?: on \S+)?: (?:no such host|dial|temporary|server misbehaving|i/o timeout|read )"
    r"|(?:Could not transfer artifact[^\n]{0,400}?\(|Could not (?:GET|HEAD) '|error sending request for url \()https?://([\w.-]+)"
    r"|Temporary failure in name resolution|Name or service not known|nodename nor servname|failed to lookup address|dns error"
    r"|network is unreachable|ENETUNREACH|\bEAI_AGAIN\b"
)
_NO_SERVICE = pattern(
    r"(?i)(?:127\.0\.0\.1|localhost|::1)\W{1,12}(?:port\W{1,3})?(\d{2,5})\b(?!\.\d)[\s\S]{0,2000}?(?:refused|ECONNREFUSED)"
    r"|(?:refused|ECONNREFUSED)[^\n]{0,200}?(?:127\.0\.0\.1|localhost|::1)\W{1,12}(\d{2,5})\b(?!\.\d)"
)
_NOT_INSTALLED = pattern(
    r"(?i)try to make an install|did you mean to install|(?:run|try) [`'\"]?((?:yarn|npm|pnpm|bun|bundle|composer|poetry|pdm|uv|mix|dart)"
    r" (?:install|ci|sync|deps\.get|pub get))\b(?! -)"
)
_NAME = r"[`'\"]?([A-Z][A-Z0-9_]{2,60})\b[`'\"]?"
_NOT_SET = pattern(
    rf"(?:environ\b|<frozen os>)[\s\S]{{0,900}}?KeyError: {_NAME}|\b{_NAME}: (?:unbound variable|parameter not set)"
    rf"|(?:define|missing|required)(?: the| required)? environment variable:? {_NAME}"
    rf"|environment variable:? {_NAME} (?:is|was|must be|has) (?:not|required|missing|undefined|set)"
    rf"|\b{_NAME} (?:environment variable )?(?:is not set|must be set)"
)
_NO_PLUGIN = pattern(
    r"(?m)error: unrecognized arguments: [^\n]{0,200}?--(asyncio|cov|timeout)\b|^E\s+fixture '(mock)er' not found"
)
_FROM_MAKE = pattern(r"^make(?:\[\d+\])?: \*\*\* .* Error 127$", re.MULTILINE)
_NO_PYTHON_MODULE = pattern(r"(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z_]\w*)")
_NO_NODE_MODULE = pattern(r"Cannot find (?:module|package) '((?:@[\w.-]+/)?[A-Za-z_][\w.-]*)")
_NO_BUILD_MODULE = pattern(
    r"(?:no required module provides package |missing go\.sum entry for module providing package "
    r"|no matching package named `|failed to get `(?=[\w-]+` as a dep))([^\s;:`]+)"
)
_NO_MODULE = {"Python": _NO_PYTHON_MODULE, "Node": _NO_NODE_MODULE, "build": _NO_BUILD_MODULE}
_NOTHING_THERE = pattern(
    r"(?i)no tests ran|no tests collected|NO TESTS RAN|No tests? files? found|No tests found|No tests were found|No tests executed|Result: NOTESTS"
    r"|No test is available|no test files\]|no tests to run|There are no tests|Missing script|No rule to make target|No targets specified"
    r"|no Go files|no test target named|Justfile does not contain|No justfile found|could not read package\.json|Could not find a package\.json"
    r"|no test specified|Ran 0 tests|Could not find '"
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
    """`program`, `packages`, `network`, `service`, `variable`, or the language of the missing module."""
    name: str

    @property
    def sentence(self) -> str:
        if self.kind == "network":
            return f"the check `{self.command}` cannot run here: it needs the network{f' ({self.name})' if self.name else ''}, and checks have none"
        if self.kind == "service":
            return f"the check `{self.command}` cannot run here: it needs the service at {self.name}, and checks have no network"
        if self.kind == "packages":
            return f"the check `{self.command}` cannot run here: the packages of the repository are not installed"
        if self.kind == "variable":
            return f"the check `{self.command}` cannot run here: the environment variable `{self.name}` is not set"
        if not self.name:
            return f"the check `{self.command}` cannot be started here"
        what = "the program" if self.kind == "program" else f"the {self.kind} module"
        return f"the check `{self.command}` cannot run here: {what} `{self.name}` is missing"


def could_not_start(report: Report) -> bool:
    """Tell whether a command failed because a program is missing on this machine, and not in the checkout."""
    return bool(report.error) or _unstarted(report.head + report.tail, report.exit_code) is not None


def _unstarted(text: str, exit_code: int | None) -> tuple[str, str] | None:
    """Return kind and name of what could not be started; the name is empty if unknown. None if the command did start."""
    if exit_code in (1, enter.FAILED) and text.startswith(("bwrap: ", enter.SAYS)):
        return "program", ""
    module = _NO_MAIN_MODULE.search(text)
    if module is not None and module[1] in PYTHON_TOOLS:
        return "Python", module[1]
    if exit_code not in (126, 127) and not _FROM_MAKE.search(text):
        return None
    name = next((name for name in reversed(_NOT_FOUND.findall(text)) if name not in {"sh", "bash", "env"}), "")
    # A program inside the checkout is for the story to make. One on PATH must be installed on the machine.
    return ("program", name) if "/" not in name or name.startswith("/") else None


def missing(shown: Shown, files: Collection[str], read: Read, words: Iterable[str]) -> Missing | None:
    """Return what a check lacks to run on a base. `words` are the files and commands that the stories name."""
    if shown.is_green or "passed" in (shown.tests or {}).values():
        return None
    unstarted = _unstarted(shown.output, shown.result.exit_code)
    if unstarted is not None or shown.result.cause == "unrunnable":
        kind, name = unstarted or ("program", "")
        return Missing(command=shown.command, kind=kind, name=name)
    for complaint, kind in _COMPLAINTS.items():
        if found := complaint.search(shown.output):
            name = next(filter(None, found.groups()), "")
            return Missing(command=shown.command, kind=kind, name=_PREFIXES.get(kind, "") + name)
    return missing_module(shown, files, read, words)


_COMPLAINTS = {
    _NOT_STARTED: "program", _NOT_STARTED_BY_TESTS: "program", _NOT_INSTALLED: "packages", _NO_NETWORK: "network",
    _NO_SERVICE: "service", _NOT_SET: "variable", _NO_PLUGIN: "Python",
}  # fmt: skip
"""What a check that did start says of what it lacks: a program that it starts itself, packages, the network and so on."""
_PREFIXES = {"service": "localhost:", "Python": "pytest_"}


def lacks_package(shown: Shown) -> bool:
    """Tell whether a check failed since a package could not be loaded or fetched, or a program of one not be started."""
    complaints = (*_NO_MODULE.values(), _NO_NETWORK, _NOT_STARTED)
    return not shown.is_green and (
        shown.result.cause == "unrunnable" or any(complaint.search(shown.output) for complaint in complaints)
    )


def missing_module(shown: Shown, files: Collection[str], read: Read, words: Iterable[str]) -> Missing | None:
    """Return a missing module that a check needs, unless it is one that the repository itself should contain."""
    own = {part for path in (*files, *words) for part in (*path.split("/"), path.rpartition("/")[2].partition(".")[0])}
    for kind, complaint in _NO_MODULE.items():
        for module in complaint.findall(shown.output):
            # A test may exist before the module that it tests. Such a module is not declared as a dependency.
            is_told = kind != "Python" or module in PYTHON_TOOLS or _is_declared(module, files, read)
            if is_told and (kind == "build" or module not in own):
                return Missing(command=shown.command, kind=kind, name=module)
    return None


def _is_declared(module: str, files: Collection[str], read: Read) -> bool:
    name = re.compile(rf"(?<![\w-]){re.escape(module).replace('_', '[-_.]?')}(?![\w])", re.IGNORECASE)
    manifests = [path for path in files if _MANIFESTS.fullmatch(path)][:_MOST_MANIFESTS]
    return any(name.search((read(path) or b"").decode("utf-8", "replace")) for path in manifests)


def lacked(shown: Shown, paths: Collection[str]) -> bool:
    """Tell whether a check failed because one of these files did not exist yet."""
    if shown.is_green or shown.tests:
        return False
    return any(path in line for line in shown.output.splitlines() if _NOT_THERE.search(line) for path in paths)


def found_no_test(shown: Shown) -> bool:
    """Tell whether a check failed only because there was no test, script or target to run."""
    nothing_ran = not shown.is_green and not any(shown.tests or ()) and not shown.result.checks
    return nothing_ran and _NOTHING_THERE.search(shown.output) is not None


def waits_for_tests(shown: Shown, files: Collection[str]) -> bool:
    """Tell whether a check ran no test because the tree has none yet."""
    ran_none = shown.result.checks == 0 and not any(shown.tests or ()) and not any(map(is_test, files))
    return ran_none and (shown.is_green or found_no_test(shown))  # code that does not compile has no tests either
