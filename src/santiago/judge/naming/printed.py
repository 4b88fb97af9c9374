"""Test names that runners print: each run ends with a line by which the runner is known, and is read up to there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.judge.naming import outlines
from santiago.judge.naming.ids import worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from santiago.judge.naming.ids import Named, Status, Tests

_END = re.compile(
    r"^(?:(?P<unittest>Ran \d{1,9} tests? in )|(?P<cargo>test result: \w+\. \d{1,9} passed;)|(?P<go>(?:ok  |FAIL)\t\S)"
    r"|(?P<jest>Test Suites: )|(?P<vitest> {1,4}Test Files  )|(?P<mocha>  \d{1,9} passing )|(?P<node>ℹ tests \d{1,9}$)"
    r"|(?P<ava>  \d{1,9} (?:tests?|known failures?|uncaught exceptions?|unhandled rejections?)\b)).*$",
    re.MULTILINE,
)
_COUNT = re.compile(r"\d{1,9}")


def runs(text: str) -> Iterator[Named | None]:
    """Yield what each run named; None where it counted more tests than it named."""
    start, ended = 0, ""
    for end in _END.finditer(text):
        runner = end.lastgroup or ""
        if not (ended == runner == "ava" and end.start() == start):  # ava ends with several such lines
            named = _READERS[runner](text[start : end.end()].split("\n"))
            count = _COUNT.search(end[runner])
            yield None if count and int(count[0]) > len(named) else named
        start, ended = end.end() + 1, runner


_UNITTEST_NAME = re.compile(r"\s*(\S+) \(([\w.<>]+)\)(?: [\[(].*)?")
_UNITTEST_STATUS = re.compile(r"(?:ok|expected failure|(FAIL|ERROR|unexpected success)|(skipped) .*)$")
_UNITTEST_DETAIL = re.compile(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)")
_FIXTURES = frozenset({"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})


def _unittest(block: Sequence[str]) -> Named:
    """Read `test_x (module.Class.test_x) ... ok`; the first line of a docstring, and what the test printed, may be in between."""
    tests: Tests = {}
    running = described = None
    for line in block:
        *before, last = line.split(" ... ")
        for part in before:
            running = _unittest_id(part) or described or running
            described = None
            if running:
                tests.setdefault(running, "failed")  # until it says how it ended
        status = _UNITTEST_STATUS.search(last)
        detail = _UNITTEST_DETAIL.match(line)
        if detail and (test := _unittest_id(detail[1])):
            tests[test] = "failed"
        elif status and running:
            tests[running] = "failed" if status[1] else "skipped" if status[2] else "passed"
        elif line.startswith(("=====", "-----")):
            running = None
        else:
            described = _unittest_id(line)
    return list(tests.items())


def _unittest_id(text: str) -> str | None:
    found = _UNITTEST_NAME.fullmatch(text)
    if found is None:
        return None
    name, place = found[1], found[2]
    if name in _FIXTURES:
        return place
    if place.startswith("unittest.loader."):
        return name  # a module that could not be loaded
    return place if place.endswith(f".{name}") else f"{place}.{name}"


_GO = re.compile(r"(?:=== RUN   |--- (PASS|FAIL|SKIP): )(\S+)")
_GO_STATUS: dict[str | None, Status] = {"PASS": "passed", "SKIP": "skipped", "FAIL": "failed"}


def _go(block: Sequence[str]) -> Named:
    """Read a package up to its last line, which names it."""
    word, package = block[-1].split()[:2]
    tests: Tests = {}
    started: dict[str, None] = {}
    for line in block:
        if event := _GO.search(line):
            test = f"{package}/{event[2]}"
            started[test] = None
            if event[1]:
                worst(tests, test, _GO_STATUS[event[1]])
    named: Named = [(test, tests.get(test, "failed")) for test in started]
    if word == "FAIL" and "failed" not in dict(named).values():
        named.append((package, "failed"))  # it was not built, or ended outside of its tests
    elif not named and "[no tests to run]" not in block[-1]:
        named.append((package, "passed"))
    return named


_CARGO_TARGET = re.compile(
    r" +(?:Running (?:unittests )?(\S+)(?: \((?:\S*/)?([\w-]+?)(?:-[0-9a-f]{16})?\))?$|(Doc-tests \S+))"
)
_CARGO_TEST = re.compile(r"test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")


def _cargo(block: Sequence[str]) -> Named:
    """Read one target; its name stands before those of its tests, since several targets have the same modules."""
    named: Named = []
    target = ""
    for line in block:
        if heading := _CARGO_TARGET.match(line):
            target = heading[3] or "/".join(filter(None, (heading[2], heading[1])))
        elif test := _CARGO_TEST.match(line):
            status: Status = "passed" if test[2] == "ok" else "failed" if test[2] == "FAILED" else "skipped"
            named.append((f"{target}::{test[1]}" if target else test[1], status))
    return named


_READERS: dict[str, Callable[[Sequence[str]], Named]] = {
    "unittest": _unittest, "cargo": _cargo, "go": _go, "jest": outlines.jest, "vitest": outlines.vitest,
    "mocha": outlines.mocha, "node": outlines.node, "ava": outlines.ava,
}  # fmt: skip
