"""What a check showed on one tree, and how it compares with another tree. It goes test by test if the runner names them.

A test's id may differ from run to run (it may hold a time or a random number), and people move tests to another class or
file. So a missing test is looked for by its name: if as many cases of that name pass as before, none of them counts as gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property

from santiago.contract import complaints
from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import CheckResult, CheckVerdict
from santiago.contract.record import lean
from santiago.judge.naming.named_tests import INSIDE, Tests, function_of, name_of

_VARIES = pattern(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?|0x[0-9a-fA-F]{6,}|\d+\.\d{6,}(?:e[+-]?\d+)?|(?<![\d.])\d{10,}"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
)
"""Matches what a test puts into its own name anew in each run: a time, an address, a long random number, a UUID."""
_LONE_FILE = pattern(r"^[^\s:>]{1,500}\.[cm]?[jt]s$")
WHOLE = ""
"""An id that stands for the command as a whole, among the ids of tests."""


@lean(frozen=True, slots=False)
class Shown:
    result: CheckResult
    tests: Tests | None = None
    """None if the runner does not name its tests. Then the command is compared as a whole."""
    note: str = ""
    """Why its tests are not known, if people can do something about it."""

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
        """The tests that pass, in order; or the whole command if its tests are not named."""
        found = dict.fromkeys(test for test, status in (self.tests or {}).items() if status == "passed")
        return found if found or not self.is_green else {WHOLE: None}

    @cached_property
    def failing(self) -> dict[str, None]:
        """The tests that fail, in order; or the whole command if no test explains its exit code."""
        found = dict.fromkeys(test for test, status in (self.tests or {}).items() if status == "failed")
        return found if found or self.is_green else {WHOLE: None}

    def names(self, tests: Iterable[str]) -> tuple[str, ...]:
        """Return the names of tests for people; the command stands for itself as a whole."""
        return tuple(test or f"`{self.command}`" for test in tests)


def lost(before: Shown, after: Shown) -> list[str]:
    """Return the tests that passed before and no longer pass, and new failures. A file that does not compile is one of these."""
    ran = after.tests or {}
    found = [test for test in before.passing if test not in after.passing and test != WHOLE]
    found = _without_standing(found, before, after)
    new = [test for test in after.failing if test not in before.failing and test not in found and test != WHOLE]
    told = [test for test in found if test in ran] + [test for test in new if not _is_case_of(test, before.failing)]
    if any(ran.get(test) == "failed" for test in told):
        return told
    unrun = [test for test in found if test not in ran]
    fails = WHOLE in after.failing and (before.is_green or unrun) and not fails_alike(before, after)
    return [*told, WHOLE] if fails else told + unrun


def sees(before: Shown, spoiled: Shown) -> bool:
    """Tell whether anything that passed on the whole tree fails on the spoiled one."""
    return bool(lost(before, spoiled)) or before.is_green != spoiled.is_green


def vanished(before: Shown, after: Shown) -> list[str]:
    """Return the tests that passed before and no longer run, or are skipped now."""
    if before.tests is None or (after.tests is None and not after.is_green):
        then, left = before.result.checks or 0, after.result.checks
        fewer = then - left if left is not None else 0
        return [f"{fewer} of {count(then, 'test')} of `{before.command}`"] if fewer > 0 else []
    now = {WHOLE: "passed", **(after.tests or {})}  # a command as a whole does not vanish
    gone = [test for test in before.passing if now.get(test, "skipped") == "skipped"]
    return _without_standing(gone, before, after)


def unanswered(before: Shown, after: Shown) -> list[str]:
    """Return the tests that failed before and no longer run, or are skipped now, while fewer cases of their name run."""
    then, now = (Counter(map(_lasting_name, (*one.passing, *one.failing))) for one in (before, after))
    ran = (after.passing, after.failing, (WHOLE,))
    gone = [test for test in before.failing if not any(test in some for some in ran) and not passes(test, after)]
    return [test for test in gone if now[_lasting_name(test)] < then[_lasting_name(test)]]


def passes(test: str, shown: Shown) -> bool:
    """Tell whether a test passes. A file that could not be loaded before passes if its tests run and none of them fails."""
    if test == WHOLE:
        return shown.is_green
    if test in (shown.tests or {}):
        return test in shown.passing
    # Ids inside another one go on with one of these signs, so that `sum of two` is not inside `sum`.
    inside = tuple(test + sign for sign in ("::", INSIDE, ".", "/"))
    within = [one for one in shown.tests or () if one.startswith(inside) or f".{test}." in one]
    if not within and _LONE_FILE.search(test):
        return shown.is_green  # node names a file only where it cannot be loaded, and never beside its tests
    return any(one in shown.passing for one in within) and not any(one in shown.failing for one in within)


def fails_alike(before: Shown, after: Shown) -> bool:
    """Tell whether a check fails as before: by the same tests, or as a whole with the same errors."""
    if before.is_green or after.is_green or before.result.timed_out or after.result.timed_out:
        return False
    if before.result.cause != after.result.cause:
        return False
    if WHOLE in after.failing:
        return WHOLE in before.failing and ends_alike(before, after)
    return all(test in before.failing or _is_case_of(test, before.failing) for test in after.failing)


def ends_alike(before: Shown, after: Shown) -> bool:
    """Tell whether two runs ended with the same exit code, and the second says nothing else that is wrong.

    Lines with the name of a test do not count: the tests are compared one by one.
    """
    if before.result.exit_code != after.result.exit_code:
        return False
    names = {name_of(test) for shown in (before, after) for test in shown.tests or ()} - {""}
    tests = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)") if names else None
    return not complaints.new(before.output, after.output, without=tests)


def lacks_coverage(shown: Shown) -> bool:
    """Tell whether a check fails only because its tests cover too little. Old tests alone cannot cover new work."""
    return bool(shown.tests) and WHOLE in shown.failing and complaints.UNCOVERED.search(shown.output) is not None


def of_files(shown: Shown, files: Iterable[str]) -> Shown:
    """Return it without tests that are files which a tree does not have. Such a file has no tests: the check failed."""
    lone = [test for test in shown.failing if _LONE_FILE.search(test)]
    gone = [test for test in lone if not any(f"/{path}".endswith(f"/{test}") for path in files)]
    left = {test: how for test, how in (shown.tests or {}).items() if test not in gone}
    return replace(shown, tests=left) if gone else shown


def fallen(before: Shown, after: Shown) -> list[str]:
    """Return the tests that passed before and fail now."""
    return [test for test in after.failing if test in before.passing and test != WHOLE]


def retried(first: Shown, again: Shown, tests: Collection[str]) -> Shown:
    """Return what a second run showed of these tests. For all others the first run counts, if there was one."""
    if first.result.verdict is CheckVerdict.NOT_RUN or not tests:
        return again if first.result.verdict is CheckVerdict.NOT_RUN else first
    left = [test for test in first.failing if test not in tests]
    return replace(first if left else again, tests={**(again.tests or {}), **dict.fromkeys(left, "failed")})


def _without_standing(tests: list[str], before: Shown, after: Shown) -> list[str]:
    """Return the tests without those of which as many cases with the same name pass as before."""
    if not tests:
        return []
    then, now = (Counter(map(_lasting_name, shown.passing)) for shown in (before, after))
    known, names = after.tests or {}, {test: _lasting_name(test) for test in tests}
    return [test for test, name in names.items() if known.get(test) == "failed" or now[name] < max(1, then[name])]


def _is_case_of(test: str, others: Iterable[str]) -> bool:
    function = _lasting(function_of(test))
    return function != test and any(_lasting(function_of(other)) == function for other in others)


def _lasting_name(test: str) -> str:
    return _lasting(name_of(test))


def _lasting(name: str) -> str:
    """Return a name without what differs from run to run."""
    return _VARIES.sub("#", name)
