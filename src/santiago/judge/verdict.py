"""The verdict: what a story's checks showed on up to four trees, and what follows from it. Pure.

The base and the work are always looked at. If the work changed tests, there are two more trees: the work with the tests of
the base (`old_tests`: do the old tests still pass?) and the base with the tests of the work (`new_tests`: do the new tests
fail without the work?). So an attempt gains nothing by changing its tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from santiago.contract import complaints
from santiago.contract.codec import canonical, to_data
from santiago.contract.outcomes import CheckResult, CheckVerdict, Proof, Verdict
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.judge.comparison import WHOLE, Shown, fails_alike, lacks_coverage, lost, passes, unanswered, vanished
from santiago.judge.naming.named_tests import Tests, name_of
from santiago.judge.trees import Trees

Fate = Literal["falls", "stays red", "is gone"]
List = Literal["broken", "changed", "eased", "vanished"]
Tells = Callable[[str], bool]
"""Tells something of a test: whether the work changed its text, or whether the story speaks of it, so that it may be wrong."""
MOST_NAMES, MOST_LINES = 200, 40
"""How many tests of one kind a verdict names, and how many new lines of an output."""


@record
class Check:
    """One check of a story, and what it showed on the trees that were looked at."""

    base: Shown
    work: Shown
    old_tests: Shown | None = None
    new_tests: Shown | None = None
    is_own: bool = False
    """The story itself names this check, so its failure always counts against the story."""
    came_with_work: bool = False
    """Its own test file or script is not in the base, so its failure there says nothing."""
    lacks_file: bool = False
    """The same of one of several files: its other tests ran on the base, but its exit code there says nothing."""
    earlier: Shown | None = None
    """What it showed on the base without the story's own tests, if such tests were written first."""

    @property
    def said_no(self) -> bool:
        """Whether the check existed before the work, ran on the base, and failed."""
        result = self.base.result
        there = not self.came_with_work and not result.timed_out and result.cause in ("", "contradicted")
        return there and result.verdict is CheckVerdict.FAIL

    @property
    def passes_now(self) -> bool:
        """Whether it passes on the work, also with the tests as they stood before."""
        return self.work.is_green and (self.old_tests is None or self.old_tests.is_green)


def of_work(checks: Sequence[Check]) -> Verdict:
    """Return what the checks say about the work as the agent left it. Whether that can be believed is decided later."""
    results = tuple(map(_marked, checks))
    reason = _reason(checks, results)
    both = zip(checks, results, strict=True)
    as_before = tuple(name for check, result in both for name in _shared(check, result))[:MOST_NAMES]
    return Verdict(passed=reason is None, proof=None, reason=reason, results=results, as_before=as_before)


def _marked(check: Check) -> CheckResult:
    # Tests that were written for the story are its own, although they fail on the base too.
    if not check.is_own and fails_alike(check.earlier or check.base, check.work):
        return replace(check.work.result, verdict=CheckVerdict.INHERITED)
    if check.work.is_green or check.base.is_green:
        return check.work.result
    return replace(
        check.work.result, new_errors=tuple(complaints.new(check.base.output, check.work.output)[:MOST_LINES])
    )


def _shared(check: Check, result: CheckResult) -> Iterable[str]:
    """Return the failures of a check that the base has too."""
    if result.verdict in (CheckVerdict.PASS, CheckVerdict.NOT_RUN):
        return ()
    both = [test for test in check.work.failing if test in check.base.failing]
    alike = WHOLE not in both or fails_alike(check.base, check.work)
    return check.work.names(both) if alike else ()


def _reason(checks: Sequence[Check], results: Sequence[CheckResult]) -> Reason | None:
    if not results:
        return Reason.NOTHING_VERIFIED
    for check, result in zip(checks, results, strict=True):
        if result.verdict is CheckVerdict.FAIL:
            return _failure(check.base.result, result)
    if any(result.verdict is CheckVerdict.NOT_RUN for result in results):
        return Reason.STORY_VERIFICATION_FAILED
    if all(result.checks == 0 for result in results):
        return Reason.NOTHING_VERIFIED
    return None


def _failure(before: CheckResult, failed: CheckResult) -> Reason:
    if failed.timed_out:
        return Reason.VERIFICATION_TIMEOUT
    if failed.cause == "output_limit":
        return Reason.OUTPUT_LIMIT
    # If a check could start on the base and cannot now, the attempt broke it.
    if failed.cause == "unrunnable" and before.cause == "unrunnable":
        return Reason.VERIFICATION_UNRUNNABLE
    return Reason.STORY_VERIFICATION_FAILED


_LISTS: Mapping[tuple[Fate, bool], List] = {
    ("falls", False): "broken",  # it worked before, and the work breaks it
    ("falls", True): "changed",  # the work changed its text, so what it expects may be meant to be another thing
    ("stays red", False): "eased",  # only the changed judge makes it pass
    ("stays red", True): "changed",  # the story speaks of it, so the test may be what is wrong
    ("is gone", False): "vanished",
}
"""What becomes of a test of the base, with its old text, on work that passes; whether that may be meant → where it is listed."""


