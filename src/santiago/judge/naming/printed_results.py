"""Reading the result of each test, or the number of tests, from a check's reports and from its output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.judge.naming import junit, outlines
from santiago.judge.naming.named_tests import Named, Status, Tests, numbered, worst

_ESCAPES = pattern(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[@-_])")
_EMPTY_LINES = pattern(r"\n{3,}")
_CUT = pattern(r"([^\n]{2000})[^\n]++")
"""What is too long of a line to be looked at. No list of lines is made, since an output may have millions."""
_CAPTURED = pattern(
    r"^-+ Captured (?:stdout|stderr|log) \w+ -+\n(?:(?!_{3,} .* _{3,}$|=+ short test summary info =+$).*\n)*",
    re.MULTILINE,
)
"""The part where pytest shows a failed test's own output. Test names in it are not those of the check."""
_PYTEST = pattern(
    r"^(?:(?P<starts>=+ test session starts =+$|(?:\S+\.py )?[.FEsxXR]++(?: +\[ *\d{1,3}%\])?$)|(?P<ended>(?:=+ )?\d{1,9}"
    r" (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.{0,200} in \d[\d.]*s\b))",
    re.MULTILINE,
)


def named(output: str, reports: Path, folder: Path, since_ns: int) -> Tests | None:
    """Return the result of each test of a command that ran in a checkout.

    None if no runner named its tests, or if one of them did not name all: the others would look as if they were gone.
    """
    text = _CAPTURED.sub("", plain(output))
    written = junit.read(reports, folder, since_ns)
    shown = [*_runs(text), *outlines.tap(text)]
    if None in shown or _pytest_runs(text) > len(written):
        return None
    every = (*written, *(numbered(run) for run in shown if run))
    return worst(one for run in every for one in run.items()) or None


def plain(output: str) -> str:
    """Return output without terminal escapes, with long lines cut and at most one empty line in a row."""
    text = _ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n")
    return _CUT.sub(r"\1", _EMPTY_LINES.sub("\n\n", text))


def _pytest_runs(text: str) -> int:
    """Return how often pytest ran. Of two final lines without a first line between them, the second belongs to an outer run."""
    runs, started = 0, True
    for line in _PYTEST.finditer(text):
        runs += started and line.lastgroup == "ended"
        started = line.lastgroup == "starts"
    return runs


_AVA = r"  \d{1,9} (?:tests?|known failures?|uncaught exceptions?|unhandled rejections?)\b.*"
_END = pattern(
    r"^(?:(?P<unittest>Ran \d{1,9} tests? in )|(?P<cargo>test result: \w+\. \d{1,9} passed;)|(?P<go>(?:ok  |FAIL)\t\S)"
    r"|(?P<jest>Test Suites: )|(?P<vitest> {1,4}Test Files  )|(?P<mocha>  \d{1,9} passing )|(?P<node>ℹ tests \d{1,9}$)"
    rf"|(?P<ava>{_AVA}(?:\n{_AVA})*)).*$",
    re.MULTILINE,
)
_COUNT = pattern(r"\d{1,9}")


def _runs(text: str) -> Iterator[Named | None]:
    """Yield the tests of each run that ends with a runner's known last line; None if it counted more tests than it named."""
    start = 0
    for end in _END.finditer(text):
        runner = end.lastgroup or ""
        named = _READERS[runner](text[start : end.end()])
        count = _COUNT.search(end[runner])
        yield None if count and int(count[0]) > len(named) else named
        start = end.end() + 1


