"""How a command is started so that its test runners name each test, without changing which tests they run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import count

from santiago.contract.lazy_regex import pattern

_STARTERS = (
    r"(?:\w+=[^\s;&|]*|(?:[^\s;&|]*/)?python[\d.]*|node|env|exec|time|cross-env|npx|bunx|yarn|pnpm|uv|poetry|pipenv|pdm"
    r"|hatch|coverage|run|-m|-[yuBIEs]+|--yes|--no-install|--frozen|--locked|--)[ \t]+"
)


def _program(name: str) -> re.Pattern[str]:
    """Return a pattern for a program at the beginning of a simple command, after words that only start it, such as `env`."""
    return pattern(rf"((?:^|[;&|(\n])[ \t]*(?:{_STARTERS})*(?:[^\s;&|()'\"]*/)?{name})(?=[\s;&|)]|$)")


_UNITTEST = pattern(r"(-m\s+unittest(?:\s+discover)?)(?![\w.-])([^;&|\n]*)")
_QUIET = pattern(r"(?<=\s)(?:--quiet|-q)(?=[\s'\")]|$)")
_PYTEST = _program(r"(?:pytest|py\.test)")
_TOLD = ((_program(r"jest(?:\.js)?"), "--verbose"), (_program(r"vitest(?:\.mjs)?"), "--reporter=verbose"))
"""Runners that list their tests only when told to, at least if there are several files."""
_REFUSED = pattern(r"error: (?:unrecognized arguments|unknown option|no such option|argument)[^\n]*--junit-?xml")


def asking(command: str, environment: Mapping[str, str], reports: str) -> tuple[str, dict[str, str]]:
    """Return a command and variables with which pytest writes a report into a folder and other runners print their tests.

    If a command line starts pytest several times, each start gets a file of its own.
    """
    for program, option in _TOLD:
        command = program.sub(rf"\1 {option}", command)
    command = _UNITTEST.sub(lambda found: f"{found[1]} -v{_QUIET.sub('-v', found[2])}", command)
    added = {"GOFLAGS": _more(environment, "GOFLAGS", "-v")}
    if len(_PYTEST.findall(command)) > 1:
        number = count(1)
        command = _PYTEST.sub(lambda found: f"{found[1]} {_report(reports, f'pytest-{next(number)}')}", command)
    else:
        added["PYTEST_ADDOPTS"] = _more(environment, "PYTEST_ADDOPTS", _report(reports, "pytest"))
    return command, added


def refused(output: str) -> bool:
    """Tell whether pytest refused to write a report, so that the command must be run as it was written."""
    return _REFUSED.search(output) is not None


def _report(folder: str, name: str) -> str:
    # Only the older family says which file a test is in.
    return f"--junitxml={shlex.quote(f'{folder}/{name}.xml')} -o junit_family=xunit1"


def _more(environment: Mapping[str, str], name: str, words: str) -> str:
    return f"{environment.get(name, '')} {words}".lstrip()