def of_old_tests(found: Verdict, checks: Sequence[Check], texts: Trees, speaks_of: Tells = lambda _: False) -> Verdict:
    """Return the verdict with what the tests of the base say about the work, if the work changed any of them."""
    lists: dict[List, list[str]] = defaultdict(list)
    message = ""
    for check in checks:
        for fate, is_meant, test in _fates(check, texts, speaks_of):
            lists[_LISTS[fate, is_meant]] += check.work.names([test])
            if fate == "falls" and test == WHOLE and check.old_tests:
                message = "".join(complaints.new(check.base.output, check.old_tests.output)[:1])
    lists["vanished"] = [test for test in lists["vanished"] if test not in lists["changed"]]
    names: tuple[List, ...] = ("broken", "eased", "changed", "vanished")
    broken, eased, changed, gone = (tuple(lists[name][:MOST_NAMES]) for name in names)
    return replace(found, broken=broken, eased=eased, changed=changed, vanished=gone, message=message)


def _fates(check: Check, texts: Trees, speaks_of: Tells) -> Iterator[tuple[Fate, bool, str]]:
    """Yield what becomes of each test of the base that the work, or its tests, make end in another way."""
    gone = [] if check.came_with_work else _gone(check, texts)
    yield from (("is gone", False, test) for test in gone)
    if check.old_tests is None or check.came_with_work:
        return
    old, own = _without_excused(check, check.old_tests, texts), list[str]()
    if check.earlier is not None:
        # Tests that were written for the story, even if their file could not be loaded on the base.
        own = [test for test in old.failing if test not in (check.earlier.tests or {})]
        yield from (("is gone", False, test) for test in vanished(old, check.work) if test not in gone)
    for test in lost(check.base, old):
        if test not in own:
            yield "falls", texts.text_changed(test), test
    red = [test for test in check.base.failing if test in old.failing] if check.said_no else []
    for test in dict.fromkeys((*red, *own)) if check.said_no else ():
        if test not in check.work.failing and (test != WHOLE or not check.lacks_file):
            yield "stays red", speaks_of(name_of(test)), test


def _without_excused(check: Check, old: Shown, texts: Trees) -> Shown:
    """Return what the old tests showed, as a success if all ran, and only a missing file, coverage or expected failures fail."""
    passed = [test for test in old.failing if passes(test, check.work) and texts.was_to_fail(test)]
    tests: Tests = {**(old.tests or {}), **dict.fromkeys(passed, "passed")}
    if not (passed or check.lacks_file or lacks_coverage(old)) or not check.base.passing.keys() <= tests.keys():
        return old
    return replace(old, tests=tests, result=replace(old.result, verdict=CheckVerdict.PASS))


def _gone(check: Check, texts: Trees) -> list[str]:
    """Return the tests that are gone. A renamed test is not gone if it passes under its new name.

    A test that failed is not gone if its failure kept others from running that run now: it was a hook, or a file.
    """
    found = vanished(check.base, check.work)
    new = [test for test in check.work.passing if test not in (check.base.tests or {}) and test != WHOLE]
    if check.said_no and check.work.tests and not check.earlier and all(map(texts.text_changed, new)):
        found += unanswered(check.base, check.work)
    left = [test for test in found if not texts.renamed(test)]
    return left if len(found) - len(left) <= len(new) else found


def is_proved(checks: Sequence[Check]) -> bool:
    """Tell whether tests that already existed failed before and pass now, unchanged."""
    return any(
        passes(test, check.work) and (check.old_tests is None or passes(test, check.old_tests))
        for check in checks
        if check.said_no
        for test in check.base.failing
    )


def has_own_tests(checks: Sequence[Check], text_changed: Tells) -> bool:
    """Tell whether a new or changed test passes with the work and fails without it."""
    return any(check.new_tests is not None and _fails_without(check, check.new_tests, text_changed) for check in checks)


def strength(checks: Sequence[Check], text_changed: Tells) -> Proof:
    """Return how strongly the work is shown, as far as tests show it."""
    if is_proved(checks):
        return Proof.PROVED
    return Proof.OWN_TESTS if has_own_tests(checks, text_changed) else Proof.REGRESSION


def _fails_without(check: Check, without: Shown, text_changed: Tells) -> bool:
    if without.result.cause == "unrunnable":
        return False
    known, there = check.base.tests or {}, without.tests or {}
    # A test that merely does not run there shows something only where something else fails anew, such as its file.
    fails_anew = WHOLE in without.failing or any(test not in check.base.failing for test in without.failing)

    def fails(test: str) -> bool:
        return there[test] == "failed" if test in there else fails_anew and not passes(test, without)

    own = [test for test in check.work.passing if test == WHOLE or test not in known or text_changed(test)]
    return any(map(fails, own))


def document(found: Verdict, checks: Sequence[Check]) -> bytes:
    """Return the content of `verification.json`: the verdict, each command's result, and a summary of the other trees."""
    trees = {
        "base": [check.base for check in checks],
        "old_tests": [check.old_tests for check in checks if check.old_tests is not None],
        "new_tests": [check.new_tests for check in checks if check.new_tests is not None],
    }
    return canonical(to_data(found) | {name: list(map(_short, every)) for name, every in trees.items()})


def document_of_base(found: Mapping[str, Shown]) -> bytes:
    """Return the record of what checks show on a base, before any work."""
    return canonical({"base": [_short(shown) | {"output": shown.result.output} for shown in found.values()]})


def _short(shown: Shown) -> dict[str, Any]:
    result = shown.result
    return {
        "command": result.command, "exit_code": result.exit_code, "checks": result.checks, "verdict": result.verdict,
        "failing": [test for test in shown.failing if test][:MOST_NAMES], "reused": result.reused,
    }  # fmt: skip