_UNITTEST_NAME = pattern(r"\s*(\S+) \(([\w.<>]+)\)(?: [\[(].*)?")
_UNITTEST_STATUS = pattern(r"(?:ok|expected failure|(FAIL|ERROR|unexpected success)|(skipped) .*)$")
_UNITTEST_DETAIL = pattern(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)")
_NO_MODULE = pattern(r"ModuleNotFoundError: No module named '([\w.]{1,200})'")
_FIXTURES = frozenset({"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})


def _unittest(text: str) -> Named:
    """Read `test_x (module.Class.test_x) ... ok`. A docstring's first line and the test's output may be in between."""
    tests: Tests = {}
    running = described = None
    for line in text.split("\n"):
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
    # A missing module is not a failing test, since a story may still have to make it. It counts only if other tests ran.
    gone = {name.rpartition(".")[2] for name in _NO_MODULE.findall(text)} if "_FailedTest" in text else set()
    return [] if tests.keys() <= gone else list(tests.items())


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


_STATUS: dict[str | None, Status] = {
    **dict.fromkeys(("PASS", "ok"), "passed"), **dict.fromkeys(("FAIL", "FAILED"), "failed"), **dict.fromkeys(("SKIP", "ignored"), "skipped"),
}  # fmt: skip
_GO_EVENT = pattern(r"(?:=== RUN   |--- (PASS|FAIL|SKIP): )(\S+)")


def _go(text: str) -> Named:
    """Read the tests of one package. Its last line names the package."""
    last = text.rpartition("\n")[2]
    word, package = last.split()[:2]
    events = [(f"{package}/{event[2]}", event[1]) for event in _GO_EVENT.finditer(text)]
    ended = worst((test, _STATUS[how]) for test, how in events if how)
    named: Named = [(test, ended.get(test, "failed")) for test in dict(events)]
    if word == "FAIL" and "failed" not in dict(named).values():
        named.append((package, "failed"))  # the package did not compile, or failed outside of its tests
    elif not named and "[no tests to run]" not in last:
        named.append((package, "passed"))
    return named


_CARGO_LINE = pattern(
    r"^(?: +Running (?:unittests )?(?P<file>\S+)(?: \((?:\S*/)?(?P<crate>[\w-]+?)(?:-[0-9a-f]{16})?\))?$| +(?P<docs>Doc-tests \S+)"
    r"|test (?P<test>\S.*?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored)\b)",
    re.MULTILINE,
)


def _cargo(text: str) -> Named:
    """Read one target. Its name is put before its tests, since several targets can have the same modules."""
    named: Named = []
    target = ""
    for line in _CARGO_LINE.finditer(text):
        if line["test"]:
            named.append((f"{target}::{line['test']}" if target else line["test"], _STATUS[line["how"]]))
        else:
            target = line["docs"] or "/".join(filter(None, (line["crate"], line["file"])))
    return named


_READERS: dict[str, Callable[[str], Named]] = {
    "unittest": _unittest, "cargo": _cargo, "go": _go, "jest": outlines.jest, "vitest": outlines.vitest,
    "mocha": outlines.mocha, "node": outlines.node, "ava": outlines.ava,
}  # fmt: skip

# How many tests ran and failed, by a runner's own summary, where no test is named. The output comes from the work that is
# judged, so every pattern must take linear time: none crosses line ends, none can match the same characters in two ways, and
# counts have at most nine digits.

_N = r"\d{1,9}"
_SUMMARIES = tuple(
    (word, pattern(summary.replace("{", r"(?P<").replace("}", rf">{_N})"), re.MULTILINE))
    for word, summary in (
        (
            " in ",
            r"^(?:=+ )?(?=\d)(?:{failed} failed(?:, )?)?(?:{passed} passed(?:, )?)?(?:\d+ (?:skip|desel|x|warn)\w+(?:, )?)*(?:{errors} errors?)? in \d",
        ),
        (
            "Ran ",
            r"^Ran {ran} tests? in [^\n]*(?:\n\n?(?:OK|FAILED) \((?:failures={failed})?(?:, )?(?:errors={errors})?(?:, )?(?:skipped={idle})?)?",
        ),
        ("test result: ", r"^test result: \w+\. {passed} passed; {failed} failed;"),
        (
            "Summary [",
            r"^[ \t]*Summary \[[^\]\n]*\] {ran} tests? run: \d+ passed(?: \([^)\n]*\))?(?:, {failed} failed)?",
        ),
        (" total", r"^Tests:[ \t]+(?:{failed} failed, )?(?:\d+ skipped, )?(?:{passed} passed, )?\d+ total"),
        ("Tests  ", r"^[ \t]*Tests  (?:{failed} failed \| )?{passed} passed"),
        (" passing", r"^[ \t]*{passed} passing\b"),
        (" failing", r"^[ \t]*{failed} failing\b"),
        (" pass ", r"^(?:#|ℹ) pass {passed}$"),
        (" fail ", r"^(?:#|ℹ) fail {failed}$"),
        (" example", r"^{ran} examples?, {failed} failures?(?:, {idle} pending)?"),
        ("OK (", r"^OK \({ran} tests?,"),
        (
            ", Assertions: ",
            r"^Tests: {ran}, Assertions: \d+(?:, Errors: {errors})?(?:, Failures: {failed})?(?:, Skipped: {idle})?",
        ),
        ("% tests passed, ", r"^\d+% tests passed, {failed} tests? failed out of {ran}"),
        ("- Failed:", r"(?:Passed|Failed|Skipped)![ \t]+- Failed:[ \t]+{failed}, Passed:[ \t]+{passed}"),
        ("Test summary: ", r"^Test summary: total: {ran}, failed: {failed}, succeeded: \d+, skipped: {idle}"),
        (
            "Total tests: ",
            r"^Total tests: {ran}(?:\n[ \t]+Passed: \d+)?(?:\n[ \t]+Failed: {failed})?(?:\n[ \t]+Skipped: {idle})?",
        ),
        (
            "Tests run: ",
            r"^(?:\[\w+\] )?Tests run: {ran}, Failures: {failed}, Errors: {errors}, Skipped: {idle}[ \t]*$",
        ),
        (" completed", r"^{ran} tests? completed(?:, {failed} failed)?(?:, {idle} skipped)?"),
        ("Files=", r"^Files=\d+, Tests={ran},"),
        (" item", r"^{ran} tests? in \d+ items?\."),
    )
)
"""A word that each summary holds, and the summary. Finding the word first is many times faster in a long output."""
_NONE_RAN = pattern(
    r"no tests ran|no test files|No tests? (?:files? )?(?:found|executed|were found|to run)|\d tests? collected in"
)


class Tally(NamedTuple):
    ran: int
    """Counts of tests that really ran. Skipped and merely collected tests do not count."""
    failed: int


def tally(output: str) -> Tally | None:
    """Return the sum of all summaries in an output; None if there is no summary."""
    text = plain(output)
    found = [_counted(match) for word, summary in _SUMMARIES if word in text for match in summary.finditer(text)]
    if not found:
        return Tally(0, 0) if _NONE_RAN.search(text) else None
    return Tally(sum(one.ran for one in found), sum(one.failed for one in found))


def _counted(match: re.Match[str]) -> Tally:
    counts = {name: int(number or 0) for name, number in match.groupdict().items()}
    failed = counts.get("failed", 0) + counts.get("errors", 0)
    ran = counts["ran"] - counts.get("idle", 0) if "ran" in counts else counts.get("passed", 0) + failed
    return Tally(max(ran, failed), failed)
