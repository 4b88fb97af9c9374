"""Comparing two failures of one check: by the names of the tests that failed, else by the last lines without what varies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.verification.commandline.runners import known_runners
from santiago.verification.counting import tally

if TYPE_CHECKING:
    from santiago.contract.outcomes import CheckResult

_FAILING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) (?=\S*(?:::|\.py))((?:(?! - ).)+)",
        r"^(?:FAIL|ERROR): (.+)$",
        r"^[ \t]*--- FAIL: (\S+)",
        r"^FAIL[ \t]+(\S+)",
        r"^test (.+) \.\.\. FAILED$",
        r"^[ \t]+● (.+)$",
        r"^[ \t]*[×✗✖] (\S+(?:[ \t]+(?!\(?\d+(?:\.\d+)? ?m?s\)?$)\S+)*)",
        r"^[ \t]*not ok \d+ (?:- )?(.+?)(?: # .*)?$",
        r"^rspec (\S+)",
        r"^ *\d+\) (.+)$",
        r"^[ \t]+\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|Exception.*)\)",
        r"^[ \t]+Failed (\S+) \[",
        r"^(?=.+ > .)(.+) FAILED$",
        r"^\[ERROR\][ \t]+(\w[\w.$]*(?::\d+)?)",
        r"^#[ \t]+Failed test (.+)$",
    )
)
_LAST = 20
_VARIES = (
    (re.compile(r"(?:/[\w.@+~-]+)+/"), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?"), "<time>"),
    (re.compile(r"\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|m|min|minutes?)\b"), "<time>"),
    (re.compile(r":\d+(?::\d+)?\b"), ":<line>"),
    (re.compile(r"\bline \d+"), "line <line>"),
    (re.compile(r"\b(?:pid|PID|seed|port)[ =:]*\d+"), "<number>"),
)


@dataclass(frozen=True, slots=True)
class Failures:
    names: frozenset[str]
    count: int
    complete: bool
    """Whether every failure that the runner counted is named."""


def failures(result: CheckResult) -> Failures:
    text = tally.plain(result.output.head + "\n" + result.output.tail)
    names = frozenset(normal(match) for pattern in _FAILING for match in pattern.findall(text))
    runners = known_runners(result.command)
    counted = tally.read(runners, text) if runners else tally.recognise(text)
    count = counted.failed if counted is not None else len(names)
    return Failures(names, count, complete=len(names) >= count and not (result.output.dropped and counted is None))


def last_lines(result: CheckResult) -> list[str]:
    """Return the end of the output without paths, times, addresses and line numbers."""
    text = tally.plain(result.output.tail or result.output.head)
    return [normal(line.strip()) for line in text.split("\n")[-_LAST:]]


def normal(line: str) -> str:
    for pattern, replacement in _VARIES:
        line = pattern.sub(replacement, line)
    return line
