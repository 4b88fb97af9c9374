"""Reading a test runner's own summary: how many checks ran, how many failed, and which.

The output is written by the work that is judged, so every pattern here takes time in proportion to its length: none runs
on over line ends, none has two ways of taking the same characters, and counts have at most nine digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_LONGEST = 2000
"""Characters of a line that are looked at: no summary is longer."""


@dataclass(frozen=True, slots=True)
class Tally:
    ran: int
    """Checks that were really carried out; skipped, deselected and merely collected ones are not."""
    failed: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.ran + other.ran, self.failed + other.failed)


def plain(text: str) -> str:
    """Return output without terminal escapes and empty lines, and with lines of a bounded length.

    What a carriage return overwrote is kept as a line of its own.
    """
    lines = _ESCAPES.sub("", text).replace("\r", "\n").split("\n")
    return "\n".join(line[:_LONGEST] for line in lines if line and not line.isspace())


def _numbers(text: str) -> dict[str, int]:
    """Return `3 passed, 1 failed` as counts by word."""
    found: dict[str, int] = {}
    for count, word in re.findall(r"\b(\d{1,9}) ([a-z]+)", text):
        found[word] = found.get(word, 0) + int(count)
    return found


_PYTEST_PART = r"\d{1,9} (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)"
_PYTEST_NONE = r"no tests ran|(?:no|\d{1,9}(?:/\d{1,9})?) tests? collected(?: \([^()\n]*\)|, \d{1,9} errors?)*"
_PYTEST = re.compile(
    rf"^(?:=+ )?((?:{_PYTEST_PART})(?:, {_PYTEST_PART})*|{_PYTEST_NONE}) in \d[^=\n]*+=*$", re.MULTILINE
)
_PYTEST_DOTS = re.compile(r"^([.FEsxX]+) *\[ *(\d{1,3})%\]$", re.MULTILINE)


def _pytest(text: str) -> Tally | None:
    lines = [match[1] for match in _PYTEST.finditer(text)]
    if lines:
        counts = [_numbers(line.replace("subtests passed", "subtests")) for line in lines]
        failed = sum(count.get(word, 0) for count in counts for word in ("failed", "error", "errors"))
        return Tally(
            failed + sum(count.get(word, 0) for count in counts for word in ("passed", "xfailed", "xpassed")), failed
        )
    # With -qq there is no summary, only the progress up to its end.
    dots = _PYTEST_DOTS.findall(text)
    if dots and dots[-1][1] == "100":
        marks = "".join(line for line, _ in dots)
        return Tally(sum(mark != "s" for mark in marks), sum(mark in "FE" for mark in marks))
    return None


def _unittest(text: str) -> Tally | None:
    found = re.findall(
        r"^Ran (\d{1,9}) tests? in .*(?:\n(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$)?", text, re.MULTILINE
    )
    if not found:
        return None
    ran = failed = 0
    for count, details in found:
        parts = _named(details, "=")
        ran += int(count) - parts.get("skipped", 0)
        failed += sum(parts.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
    return Tally(max(ran, failed), failed)


def _named(details: str, sign: str) -> dict[str, int]:
    """Return `failures=1, skipped=2` as counts by name."""
    parts = (part.strip(" .").partition(sign) for part in details.split(","))
    counts = {name: number.strip() for name, _, number in parts}
    return {name: int(number) for name, number in counts.items() if re.fullmatch(r"[0-9]{1,9}", number)}


def _go(text: str) -> Tally | None:
    events = re.findall(r'"Action":"(pass|fail)"(?:,"Package":"[^"\n]*")?,"Test":"([^"\n]+)"', text)
    verbose = events or [
        (word.lower(), test) for word, test in re.findall(r"^[ \t]*--- (PASS|FAIL): (\S+)", text, re.MULTILINE)
    ]
    fine = re.findall(r"^ok[ \t]+\S+[ \t]+(.*)$", text, re.MULTILINE)
    passed = [line for line in fine if "[no tests to run]" not in line]
    broken = re.findall(r"^FAIL\t(\S+)", text, re.MULTILINE)
    if not (verbose or broken or fine or "no test files" in text):
        return None
    failed = max(sum(word == "fail" for word, _ in verbose), len(broken))
    # Without -v a package says only that it passed: one check at least.
    good = sum(word == "pass" for word, _ in verbose) or len(passed)
    return Tally(good + failed, failed)


def _cargo(text: str) -> Tally | None:
    found = re.findall(r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed;", text, re.MULTILINE)
    next_runner = re.findall(
        r"^[ \t]*Summary \[[^\]\n]*\][ \t]+(\d{1,9})(?:/\d+)? tests? run: (.*)$", text, re.MULTILINE
    )
    if not found and not next_runner:
        return None
    total = sum((Tally(int(passed) + int(failed), int(failed)) for passed, failed in found), Tally(0, 0))
    return total + sum((Tally(int(ran), _numbers(rest).get("failed", 0)) for ran, rest in next_runner), Tally(0, 0))


def _jest(text: str) -> Tally | None:
    bad = re.search(r'"numFailedTests":[ \t]*(\d{1,9})', text)
    good = re.search(r'"numPassedTests":[ \t]*(\d{1,9})', text)
    if bad and good:
        return Tally(int(bad[1]) + int(good[1]), int(bad[1]))
    lines = [line for line in re.findall(r"^Tests:[ \t]+(\S.*)$", text, re.MULTILINE) if "total" in line]
    if not lines:
        return None
    suites = sum(
        _numbers(line).get("failed", 0) for line in re.findall(r"^Test Suites:[ \t]+(\S.*)$", text, re.MULTILINE)
    )
    failed = sum(_numbers(line).get("failed", 0) for line in lines)
    return Tally(sum(_numbers(line).get("passed", 0) for line in lines) + max(failed, suites), max(failed, suites))


def _vitest(text: str) -> Tally | None:
    lines = re.findall(r"^[ \t]*Tests[ \t]+(no tests|\d+ .*)$", text, re.MULTILINE)
    if not lines:
        return None
    files = sum(
        _numbers(line).get("failed", 0) for line in re.findall(r"^[ \t]*Test Files[ \t]+(\S.*)$", text, re.MULTILINE)
    )
    failed = max(sum(_numbers(line).get("failed", 0) for line in lines), files)
    return Tally(sum(_numbers(line).get("passed", 0) for line in lines) + failed, failed)


def _mocha(text: str) -> Tally | None:
    passing = re.findall(r"^[ \t]*(\d{1,9}) passing\b", text, re.MULTILINE)
    failing = re.findall(r"^[ \t]*(\d{1,9}) failing\b", text, re.MULTILINE)
    if not passing and not failing:
        return _node(text)
    failed = sum(map(int, failing))
    return Tally(sum(map(int, passing)) + failed, failed)


def _node(text: str) -> Tally | None:
    passed = re.findall(r"^(?:#|ℹ) pass (\d{1,9})$", text, re.MULTILINE)
    failed = re.findall(r"^(?:#|ℹ) (?:fail|cancelled) (\d{1,9})$", text, re.MULTILINE)
    if not passed:
        return None
    # A file without any test counts as a passed test of the file's name; where tests are nested below files it is no such.
    nested = re.search(r"^ {4}(?:not )?ok ", text, re.MULTILINE)
    empty = 0 if nested else len(re.findall(r"^(?:ok \d+ - |✔ )\S+\.[cm]?[jt]sx?(?: \(.*\))?$", text, re.MULTILINE))
    return Tally(max(0, sum(map(int, passed)) - empty) + sum(map(int, failed)), sum(map(int, failed)))


def _rspec(text: str) -> Tally | None:
    found = re.findall(
        r"^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred)?",
        text,
        re.MULTILINE,
    )
    if not found:
        return None
    rows = [[int(number or 0) for number in row] for row in found]
    failed = sum(row[1] + row[3] for row in rows)
    return Tally(sum(row[0] - row[2] + row[3] for row in rows), failed)


def _phpunit(text: str) -> Tally | None:
    good = [int(count) for count in re.findall(r"^OK \((\d{1,9}) tests?,", text, re.MULTILINE)]
    lines = re.findall(r"^Tests: (\d{1,9}), Assertions: \d+(.*)$", text, re.MULTILINE)
    pest = [_numbers(line) for line in re.findall(r"^[ \t]+Tests:[ \t]+(\d+ .*)$", text, re.MULTILINE)]
    if not good and not lines and not pest and "No tests executed!" not in text:
        return None
    total = Tally(sum(good), 0)
    for count, rest in lines:
        parts = _named(rest, ":")
        idle = parts.get("Skipped", 0) + parts.get("Incomplete", 0)
        total += Tally(int(count) - idle, parts.get("Failures", 0) + parts.get("Errors", 0))
    return total + sum(
        (Tally(part.get("passed", 0) + part.get("failed", 0), part.get("failed", 0)) for part in pest), Tally(0, 0)
    )


def _ctest(text: str) -> Tally | None:
    found = re.findall(r"^\d+% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})", text, re.MULTILINE)
    if not found:
        return Tally(0, 0) if "No tests were found!!!" in text else None
    return Tally(sum(int(total) for _, total in found), sum(int(failed) for failed, _ in found))


def _dotnet(text: str) -> Tally | None:
    rows = re.findall(r"(?:Passed|Failed|Skipped)![ \t]+- Failed:[ \t]+(\d{1,9}), Passed:[ \t]+(\d{1,9})", text)
    rows += re.findall(r"[Tt]est summary: total: \d+, failed: (\d{1,9}), succeeded: (\d{1,9})", text)
    if not rows:
        total = re.search(r"^Total tests: (\d{1,9})", text, re.MULTILINE)
        if not total:
            return Tally(0, 0) if "No test is available" in text else None
        counts = {
            word: int(number) for word, number in re.findall(r"^[ \t]+(Passed|Failed): (\d{1,9})", text, re.MULTILINE)
        }
        rows = [(str(counts.get("Failed", 0)), str(counts.get("Passed", 0)))]
    return Tally(sum(int(failed) + int(passed) for failed, passed in rows), sum(int(failed) for failed, _ in rows))


def _maven(text: str) -> Tally | None:
    pattern = r"^(?:\[\w+\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})[ \t]*$"
    rows = [tuple(map(int, row)) for row in re.findall(pattern, text, re.MULTILINE)]
    if not rows:
        return Tally(0, 0) if re.search(r"No tests to run|Tests are skipped", text) else None
    return Tally(sum(row[0] - row[3] for row in rows), sum(row[1] + row[2] for row in rows))


def _gradle(text: str) -> Tally | None:
    found = re.findall(
        r"^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?", text, re.MULTILINE
    )
    if not found:
        return None
    rows = [[int(number or 0) for number in row] for row in found]
    return Tally(sum(row[0] - row[2] for row in rows), sum(row[1] for row in rows))


def _prove(text: str) -> Tally | None:
    found = re.findall(r"^Files=\d+, Tests=(\d{1,9}),", text, re.MULTILINE)
    if not found:
        return None
    reported = re.findall(
        r"^\S+[ \t]+\(Wstat: \d+(?: \([^()\n]*\))? Tests: \d+ Failed: (\d{1,9})\)", text, re.MULTILINE
    )
    # A file that died has failed, though none of its tests did.
    failed = max(sum(map(int, reported)), len(re.findall(r"^Result: FAIL", text, re.MULTILINE)))
    return Tally(max(sum(map(int, found)), failed), failed)


def _doctest(text: str) -> Tally | None:
    found = re.findall(r"^(\d{1,9}) tests? in \d+ items?\.", text, re.MULTILINE)
    failed = re.findall(r"^\*\*\*Test Failed\*\*\* (\d{1,9}) failures?", text, re.MULTILINE)
    return Tally(sum(map(int, found)), sum(map(int, failed))) if found else None


READERS: dict[str, Callable[[str], Tally | None]] = {
    "pytest": _pytest, "unittest": _unittest, "go": _go, "cargo": _cargo, "jest": _jest, "vitest": _vitest, "mocha": _mocha,
    "node": _node, "rspec": _rspec, "phpunit": _phpunit, "ctest": _ctest, "dotnet": _dotnet, "maven": _maven, "gradle": _gradle,
    "prove": _prove, "doctest": _doctest,
}  # fmt: skip


def read(runners: Sequence[str], output: str) -> Tally | None:
    """Return what these runners' summaries say together; None where one of them left none."""
    text = plain(output)
    found = [READERS[runner](text) for runner in runners]
    if not found or any(tally is None for tally in found):
        return None
    return sum((tally for tally in found if tally), Tally(0, 0))


def recognise(output: str) -> Tally | None:
    """Return the summary of whatever runner the output shows, where none is known from the command."""
    text = plain(output)
    if not text.strip():
        return None
    found = [tally for reader in READERS.values() if (tally := reader(text)) is not None]
    return max(found, key=lambda tally: (tally.failed, tally.ran)) if found else None
