"""The judge port: making checkouts ready, looking at the base, and verdicts on work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.outcomes import CheckResult, Verdict
from santiago.contract.plan import Story
from santiago.contract.ports.workspace import Snapshot
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.ports.run import Stop


@record
class Work:
    """One attempt's work, to be judged."""

    story: Story
    attempt: int
    base: str
    """The commit that the attempt began on."""
    snapshot: Snapshot
    evidence: tuple[tuple[str, str], ...] = ()
    """Criterion → the test, or the command, that is said to show it."""
    writes_tests: bool = False
    """It only writes the story's tests: they must fail on the base for want of the work."""
    before_tests: str | None = None
    """What the base was before the story's own tests were put onto it, where such tests were written first."""


@record
class Judged:
    """A verdict, and the record that it rests on."""

    verdict: Verdict
    record: bytes
    tests: str | None = None
    """A commit like the base with nothing but the new tests, where these were asked for and are good."""


@record
class Proposal:
    """What may make a check run that cannot."""

    check: str
    """The check to use; often the same one."""
    setup: str = ""
    """A command for [workspace] setup, where it takes one."""


@record
class Examination:
    """What the checks show on a base, before any work."""

    record: bytes
    reason: Reason | None = None
    """Why nothing may begin."""
    message: str = ""
    hint: str = ""
    red: tuple[str, ...] = ()
    """Tests, or whole checks, that fail already."""
    notes: tuple[str, ...] = ()
    results: tuple[CheckResult, ...] = ()
    """What each check did, in order."""
    proposal: Proposal | None = None
    """What may help where a check cannot run."""


class SetUpFailedError(Exception):
    """A set-up command did not succeed, so nothing can be said about the tree."""


class Judge(Protocol):
    """Gives verdicts. A verdict rests on what ran in clean checkouts, never on what anyone said.

    Every method that runs checks returns None where it was stopped before there was a result.
    """

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready to be worked in; raise SetUpFailedError where its set-up does not succeed."""

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        """Run every check of these stories, and of the run, once on a base; say what stands in the way of a verdict."""

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        """Return the verdict on an attempt's work, by its own tests and by those of the base.

        One that only writes tests passes where they run and fail for want of the work.
        """

    def tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged | None:
        """Return what a story's checks say of any commit, held against a base where one is given."""

    def run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged | None:
        """Return the verdict on the whole run: its checks on the head, also with the tests of the run's first base.

        `accepted` are the tests of that base whose change was agreed to.
        """
