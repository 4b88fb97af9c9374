"""What a check showed on one tree, test by test where its runner names them, and what became of it on another one.

An id may differ from run to run (a clock among its parameters), and people move tests to another class or file. So a test
that is missing is held against its name: where as many cases of that name pass as before, none of them is gone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from santiago.contract.counting import count
from santiago.contract.outcomes import CheckVerdict
from santiago.contract.patterns import pattern
from santiago.judge.naming import INSIDE, function_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.contract.outcomes import CheckResult
    from santiago.judge.naming import Tests

_VARIES = pattern(r"(?:/[\w.@+~-]+)+/|0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*")
_LONE_FILE = pattern(r"^[^\s:>]{1,500}\.[cm]?[jt]s$")
_LAST = 20
WHOLE = ""
"""Stands for the command as a whole, among the ids of tests."""


@dataclass(frozen=True)
class Shown:
    result: CheckResult
    tests: Tests | None = None
    """None where the runner does not name its tests: then the command is compared as a whole."""
    note: str = ""
    """Why its tests are not known, where people can do something about it."""

    @property
    def command(self) -> str:
        return self.result.command

    @property
    def output(self) -> str:
        return f"{self.result.output.head}\n{self.result.output.tail}"

    @property
    def is_green(self) -> bool:
        return self.result.verdict is CheckVerdict.PASS

    @cached_property
    def passing(self) -> dict[str, None]:
        """The tests that pass, in order; the command as a whole where that is all that is known."""
        found = dict.fromkeys(test for test, status in (self.tests or {}).items() if status == "passed")
        return found if found or not self.is_green else {WHOLE: None}

    @cached_property
    def failing(self) -> dict[str, None]:
        """The tests that fail, in order; the command as a whole where no test explains its exit code."""
        found = dict.fromkeys(test for test, status in (self.tests or {}).items() if status == "failed")
        return found if found or self.is_green else {WHOLE: None}

    def names(self, tests: Iterable[str]) -> tuple[str, ...]:
        """Return tests as people know them."""
        return tuple(test or f"`{self.command}`" for test in tests)


def lost(before: Shown, after: Shown) -> list[str]:
    """Return the tests that passed and do not pass any more, and failures that are new."""
    found = [test for test in before.passing if test not in after.passing and test != WHOLE]
    found = _without_standing(found, before, after)
    new = [test for test in after.failing if test not in before.failing and test not in found and test != WHOLE]
    explained = found + [test for test in new if not _is_case_of(test, before.failing)]
    if explained or after.is_green or not before.is_green:
        return explained
    return [WHOLE]


def sees(before: Shown, spoiled: Shown) -> bool:
    """Whether anything that passed on the whole tree does not pass on the spoiled one."""
    return bool(lost(before, spoiled)) or before.is_green != spoiled.is_green


def vanished(before: Shown, after: Shown) -> list[str]:
    """Return the tests that passed and are not run any more, or are skipped anew."""
    if before.tests is None or (after.tests is None and not after.is_green):
        fewer = (before.result.checks or 0) - (after.result.checks or 0) if after.result.checks is not None else 0
        return [f"{fewer} of {count(before.result.checks or 0, 'test')} of `{before.command}`"] if fewer > 0 else []
    now = after.tests or {}
    gone = [test for test in before.passing if now.get(test, "skipped") == "skipped" and test != WHOLE]
    return _without_standing(gone, before, after)


def passes(test: str, shown: Shown) -> bool:
    """Whether a test passes; a file that could not be loaded passes where its tests run and none of them fails."""
    if test == WHOLE:
        return shown.is_green
    if test in (shown.tests or {}):
        return test in shown.passing
    # What stands inside of an id goes on with one of these; `sum` says nothing of `sum of two`.
    inside = tuple(test + sign for sign in ("::", INSIDE, ".", "/"))
    within = [one for one in shown.tests or () if one.startswith(inside) or f".{test}." in one]
    if not within and _LONE_FILE.search(test):
        return shown.is_green  # node names a file only where it cannot be loaded, and never beside its tests
    return any(one in shown.passing for one in within) and not any(one in shown.failing for one in within)


def fails_alike(before: Shown, after: Shown) -> bool:
    """Whether a check fails as it failed before: by the same tests, or as a whole with the same last words."""
    if before.is_green or after.is_green or before.result.timed_out or after.result.timed_out:
        return False
    if before.result.cause != after.result.cause:
        return False
    if WHOLE in after.failing:
        return WHOLE in before.failing and ends_alike(before, after)
    return all(test in before.failing or _is_case_of(test, before.failing) for test in after.failing)


def ends_alike(before: Shown, after: Shown) -> bool:
    """Whether two runs ended with the same exit code and, but for what always varies, the same last words."""
    same_code = before.result.exit_code == after.result.exit_code
    return same_code and _last_lines(before.result) == _last_lines(after.result)


def _without_standing(tests: list[str], before: Shown, after: Shown) -> list[str]:
    """Leave out tests of whose name as many cases pass as before."""
    if not tests:
        return []
    then, now = (Counter(map(name_of, shown.passing)) for shown in (before, after))
    known = after.tests or {}
    return [test for test in tests if known.get(test) == "failed" or now[name_of(test)] < max(1, then[name_of(test)])]


def _is_case_of(test: str, others: Iterable[str]) -> bool:
    function = function_of(test)
    return function != test and any(function_of(other) == function for other in others)


def _last_lines(result: CheckResult) -> list[str]:
    """Return the end of the output without paths, times, addresses and numbers."""
    lines = (result.output.tail or result.output.head).splitlines()
    return [_VARIES.sub("#", line.strip()) for line in lines[-_LAST:]]
