"""Tests that are written before the work: do they run, and do they fail because the work is missing? Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from santiago.contract.counting import few
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import Verdict
from santiago.contract.reasons import Reason
from santiago.judge.comparison import WHOLE, Shown, lost, vanished
from santiago.judge.missing import Missing, found_no_test
from santiago.judge.naming.named_tests import file_of
from santiago.judge.verdict import MOST_NAMES
from santiago.judge.verdict_messages import listed

Pairs = Sequence[tuple[Shown, Shown]]
"""What each check showed on the base, and on the base with the new tests."""
Lacks = Callable[[Shown], Missing | None]
_WANTING = pattern(
    r"No module named|cannot import name|has no attribute|Cannot find (?:module|package)|does not provide an export|is not exported"
    r"|is not defined|undefined: |cannot find (?:function|value|type|struct|trait|macro|symbol|crate)|unresolved import|could not find `"
    r"|no (?:method|function|field) |uninitialized constant|cannot load such file|Class \S{1,200} not found"
)
"""How compilers and interpreters say that something does not exist yet."""
_UNREADABLE = pattern(r"\b(?:Syntax|Indentation|Tab)Error\b(?!.{0,200}does not provide an export)")


def verdict(pairs: Pairs, files: Collection[str], rewritten: Callable[[str], bool], lacks: Lacks) -> Verdict:
    """Return a pass if at least one new test runs and fails because the work is missing, and no old test is worse off.

    `files` are those of the base with the new tests. `rewritten` tells whether the text of an old test was changed.
    """
    fresh = [name for old, new in pairs for name in new.names(_fresh(old, new))]
    hurt = [name for old, new in pairs for name in new.names(_suffering(old, new, files, rewritten))]
    message = next((words for old, new in pairs if (words := _cannot_run(old, new, files, lacks))), "")
    if hurt and not message:
        what = "These tests passed before. With your tests they fail or are gone"
        message = _told(what, hurt, "Leave existing tests as they are, and write new ones beside them.")
    elif not fresh and not message:
        message = _shows_nothing(pairs)
    return Verdict(
        passed=not message, proof=None, reason=Reason.NOTHING_VERIFIED if message else None, message=message,
        results=tuple(new.result for _, new in pairs), awaiting=() if message else tuple(fresh[:MOST_NAMES]),
    )  # fmt: skip


def _told(what: str, names: Sequence[str], remedy: str) -> str:
    return f"{what}:\n\n{listed(names)}\n\n{remedy}"


def joined(earlier: Shown | None, base: Shown) -> Shown:
    """Return what a base with new tests showed. Where the new tests hide the old ones, use what those showed before.

    Some runners run no test at all if one test file cannot be loaded yet.
    """
    before = earlier.tests if earlier else None
    return replace(base, tests={**before, **(base.tests or {})}) if before else base


def _fresh(old: Shown, new: Shown) -> list[str]:
    """Return the new tests that fail; or the command as a whole if its tests are not named."""
    if WHOLE in new.failing:
        could = old.is_green or found_no_test(old)
        ran = new.result.checks != 0 or _WANTING.search(new.output) is not None
        return [WHOLE] if could and ran else []
    return [test for test in new.failing if test not in (old.tests or {})]


def _cannot_run(old: Shown, new: Shown, files: Collection[str], lacks: Lacks) -> str:
    """Return why a check says nothing about the new tests: it cannot start, hangs, or cannot load them."""
    result = new.result
    if result.cause in ("unrunnable", "output_limit") and old.result.cause != result.cause:
        return f"`{result.command}` cannot run with the new tests."
    if result.timed_out:
        return f"`{result.command}` does not end with the new tests in time; write tests that end by themselves."
    unloaded = [test for test in _fresh(old, new) if test == WHOLE or _is_file(test, files)]
    if not unloaded:
        return ""
    if (lacking := lacks(new)) is not None:
        return f"The new tests need the {lacking.kind} module `{lacking.name}`, which is not installed here. Do without it."
    if _UNREADABLE.search(new.output):
        return _told("The new tests cannot be read by their runner", new.names(unloaded), "Mend their syntax.")
    if result.checks is not None and not _WANTING.search(new.output):
        what = "The new tests cannot be loaded, and missing work is not the cause"
        only = "A test file may fail to load only because it uses something that the story still has to write."
        return _told(what, new.names(unloaded), only)
    return ""


def _is_file(test: str, files: Collection[str]) -> bool:
    """Tell whether the id of a failed test is that of a whole file, which could not be loaded."""
    if (path := file_of(test, files)) is None:
        return False
    dotted = posixpath.splitext(path)[0].replace("/", ".")
    return test == path or f".{dotted}".endswith(f".{test}")


def _suffering(old: Shown, new: Shown, files: Collection[str], rewritten: Callable[[str], bool]) -> list[str]:
    """Return the tests that passed and now fail, are changed or are gone. Tests that just do not run yet are fine."""
    failed = [test for test in lost(old, new) if test in old.passing and (new.tests or {}).get(test) == "failed"]
    gone = [test for test in vanished(old, new) if test in old.passing]
    hidden = WHOLE in new.failing or any(_is_file(test, files) for test in new.failing)
    return [*failed, *(filter(rewritten, gone) if hidden else gone)]


def _shows_nothing(pairs: Pairs) -> str:
    named = [(old, new) for old, new in pairs if new.tests]
    came = [name for old, new in named for name in new.names(new.passing) if name not in (old.tests or {})]
    if came:
        what = "The tests pass already without the work, so they show nothing"
        return _told(what, came, "Write tests that fail now because the work that the criteria ask for is missing.")
    commands = ", ".join(f"`{new.command}`" for _, new in pairs)
    where = "Put them into files that these commands run, under names that their runner looks for."
    return f"None of the checks runs the new tests: {commands}. {where}"


def none(paths: Sequence[str]) -> str:
    """Return the message for an attempt that wrote no test at all."""
    names = "Write tests into files whose names say so, such as `tests/test_NAME.py`, `NAME_test.go` or `NAME.test.js`."
    return _told("No test was written. Only tests count now, and these files are not tests", paths, names)


def left_out(paths: Sequence[str]) -> str:
    return f"left out, since only tests are written now: {few(paths, 3)}"
