"""Test names in the Test Anything Protocol, as node, tape, node-tap and others print it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.judge.naming.outlines import outline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.judge.naming.ids import Named, Status

_STREAM = pattern(r"^(?=TAP version \d+$)", re.MULTILINE)
_DETAILS = pattern(r"^( +)--- *\n(?:(?!\1\.\.\. *$)(?:\1.*| *)\n)*+(?:\1\.\.\. *\n)?", re.MULTILINE)
_LINE = pattern(
    r"^(?P<indent> *+)(?:# Subtest: (?P<suite>.+)|# (?P<comment>.*)|(?P<plan>1\.\.\d+)"
    r"|(?P<failed>not )?ok \d+(?P<dash> -)?(?: +|$)(?P<test>.*)$)",
    re.MULTILINE,
)
_DIRECTIVE = pattern(r"(?<!\\)#\s*(?:(skip|todo)|time=)", re.IGNORECASE)
_TAPE_MARK = pattern(r"(?:SKIP|TODO) ")


def runs(text: str) -> list[Named]:
    """Return what each stream of results named."""
    return [_read(stream) for stream in _STREAM.split(text)]


def _read(stream: str) -> Named:
    versioned = stream.startswith("TAP version ")
    lines = list(_LINE.finditer(_DETAILS.sub("", stream)))
    kinds = [line.lastgroup for line in lines]
    if "test" not in kinds or not (versioned or "plan" in kinds):
        return []
    if "suite" in kinds:
        return _nested(line for line in lines if line.lastgroup in {"suite", "test"})
    if versioned and kinds[0] == "comment" and not lines[kinds.index("test")]["dash"]:
        return _tape(lines)
    return [_result(line, line["test"]) for line in lines if line.lastgroup == "test" and not line["indent"]]


def _result(line: re.Match[str], text: str) -> tuple[str, Status]:
    name, *directive = _DIRECTIVE.split(text, maxsplit=1)
    status: Status = "skipped" if any(directive[:1]) else "failed" if line["failed"] else "passed"
    return name.strip().replace("\\#", "#").replace("\\\\", "\\"), status


def _nested(lines: Iterable[re.Match[str]]) -> Named:
    """Read subtests: other results are single assertions inside of them, unless they were left out."""
    named: Named = []
    subtests = set()
    for path, line in outline(lines):
        test, status = _result(line, path)
        if line["suite"]:
            subtests.add(test)
        elif status == "skipped" or test in subtests:
            named.append((test, status))
    return named


def _tape(lines: Iterable[re.Match[str]]) -> Named:
    """Read tape's tests, which are comments: one has failed where an assertion below it has, or where all ends there."""
    named: Named = []
    for line in lines:
        if line.lastgroup == "plan":
            return named  # what follows is the summary
        if line.lastgroup == "comment":
            name = line["comment"].strip()
            named.append((_TAPE_MARK.sub("", name, count=1), "skipped" if _TAPE_MARK.match(name) else "passed"))
        elif named and _result(line, line["test"])[1] == "failed":
            named[-1] = (named[-1][0], "failed")
    return [*named[:-1], *((test, "failed") for test, _ in named[-1:])]
