"""Test names in indented outlines: of JavaScript's runners, and in the Test Anything Protocol of many others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from santiago.contract.lazy_regex import pattern
from santiago.judge.naming.named_tests import INSIDE, Named, Status, worst

_STATUS: dict[str | None, Status] = {
    **dict.fromkeys("✓✔√", "passed"), **dict.fromkeys("✕✖✘×✗❯", "failed"), **dict.fromkeys("○✎﹣⚠↓-", "skipped"),
}  # fmt: skip
_DURATION = r"(?: \(\d[\d.]* ?m?s\))?"


def outline(lines: Iterable[re.Match[str]]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each `suite` and `test` with its path, by indentation: a line ends all suites that are not less indented."""
    above: list[tuple[int, str]] = []
    for line in lines:
        indent = len(line["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        names = [*(name for _, name in above), line["suite"] or line["test"]]
        if line["suite"]:
            above.append((indent, line["suite"]))
        yield INSIDE.join(names), line


_JEST_FILE = pattern(
    rf"^(PASS|FAIL) +(?:\./)?(?P<file>\S.*?){_DURATION}$(?P<below>(?:\n(?! *$|PASS |FAIL ).*)*)", re.MULTILINE
)
_JEST_LINE = pattern(
    rf"^(?P<indent> +)(?:(?P<mark>[✓✕○✎√×]) (?:skipped |todo )?(?P<test>.+?){_DURATION}|(?P<suite>\S.*))$",
    re.MULTILINE,
)


def jest(text: str) -> Named:
    """Read the outline below `PASS path`. If a file has no tests or failed outside of them, the file is named instead."""
    named: Named = []
    first, *_ = text.split("\nSummary of all failing tests")  # the failing tests are repeated there
    for file in _JEST_FILE.finditer(first):
        lines = outline(_JEST_LINE.finditer(file["below"]))
        tests: Named = [
            (f"{file['file']}{INSIDE}{path}", _STATUS[line["mark"]]) for path, line in lines if line["test"]
        ]
        if not tests or (file[1] == "FAIL" and "failed" not in dict(tests).values()):
            tests.append((file["file"], "failed" if file[1] == "FAIL" else "passed"))
        named += tests
    return named


_VITEST_LINE = pattern(
    r"^ (?:FAIL  (?P<broken>\S+) \[ |(?P<mark>[✓✗×❯↓]) (?:(?P<file>\S.*?) {1,3}\(\d{1,9} tests?\b(?P<counts>[^()\n]*)\)"
    r"|(?P<test>\S.* > .*?)(?: \[(?:skipped|todo)\]| \((?:retry|repeat) x\d+\)| \d[\d.]*m?s)*$))",
    re.MULTILINE,
)


def vitest(text: str) -> Named:
    """Read `✓ path > test`, or else files: vitest shows the tests of a file only if one of them failed."""
    files: Named = []
    named: Named = []
    for line in _VITEST_LINE.finditer(text):
        if line["test"]:
            named.append((line["test"], _STATUS[line["mark"]]))
        elif line["broken"] or "failed" in line["counts"]:
            files.append((line["broken"] or line["file"], "failed"))
        else:
            files.append((line["file"], _STATUS[line["mark"]]))
    return [*named, *worst(files).items()]


_MOCHA_LINE = pattern(
    rf"^(?P<indent> {{2,}})(?:(?:(?P<mark>[✓✔√-])|\d{{1,9}}\)) (?P<test>.+?){_DURATION}|(?P<suite>\S.*))$", re.MULTILINE
)
_MOCHA_HOOK = pattern(r'"(?:before|after) (?:all|each)" hook.* for "(.*)"$')


def mocha(text: str) -> Named:
    """Read the outline of the spec reporter. A failed hook counts as a failure of the test that it ran for."""
    tests = [(path, line["mark"] or "✖") for path, line in outline(_MOCHA_LINE.finditer(text)) if line["test"]]
    broken = {_MOCHA_HOOK.sub(r"\1", path): None for path, _ in tests if _MOCHA_HOOK.search(path)}
    others = [(path, _STATUS[mark]) for path, mark in tests if path not in broken and not _MOCHA_HOOK.search(path)]
    return [*others, *((test, "failed") for test in broken)]


_NODE_LINE = pattern(
    r"^(?P<indent> *)(?:▶ (?P<suite>.+)|(?P<mark>[✔✖﹣⚠]) (?P<test>.*) \(\d[\d.]*ms\)(?P<why> # .*)?)$", re.MULTILINE
)


def node(text: str) -> Named:
    """Read the outline of `node --test`, in which a suite has a line of its own when it ends."""
    lines = outline(_NODE_LINE.finditer(text))
    return [(path, "skipped" if line["why"] else _STATUS[line["mark"]]) for path, line in lines if line["mark"]]


_AVA_LINE = pattern(
    r"^  (?P<mark>[✔✘✖-])(?P<told> \[(?:fail|skip|todo|expected fail|unexpected pass)\]:?)? (?P<test>\S.*)$",
    re.MULTILINE,
)
_AVA_FILE = pattern(r"(?:No tests found in )?(\S+\.\w+)(?:$|,| exited )")


def ava(text: str) -> Named:
    """Read `✔ title` and `✘ [fail]: title message`. Only the details further below tell where a title ends."""
    listed, _, details = text.partition("\n  ─\n")
    titles = {line[2:] for line in details.split("\n")}
    named: Named = []
    for line in _AVA_LINE.finditer(listed):
        status = _STATUS[line["mark"]]
        file = _AVA_FILE.match(line["test"]) if status == "failed" and not line["told"] else None
        title = _title(line["test"], titles) if status == "failed" else re.sub(f"{_DURATION}$", "", line["test"])
        named.append((file[1] if file else title, status))
    return named


def _title(text: str, titles: set[str]) -> str:
    ends = (place for place in range(len(text), 0, -1) if text[place : place + 1] in {"", " "})
    return next((text[:end] for end in ends if text[:end] in titles), text)


_TAP_STREAM = pattern(r"^(?=TAP version \d+$)", re.MULTILINE)
_TAP_DETAILS = pattern(r"^( +)--- *\n(?:(?!\1\.\.\. *$)(?:\1.*| *)\n)*(?:\1\.\.\. *\n)?", re.MULTILINE)
_TAP_LINE = pattern(
    r"^(?P<indent> *+)(?:# Subtest: (?P<suite>.+)|# (?P<comment>.*)|(?P<plan>1\.\.\d+)"
    r"|(?P<failed>not )?ok \d+(?P<dash> -)?(?: +|$)(?P<test>.*)$)",
    re.MULTILINE,
)
_TAP_DIRECTIVE = pattern(r"(?<!\\)#\s*(?:(skip|todo)|time=)", re.IGNORECASE)
_TAPE_MARK = pattern(r"(?:SKIP|TODO) ")


def tap(text: str) -> list[Named]:
    """Return the tests that each stream of results named."""
    return [_tap_stream(stream) for stream in _TAP_STREAM.split(text)]


def _tap_stream(stream: str) -> Named:
    versioned = stream.startswith("TAP version ")
    lines = list(_TAP_LINE.finditer(_TAP_DETAILS.sub("", stream)))
    kinds = [line.lastgroup for line in lines]
    if "test" not in kinds or not (versioned or "plan" in kinds):
        return []
    if "suite" in kinds:
        return _tap_nested(line for line in lines if line.lastgroup in {"suite", "test"})
    if versioned and kinds[0] == "comment" and not lines[kinds.index("test")]["dash"]:
        return _tape(lines)
    return [_tap_result(line, line["test"]) for line in lines if line.lastgroup == "test" and not line["indent"]]


def _tap_result(line: re.Match[str], text: str) -> tuple[str, Status]:
    name, *directive = _TAP_DIRECTIVE.split(text, maxsplit=1)
    status: Status = "skipped" if any(directive[:1]) else "failed" if line["failed"] else "passed"
    return name.strip().replace("\\#", "#").replace("\\\\", "\\"), status


def _tap_nested(lines: Iterable[re.Match[str]]) -> Named:
    """Read subtests. Other results are single assertions inside them and do not count, unless they were skipped."""
    named: Named = []
    subtests = set()
    for path, line in outline(lines):
        test, status = _tap_result(line, path)
        if line["suite"]:
            subtests.add(test)
        elif status == "skipped" or test in subtests:
            named.append((test, status))
    return named


def _tape(lines: Iterable[re.Match[str]]) -> Named:
    """Read tape's tests, which are comments. A test failed if an assertion below it failed, or if the output ends there."""
    named: Named = []
    for line in lines:
        if line.lastgroup == "plan":
            return named  # what follows is the summary
        if line.lastgroup == "comment":
            name = line["comment"].strip()
            named.append((_TAPE_MARK.sub("", name, count=1), "skipped" if _TAPE_MARK.match(name) else "passed"))
        elif named and _tap_result(line, line["test"])[1] == "failed":
            named[-1] = (named[-1][0], "failed")
    return [*named[:-1], *((test, "failed") for test, _ in named[-1:])]
