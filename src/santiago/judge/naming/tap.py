"""Test names in the Test Anything Protocol, as node, tape, node-tap and others print it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.judge.naming.ids import INSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from santiago.judge.naming.ids import Named, Status

_VERSION = re.compile(r"TAP version \d+$")
_PLAN = re.compile(r"1\.\.\d+")
_RESULT = re.compile(r"(not )?ok \d+( - | |$)(.*)$")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo|time=)", re.IGNORECASE)
_TAPE_MARK = re.compile(r"(?:SKIP|TODO) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    indent: int
    kind: str
    """plan, comment, subtest or result."""
    text: str = ""
    status: Status = "passed"
    dash: bool = False


def runs(lines: Iterable[str]) -> Iterator[Named]:
    """Yield what each stream of results named."""
    stream: list[str] = []
    versioned = False
    for line in lines:
        if _VERSION.match(line):
            yield _read(stream, versioned=versioned)
            stream, versioned = [], True
        else:
            stream.append(line)
    yield _read(stream, versioned=versioned)


def _read(stream: Sequence[str], *, versioned: bool) -> Named:
    lines = [found for line in _without_details(stream) if (found := _line(line)) is not None]
    results = [line for line in lines if line.kind == "result"]
    if not results or not (versioned or any(line.kind == "plan" for line in lines)):
        return []
    if any(line.kind == "subtest" for line in lines):
        return _nested(lines)
    if versioned and not results[0].dash and next(line for line in lines if line.kind != "plan").kind == "comment":
        return _tape(lines)
    return [(line.text, line.status) for line in results if not line.indent]


def _without_details(stream: Iterable[str]) -> Iterator[str]:
    """Leave out the blocks from `---` to `...` below results."""
    block = -1
    for line in stream:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if block >= 0 and text and (indent < block or (indent == block and text.rstrip() == "...")):
            block = -1
            if text.rstrip() == "...":
                continue
        if block < 0 and indent and text.rstrip() == "---":
            block = indent
        if block < 0:
            yield line


def _line(line: str) -> _Line | None:
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    if text.startswith("# Subtest: "):
        return _Line(indent=indent, kind="subtest", text=_unescaped(text.removeprefix("# Subtest: ")))
    if text.startswith("# "):
        return _Line(indent=indent, kind="comment", text=text[2:].strip())
    if _PLAN.match(text):
        return _Line(indent=indent, kind="plan")
    result = _RESULT.match(text)
    if result is None:
        return None
    directive = _DIRECTIVE.search(result[3])
    name = result[3][: directive.start()] if directive else result[3]
    left_out = directive is not None and not directive[1].startswith("time")
    status: Status = "skipped" if left_out else "failed" if result[1] else "passed"
    return _Line(indent=indent, kind="result", text=_unescaped(name), status=status, dash=result[2] == " - ")


def _unescaped(name: str) -> str:
    return name.strip().replace("\\#", "#").replace("\\\\", "\\")


def _nested(lines: Iterable[_Line]) -> Named:
    """Read subtests: other results are single assertions inside of them, unless they were left out."""
    named: Named = []
    suites: list[_Line] = []
    for line in lines:
        if line.kind not in {"subtest", "result"}:
            continue
        ended = None
        while suites and suites[-1].indent >= line.indent:
            ended = suites.pop()
        if line.kind == "subtest":
            suites.append(line)
        elif line.status == "skipped" or (ended and (ended.indent, ended.text) == (line.indent, line.text)):
            named.append((INSIDE.join([*(suite.text for suite in suites), line.text]), line.status))
    return named


def _tape(lines: Iterable[_Line]) -> Named:
    """Read tape's tests, which are comments: one has failed where an assertion below it has, or where all ends there."""
    named: Named = []
    for line in lines:
        if line.kind == "plan":
            return named  # what follows is the summary
        if line.kind == "comment":
            named.append(
                (_TAPE_MARK.sub("", line.text, count=1), "skipped" if _TAPE_MARK.match(line.text) else "passed")
            )
        elif named and line.status == "failed":
            named[-1] = (named[-1][0], "failed")
    return [*named[:-1], *((test, "failed") for test, _ in named[-1:])]
