"""Reading what happened to each test, from a check's reports and from what it printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.judge.naming import junit, printed, tap
from santiago.judge.naming.ids import numbered, together

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.judge.naming.ids import Tests

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[@-_])")
_EMPTY_LINES = re.compile(r"\n{3,}")
_LONGEST = 2000
"""Characters of a line that are looked at."""
_CAPTURED = re.compile(
    r"^-+ Captured (?:stdout|stderr|log) \w+ -+\n(?:(?!_{3,} .* _{3,}$|=+ short test summary info =+$).*\n)*+",
    re.MULTILINE,
)
"""What pytest shows of a failed test's own output: the names in it are not the check's."""
_PYTEST = re.compile(
    r"^(?:(?P<starts>=+ test session starts =+$|(?:\S+\.py )?[.FEsxXR]++(?: +\[ *\d{1,3}%\])?$)|(?P<ended>(?:=+ )?\d{1,9}"
    r" (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.{0,200} in \d[\d.]*s\b))",
    re.MULTILINE,
)


def named(output: str, reports: Path, folder: Path, since_ns: int) -> Tests | None:
    """Return what happened to each test of a command that ran in a checkout.

    None where no runner named its tests, or one of them named not all: half of the names would look as if tests had gone.
    """
    text = _CAPTURED.sub("", _plain(output, folder))
    written = junit.read(reports, folder, since_ns)
    shown = [*printed.runs(text), *tap.runs(text)]
    if written is None or None in shown or _pytest_runs(text) > len(written):
        return None
    return together([*written, *(numbered(run) for run in shown if run)]) or None


def _plain(output: str, folder: Path) -> str:
    """Return the output without colours, with lines of a bounded length, and with paths from the checkout's root."""
    text = _ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(line[:_LONGEST] for line in _EMPTY_LINES.sub("\n\n", text).split("\n"))
    return re.sub(rf"(?<![\w./-]){re.escape(str(folder))}/", "", text)


def _pytest_runs(text: str) -> int:
    """Return how often pytest ran; the second of two last lines without a beginning between them is of the outer run."""
    runs, started = 0, True
    for line in _PYTEST.finditer(text):
        runs += started and line.lastgroup == "ended"
        started = line.lastgroup == "starts"
    return runs
