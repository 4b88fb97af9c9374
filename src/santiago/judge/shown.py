"""What a check showed on one tree: its result, and what became of each test where the runner names them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from santiago.contract.outcomes import CheckVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.contract.outcomes import CheckResult
    from santiago.judge.naming import Tests

WHOLE = ""
"""Stands for the command as a whole, among the ids of tests."""


@dataclass(frozen=True)
class Shown:
    result: CheckResult
    tests: Tests | None = None
    """None where the runner does not name its tests: then the command is compared as a whole."""

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
