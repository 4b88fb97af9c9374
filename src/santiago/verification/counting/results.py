"""The result of one check: what stands behind its command, how it ended, and how much its run is worth."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.util import regular
from santiago.verification.commandline.noop import is_noop
from santiago.verification.counting import junit, known_runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.process.command import Report

_LARGEST_SCRIPT = 1024 * 1024
_PYTHON_TOOLS = "pytest unittest coverage nose2 tox nox mypy ruff flake8 black pylint pyright behave build pip"
_NO_MODULE = re.compile(r"^(?:\S*/)?python[\w.]*: No module named (\w+)", re.MULTILINE)
_NOT_FOUND = re.compile(
    r"(?:^|[:\s])([^\s:'\"]+): (?:command not found|not found|Permission denied|No such file or directory|bad interpreter)",
    re.MULTILINE,
)
_FROM_MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 127$", re.MULTILINE)


def of(command: str, folder: str, temporary: str, run: Callable[[str], Report]) -> CheckResult:
    """Run a check in a folder and return what it showed."""
    # What stands behind the command is read before it runs, so that it cannot say so itself.
    behind = known_runner.behind(command, partial(_inside, os.path.realpath(folder)))
    moment = _moment(temporary)
    report = run(command)
    tally = known_runner.tally(behind, report.head + report.tail, lambda: junit.written_since(folder, moment))
    cause = _cause(report)
    passed = report.exit_code == 0 and not report.timed_out and not cause
    if passed and behind.runners and tally is not None and tally.failed:
        passed, cause = False, "contradicted"
    return CheckResult(
        command=command,
        exit_code=128 + report.signal if report.signal and not report.timed_out and not cause else report.exit_code,
        seconds=Seconds(report.ms),
        timed_out=report.timed_out,
        output=Output(head=report.head, tail=report.tail, dropped=report.dropped, total=report.total),
        checks=0 if is_noop(command) or behind.idle else None if tally is None else tally.ran,
        verdict=CheckVerdict.PASS if passed else CheckVerdict.NOT_RUN if cause == "stopped" else CheckVerdict.FAIL,
        cause=cause,  # type: ignore[arg-type]  # one of the closed list, chosen below
    )


def not_run(command: str, cause: str) -> CheckResult:
    return CheckResult(
        command=command,
        exit_code=None,
        seconds=Seconds(0),
        timed_out=False,
        output=Output(head="", tail="", dropped=0, total=0),
        checks=None,
        verdict=CheckVerdict.NOT_RUN,
        cause=cause,  # type: ignore[arg-type]  # of the closed list
    )


def _cause(report: Report) -> str:
    if report.stopped:
        return "stopped"
    if report.flooded:
        return "output_limit"
    if report.timed_out:
        return ""
    return "unrunnable" if report.exit_code != 0 and _could_not_start(report) else ""


def _could_not_start(report: Report) -> bool:
    text = report.head + report.tail
    if report.error or (report.exit_code == 1 and text.startswith("bwrap: ")):
        return True
    module = _NO_MODULE.search(text)
    if module is not None and module[1] in _PYTHON_TOOLS.split():
        return True
    if report.exit_code in (126, 127) or _FROM_MAKE.search(text):
        missing = [name for name in _NOT_FOUND.findall(text) if name not in {"sh", "bash", "env"}]
        # A program that the command names inside the checkout is the story's to make; one on PATH is the machine's.
        return not missing or any("/" not in name or name.startswith("/") for name in missing[-1:])
    return False


def _moment(folder: str) -> int:
    """Return now by the file system's own clock, which is coarser than the machine's."""
    mark = Path(folder, ".moment")
    mark.write_bytes(b"")
    return mark.stat().st_mtime_ns


def _inside(root: str, path: str) -> bytes | None:
    """Return a small file of the checkout; nothing that leads out of it."""
    real = os.path.realpath(f"{root}/{path}")
    return regular.content(real, _LARGEST_SCRIPT, follow=False) if real.startswith(root + "/") else None
