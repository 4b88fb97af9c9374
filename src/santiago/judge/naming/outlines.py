"""Test names in the outlines that JavaScript's runners print: a mark before each test, suites by indentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.judge.naming.ids import INSIDE, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.judge.naming.ids import Named, Status, Tests

_STATUS: dict[str, Status] = {
    **dict.fromkeys("✓✔√", "passed"), **dict.fromkeys("✕✖✘×✗❯", "failed"), **dict.fromkeys("○✎﹣⚠↓-", "skipped"),
}  # fmt: skip
_DURATION = re.compile(r" \(\d[\d.]* ?m?s\)$")


class _Outline:
    """The suites that are open at a line."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, indent: int, name: str) -> None:
        self._close(indent)
        self._open.append((indent, name))

    def path(self, indent: int, name: str) -> str:
        self._close(indent)
        return INSIDE.join([*(suite for _, suite in self._open), name])

    def _close(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()


_JEST_FILE = re.compile(r"(PASS|FAIL) +(\S.*)$")
_JEST_TEST = re.compile(r"( +)([✓✕○✎√×]) (?:skipped |todo )?(.+)$")


def jest(block: Sequence[str]) -> Named:
    """Read the outline below `PASS path`; a file stands for its tests where it has none, or failed outside of them."""
    named: Named = []
    files: Tests = {}
    file, outline, inside = "", _Outline(), False
    for line in block:
        if line.startswith("Summary of all failing tests"):
            break  # they come a second time
        if heading := _JEST_FILE.match(line):
            file, outline, inside = _DURATION.sub("", heading[2]).removeprefix("./"), _Outline(), True
            files[file] = "failed" if heading[1] == "FAIL" else "passed"
            outline.enter(0, file)
        elif not line.strip():
            inside = False
        elif inside and (test := _JEST_TEST.match(line)):
            named.append((outline.path(len(test[1]), _DURATION.sub("", test[3])), _STATUS[test[2]]))
            if files.get(file) == "passed" or named[-1][1] == "failed":
                files.pop(file, None)
        elif inside:
            outline.enter(len(line) - len(line.lstrip()), line.strip())
    return [*named, *files.items()]


_VITEST_LINE = re.compile(r" ([✓✗×❯↓]) (\S.*)$")
_VITEST_FILE = re.compile(r"(\S.*?) {1,3}\(\d{1,9} tests?\b([^()]*)\)")
_VITEST_BROKEN = re.compile(r" FAIL  (\S+) \[ ")
_VITEST_REST = re.compile(r"(?: \[(?:skipped|todo)\]| \(retry x\d+\)| \(repeat x\d+\)| \d[\d.]*m?s)+$")


def vitest(block: Sequence[str]) -> Named:
    """Read `✓ path > test`; without these, files: their tests are shown only where one of them failed."""
    files: Tests = {}
    named: Named = []
    for line in block:
        broken, found = _VITEST_BROKEN.match(line), _VITEST_LINE.match(line)
        if broken:
            worst(files, broken[1], "failed")
        elif found and (file := _VITEST_FILE.match(found[2])):
            worst(files, file[1], "failed" if "failed" in file[2] else _STATUS[found[1]])
        elif found and INSIDE in found[2]:
            named.append((_VITEST_REST.sub("", found[2]), _STATUS[found[1]]))
    return [*named, *files.items()]


_MOCHA_TEST = re.compile(r"( {2,})(?:([✓✔√-])|\d{1,9}\)) (.+)$")
_MOCHA_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')


def mocha(block: Sequence[str]) -> Named:
    """Read the outline of the spec reporter; a hook that failed is a failure of the test that it ran for."""
    named: Named = []
    broken: Tests = {}
    outline = _Outline()
    for line in block:
        if test := _MOCHA_TEST.match(line):
            indent, title = len(test[1]), _DURATION.sub("", test[3])
            if not test[2] and _MOCHA_HOOK.match(title):
                broken[outline.path(indent, title.rpartition(' for "')[2].rstrip('"'))] = "failed"
            else:
                named.append((outline.path(indent, title), _STATUS[test[2] or "✖"]))
        elif line.startswith("  ") and line.strip():
            outline.enter(len(line) - len(line.lstrip()), line.strip())
    return [*((test, status) for test, status in named if test not in broken), *broken.items()]


_NODE_SUITE = re.compile(r"( *)▶ (.+)$")
_NODE_TEST = re.compile(r"( *)([✔✖﹣⚠]) (.*) \(\d[\d.]*ms\)( # .*)?$")


def node(block: Sequence[str]) -> Named:
    """Read the outline of `node --test`, in which a suite has a line of its own when it ends."""
    named: Named = []
    outline = _Outline()
    for line in block:
        if suite := _NODE_SUITE.match(line):
            outline.enter(len(suite[1]), suite[2])
        elif test := _NODE_TEST.match(line):
            named.append((outline.path(len(test[1]), test[3]), "skipped" if test[4] else _STATUS[test[2]]))
    return named


_AVA_TEST = re.compile(r"  ([✔✘✖-])(?: \[(fail|skip|todo|expected fail|unexpected pass)\]:?)? (\S.*)$")
_AVA_FILE = re.compile(r"(?:No tests found in )?(\S+\.\w+)(?:$|,| exited )")


def ava(block: Sequence[str]) -> Named:
    """Read `✔ title` and `✘ [fail]: title message`; only the details, which follow, tell where a title ends."""
    details = block.index("  ─") if "  ─" in block else len(block)
    titles = {line[2:] for line in block[details:]}
    named: Named = []
    for line in block[:details]:
        if test := _AVA_TEST.match(line):
            status = _STATUS[test[1]]
            file = _AVA_FILE.match(test[3]) if status == "failed" and not test[2] else None
            title = _title(test[3], titles) if status == "failed" else _DURATION.sub("", test[3])
            named.append((file[1] if file else title, status))
    return named


def _title(text: str, titles: set[str]) -> str:
    ends = (place for place in range(len(text), 0, -1) if text[place : place + 1] in {"", " "})
    return next((text[:end] for end in ends if text[:end] in titles), text)
