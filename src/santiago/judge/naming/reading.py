"""Reading what happened to each test, from a check's reports and from what it printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.judge.naming import junit, printed, tap
from santiago.judge.naming.ids import numbered, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from santiago.judge.naming.ids import Tests

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[@-_])")
_LONGEST = 2000
"""Characters of a line that are looked at."""
_PYTEST_ENDED = re.compile(
    r"(?:=+ )?\d{1,9} (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.{0,200} in \d[\d.]*s\b"
)
_PYTEST_STARTS = re.compile(r"=+ test session starts =+$|(?:\S+\.py )?[.FEsxXR]+(?: +\[ *\d{1,3}%\])?$")
_CAPTURED = re.compile(r"-+ Captured (?:stdout|stderr|log) \w+ -+$")
_CAPTURED_ENDS = re.compile(r"_{3,} .* _{3,}$|=+ short test summary info =+$")


def named(output: str, reports: Path, folder: Path, since_ns: int) -> Tests | None:
    """Return what happened to each test of a command that ran in a checkout.

    None where no runner named its tests, or one of them named not all: half of the names would look as if tests had gone.
    """
    lines = list(_own_lines(_plain_lines(output, folder)))
    written = junit.read(reports, folder, since_ns)
    shown = [*printed.runs(lines), *tap.runs(lines)]
    if None in shown or _pytest_runs(lines) > len(written):
        return None
    return together([*written, *(numbered(run) for run in shown if run)]) or None


def _pytest_runs(lines: Iterable[str]) -> int:
    """Return how often pytest ran; the second of two last lines without a beginning between them is of the outer run."""
    runs, started = 0, True
    for line in lines:
        if _PYTEST_ENDED.match(line):
            runs, started = runs + started, False
        elif _PYTEST_STARTS.match(line):
            started = True
    return runs


def _plain_lines(output: str, folder: Path) -> list[str]:
    """Return the lines without colours, and with paths from the checkout's root."""
    text = re.sub(rf"(?<![\w./-]){re.escape(str(folder))}/", "", _ESCAPES.sub("", output))
    return [line[:_LONGEST] for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _own_lines(lines: Iterable[str]) -> Iterator[str]:
    """Leave out what pytest shows of a failed test's own output: the names in it are not the check's."""
    captured = False
    for line in lines:
        if line.startswith(("-", "_", "=")):
            captured = _CAPTURED.match(line) is not None or (captured and _CAPTURED_ENDS.match(line) is None)
        if not captured:
            yield line
