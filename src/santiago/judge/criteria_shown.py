"""Which test shows which criterion, and the test's result without the work and with it, read from the verdict's runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from santiago.contract.outcomes import Criterion
from santiago.judge.comparison import Shown
from santiago.judge.verdict import Check

Status = Literal["", "passed", "failed", "skipped", "missing"]
Alone = Callable[[str], tuple[Shown, Shown]]
"""Runs a command by itself, without the work and with it."""
MOST_ALONE = 10
"""How many commands of one attempt are run by themselves."""


def matrix(
    ids: Sequence[str], evidence: Mapping[str, str], checks: Sequence[Check], alone: Alone, otherwise: str = ""
) -> tuple[Criterion, ...]:
    """Return a row for every criterion, also for those without evidence.

    `otherwise` is the check that stands for a criterion for which no test is named.
    """
    rows: list[Criterion] = []
    commands = 0
    for name in ids:
        test = evidence.get(name, "") or otherwise
        row = _from_runs(name, test, checks)
        if row is None and " " in test and commands < MOST_ALONE:
            commands += 1
            before, after = alone(test)
            row = Criterion(id=name, test=test, before=_whole(before), after=_whole(after))
        nothing: Status = "missing" if test else ""
        rows.append(row or Criterion(id=name, test=test, before=nothing, after=nothing))
    return tuple(rows)


def from_document(checks: Sequence[Check]) -> str:
    """Return the command with which the document itself judges the story, where it failed before and passes now."""
    return next((one.work.command for one in checks if one.is_own and one.said_no and one.passes_now), "")


def _from_runs(name: str, test: str, checks: Sequence[Check]) -> Criterion | None:
    """Return what the checks say of a test; None where none of them names it."""
    for check in checks:
        without = check.new_tests or check.base
        if test and test == check.work.command:
            return Criterion(id=name, test=test, before=_whole(without), after=_whole(check.work))
        known = _found(test, check.work)
        if known is not None:
            return Criterion(id=name, test=known, before=_of(known, without), after=_of(known, check.work))
    return None


def _found(test: str, shown: Shown) -> str | None:
    """Return the id of the test that is meant: exactly this one, or the only one that ends like this."""
    tests = shown.tests or {}
    if test in tests:
        return test
    ends = [one for one in tests if one.endswith((f"::{test}", f".{test}", f"/{test}", f" {test}"))] if test else []
    return ends[0] if len(ends) == 1 else None


def _of(test: str, shown: Shown) -> Status:
    tests = shown.tests or {}
    # If the file of the test could not be loaded, the file's failure counts for the test.
    unloaded = any(one == "failed" and test.startswith((f"{file}::", f"{file}.")) for file, one in tests.items())
    return tests.get(test, "failed" if unloaded else "skipped" if tests and shown.is_green else "missing")


def _whole(shown: Shown) -> Status:
    return "passed" if shown.is_green else "failed"
