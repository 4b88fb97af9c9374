"""Why a check cannot run here (a program or a module is missing), and which set-up helps.

A missing test file, or a missing module of the repository itself that a story still has to write, is no such reason:
that check fails now, and may pass later.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

from santiago.contract.patterns import pattern
from santiago.contract.ports.judge import Proposal
from santiago.contract.record import record
from santiago.judge.judges import is_test
from santiago.judge.shell import programs
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
ENVIRONMENT = "python3 -m venv .venv && .venv/bin/pip install -q"
_ENVIRONMENTS = (".venv", "venv")
_FOLDER = pattern(r"cd ([\w.@/-]+) && ")
_STARTS_PYTHON = pattern(r"(?:(?:uv|poetry|pdm|pipenv|hatch) run (?:--?[\w-]+ )*)?(?:python[\d.]*(?= )|(?=pytest\b))")
_STARTS_NODE = frozenset({"npm", "npx", "pnpm", "yarn", "bun"})
_FOR_TESTS = ("test", "tests", "testing", "dev")
"""Names that projects give to the extra or group with the dependencies of their tests."""
_REQUIREMENTS = pattern(
    r"requirements(?:[-_]?(?:dev|tests?))?\.txt|(?:dev|tests?)[-_]requirements\.txt|requirements/(?:dev|tests?)\.txt"
)
_OTHER_NAMES = {"xdist": "pytest-xdist"}
_MOST_NAMED = 40
_LOCKS = {
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    **dict.fromkeys(("bun.lock", "bun.lockb"), "bun install --frozen-lockfile"),
    **dict.fromkeys(("package-lock.json", "npm-shrinkwrap.json"), "npm ci"),
}
_FETCH = "Set-up has the network and can fetch it: add `go mod download` or `cargo fetch` as setup under [workspace] in santiago.toml."
_INSTALL = "Install it, or name another check: `--verify CMD`, or story_commands under [verification] in santiago.toml."


@record
class Missing:
    """Something outside the repository that a check needs and this machine does not have."""

    command: str
    kind: str
    """`program`, or the language of the missing module."""
    name: str

    @property
    def sentence(self) -> str:
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
    if unstarted is None and shown.result.cause != "unrunnable":
        return missing_module(shown, files, read, words)
    kind, name = unstarted or ("program", "")
    return Missing(command=shown.command, kind=kind, name=name)


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


def remedy(
    found: Missing, files: Collection[str], read: Read, has_folder: Callable[[str], bool]
) -> tuple[str, Proposal | None]:
    """Return what a person can do, and a proposal that can be tried if the repository tells enough for one."""
    cd = _FOLDER.match(found.command)
    prefix, folder = (cd[0], f"{cd[1].rstrip('/')}/") if cd else ("", "")
    command = found.command.removeprefix(prefix)
    if found.kind == "Python" or (found.kind == "program" and found.name in PYTHON_TOOLS):
        install = _installed(found, folder, files, read)
        own = next((name for name in _ENVIRONMENTS if has_folder(f"{folder}{name}")), "")
        check = prefix + _with_environment(command, own or ".venv")
        if not own:
            return _set_up(Proposal(check=check, setup=f"{prefix}{ENVIRONMENT} {install}"), found.command)
        if f"{own}/bin" in command:
            return f"Install it there: `{prefix}{own}/bin/python -m pip install {install}`.", None
        return f"The repository has a `{own}`: use it in the check, as in `{check}`.", Proposal(check=check)
    starter = next((one.written[0] for one in programs(command)), "")
    is_tool = found.kind == "program" and starter in _STARTS_NODE and found.name not in ("", starter)
    if found.kind == "Node" or is_tool:
        return _set_up(Proposal(check=found.command, setup=prefix + node_install(files, folder)), found.command)
    return (_FETCH if found.kind == "build" else _INSTALL), None


def _set_up(proposal: Proposal, command: str) -> tuple[str, Proposal]:
    words = f"Let set-up install it: setup = [{json.dumps(proposal.setup)}] under [workspace] in santiago.toml"
    return words + (f", with `{proposal.check}` as the check." if proposal.check != command else "."), proposal


def _with_environment(command: str, environment: str) -> str:
    """Return a check that uses the python of an environment and the programs in it."""
    if f"{environment}/bin" in command:
        return command
    python = _STARTS_PYTHON.match(command)
    if python is None:
        return f'PATH="$PWD/{environment}/bin:$PATH" {command}'
    module = " -m " if command[python.end() :].startswith("pytest") else ""
    return f"{environment}/bin/python{module}{command[python.end() :]}"


def _installed(found: Missing, folder: str, files: Collection[str], read: Read) -> str:
    """Return what pip has to install so that a check can run, as arguments of a command line."""
    below = [path[len(folder) :] for path in files if path.startswith(folder)]
    tools = [found.name] if found.name in PYTHON_TOOLS else []
    tools += ["pytest"] if "unittest" not in found.command else []
    names = [_OTHER_NAMES.get(tool, tool.replace("_", "-")) for tool in dict.fromkeys(tools)]
    return shlex.join([*python_install(below, read(f"{folder}pyproject.toml")), *names])


def python_install(files: Collection[str], project: bytes | None) -> list[str]:
    """Return what pip has to install for a project: the project and what its tests need. Empty if there is nothing."""
    table = _parsed(project)
    extras, groups = _table(_table(table, "project"), "optional-dependencies"), _table(table, "dependency-groups")
    wanted = ",".join(name for name in _FOR_TESTS if name in extras)
    is_package = "setup.py" in files or "project" in table or "build-system" in table
    named = [one for name in _FOR_TESTS for one in groups.get(name, ()) if isinstance(one, str)]
    listed = [word for path in sorted(files) if _REQUIREMENTS.fullmatch(path) for word in ("-r", path)]
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
    return next((command for lock, command in _LOCKS.items() if f"{folder}{lock}" in files), "npm install")
