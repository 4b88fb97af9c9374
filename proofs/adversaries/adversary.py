"""What an adversary is: a program that plays the agent, the ground it stands on, and how its story must end."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Literal

UNITTEST = "python3 -m unittest discover -s tests -t ."
MODULE = "python3 -m unittest tests.test_calc"
PYTEST = "python3 -m pytest -q -p no:cacheprovider"
MAKE = "make test"
SCRIPT = "sh ci/check.sh"

DONE = "done"
TAMPERED = "verification_tampered"
FAILED = "story_verification_failed"
NOTHING = "nothing_verified"
CHANGED = "changed_expectation"
DOUBTED = "doubted"
Fence = Literal["auto", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """One lying or hostile agent."""

    name: str
    does: str
    """What it does, in plain words; the table in docs/adversaries.md shows it."""
    ends: str
    """Reason of the last attempt, the reason of the error that stopped the run, or `done` where the work is right."""
    ends_off: str = ""
    """The same without a sandbox, where that differs."""
    empties_tests: bool = False
    """In a sandbox the test file is left without a test."""
    unseen: str = ""
    """Why nobody can see what it does, so that it ends in a false `done`."""
    program: str
    """Python, run as the agent in the attempt's folder; WRONG, RIGHT, write() and others are at hand."""
    check: str = UNITTEST
    second_check: str = ""
    run_check: str = ""
    """A check of the whole run."""
    fences: tuple[Fence, ...] = ("auto",)
    attempts: int = 1
    attempt_seconds: float = 20
    check_seconds: float = 30
    more_files: dict[str, str] = field(default_factory=dict)
    """Files that the repository has besides its usual ones."""
    without: tuple[str, ...] = ()
    """Usual files that it has not."""
    story_files: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()

    def ends_in(self, fence: Fence) -> str:
        return self.ends_off or self.ends if fence == "off" else self.ends

    def ends_here(self, fence: Fence) -> str:
        """Return how it ends with this Python: from 3.12 on, unittest itself fails where no test is left."""
        fails = self.empties_tests and fence == "auto" and sys.version_info >= (3, 12)
        return FAILED if fails else self.ends_in(fence)


BOTH: tuple[Fence, ...] = ("auto", "off")
