"""What changed from one failed attempt to the next: which failing lines are new, and which are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.complaints import TELLING
from santiago.contract.outcomes import CheckVerdict
from santiago.contract.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.contract.outcomes import AttemptOutcome

MAX_LINES = 9
"""Lines of each kind in a section. With its headings it then has about twenty lines."""
MAX_OUTPUT = 20_000
"""How many lines of one attempt's output are compared, counted from its end."""
MAX_LENGTH = 500

_NAMES = pattern(
    r"^\s*(?:FAILED|ERROR|FAIL:?|not ok|--- FAIL:?|✗|✕|×|●)\s|\.{3}\s*(?:FAILED|FAIL|ERROR)\b|^test .* \.\.\. FAILED"
)
"""Lines that name a failing test, in the summaries of the usual runners."""
_VARIABLE = pattern(r"0x[0-9a-fA-F]+|(?<!\w)\d+(?:\.\d+)?(?:ms|s)?(?!\w)|/tmp/\S+")
"""Addresses, durations, line numbers; not the number in `test_2`."""
_LASTED = pattern(r"0x[0-9a-fA-F]+|(?<!\d)\d+(?:\.\d+)?\s?m?s\b")
"""The same in the name of a test, where other numbers distinguish cases."""


def since(before: AttemptOutcome, now: AttemptOutcome) -> list[str]:
    """Return a short section on how the failure changed; empty if there is nothing to compare."""
    if before.reason is None:
        return []
    old, new = _failing(before), _failing(now)
    if before.reason == now.reason and old.keys() == new.keys():
        return ["", "This is the same failure as in the attempt before: another way is needed."]
    if before.verdict is None or now.verdict is None:
        return []
    came = [line for key, line in new.items() if key not in old]
    went = [line for key, line in old.items() if key not in new]
    if not old or not (came or went):
        return []
    parts = ["", "## Since the attempt before"]
    for heading, lines in (("New:", came), ("Gone:", went)):
        if lines:
            parts += ["", heading, "", *_few(lines)]
    return parts


def _failing(outcome: AttemptOutcome) -> Mapping[str, str]:
    """Return the lines that tell what is wrong. Each key is the line without what varies from run to run."""
    if outcome.verdict is None:
        message = outcome.message or (outcome.ending.message if outcome.ending else "")
        return _by_sense([line[:MAX_LENGTH] for line in message.splitlines()[-MAX_OUTPUT:]])
    lines: list[str] = []
    for result in outcome.verdict.results:
        if result.verdict is CheckVerdict.FAIL:
            ended = "did not end in time" if result.timed_out else f"exit code {result.exit_code}"
            lines += [
                f"{result.command}: {ended}",
                *_telling(f"{result.output.head}\n{result.output.tail}".splitlines()),
            ]
    lines += [f"refused: {test}" for test in (*outcome.verdict.eased, *outcome.verdict.broken)]
    return _by_sense(lines)


def _telling(lines: list[str]) -> list[str]:
    """Return the lines that name failing tests; if none does, those that say what is wrong; else all lines."""
    lines = [line[:MAX_LENGTH] for line in lines[-MAX_OUTPUT:]]
    for telling in (_NAMES, TELLING):
        if found := [line for line in lines if telling.search(line)]:
            return found
    return lines


def _by_sense(lines: list[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.strip():
            varies = _LASTED if _NAMES.search(line) else _VARIABLE
            found.setdefault(varies.sub("#", line.strip()), line.strip())
    return found


def _few(lines: list[str]) -> list[str]:
    shown = [f"    {line[:200]}" for line in lines[:MAX_LINES]]
    return [*shown, f"    … and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else shown
