"""Lines of an output that say what is wrong, and which of them are new beside another output."""

from __future__ import annotations

import re

from santiago.contract.lazy_regex import pattern

TELLING = pattern(
    r"error|fail|assert|exception|traceback|expected|panic|fatal|undefined|not found|cannot|can't|denied|not ok|^E\s|^\s*File \""
    r"|[✖✗✘✕×●]|\.\w{1,9}(?::\d|\(\d+,)",
    re.IGNORECASE,
)
"""Matches a line that says what is wrong: by a word, a mark, or a place in a file."""
_VARIES = pattern(r"[^\s:(]{1,300}\.\w{1,9}(?::\d+|\(\d+,)[\d:,)]*|(?:/[\w.@+~-]+)+/|0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*")
UNCOVERED = pattern(r"(?i)\bcoverage\b.{0,200}(?:threshold|fail[-_ ]under|not (?:met|reached)|below|less than)")
"""Matches a line that says that tests cover too little."""
_WORD = pattern(r"[^\W\d_]{2}")
_LONGEST = 500


def constant(line: str) -> str:
    """Return a line without what differs from run to run, or between two trees: places, paths, addresses, numbers."""
    return _VARIES.sub("#", line.strip()[:_LONGEST])


def new(then: str, now: str, without: re.Pattern[str] | None = None) -> list[str]:
    """Return the lines of an output that say what is wrong, without those that said the same then, in whatever place or order.

    If no line looks as if it said what is wrong, any line may. Lines that match `without` do not count.
    """
    before, after = (
        [line.rstrip()[:_LONGEST] for line in text.splitlines() if without is None or not without.search(line)]
        for text in (then, now)
    )
    known = {constant(line) for line in before}
    told = [line for line in after if TELLING.search(line)] or after
    found = [line for line in told if constant(line) not in known and _WORD.search(constant(line))]
    return found if any(after) or not any(before) else ["(no output)"]
