"""The judge port: making checkouts ready, looking at the base, and verdicts on work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from santiago.contract.outcomes import CheckResult, Verdict
from santiago.contract.plan import Story
from santiago.contract.ports.workspace import Snapshot
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from santiago.contract.policy import Workspace
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
    """The attempt only writes the story's tests. They must fail on the base, since the work is still missing."""
    before_tests: str | None = None
    """The base without the story's own tests, where those were written first and put onto it."""
    before_story: str | None = None
    """The commit before any work of the story, where the base already has unproven work of it."""
    needs_no_proof: bool = False
    """It is a substep: its story is what must be shown."""


@record
class Judged:
    """A verdict, and the record that it rests on."""

    verdict: Verdict
    record: bytes
    tests: str | None = None
    """The base plus only the new tests, as a commit; set where such tests were asked for and are good."""


@record
class Proposal:
    """A change that may make a check run that cannot run now."""

    check: str
    """The check to use; often the same one."""
    setup: str = ""
    """A command for [workspace] setup, where one is needed."""
    copy: tuple[str, ...] = ()
    provide: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Names to add to these settings of [workspace]."""

    def settings(self, now: Workspace) -> tuple[tuple[str, ...], ...]:
        """Return the settings that it changes, each with its name and all its values."""
        added = {
            "copy": self.copy,
            "provide": self.provide,
            "env": self.env,
            "setup": (self.setup,) if self.setup else (),
        }
        return tuple((f"workspace.{key}", *getattr(now, key), *names) for key, names in added.items() if names)


@record
class Lack:
    """What keeps a check from passing, or from running, that is not the repository's code."""

    message: str
    hint: str
    proposal: Proposal | None = None


@record
class Examination:
    """What the checks show on a base, before any work."""

    record: bytes
    reason: Reason | None = None
    """Why no story may begin; None where all is well."""
    message: str = ""
    hint: str = ""
    red: tuple[str, ...] = ()
    """Tests, or whole checks, that fail already."""
    notes: tuple[str, ...] = ()
    results: tuple[CheckResult, ...] = ()
    """What each check did, in order."""
    proposal: Proposal | None = None
    """What may help where a check cannot run."""


@record
class Noted:
    """What a check showed, as it is kept on disk."""

    result: CheckResult
    tests: tuple[tuple[str, Literal["passed", "failed", "skipped"]], ...] | None
    """In order of appearance; None where the runner does not name its tests."""
    note: str


class Notes(Protocol):
    """Results that survive a crash while a base is examined. No agent has started yet, so they can be believed."""

    is_open: bool
    """Whether a base is being examined now. Otherwise nothing is read or written."""

    def open(self) -> None:
        """Begin, or go on after a crash."""

    def read(self, key: object) -> Noted | None:
        """Return the result that was kept under this key, by this start or by one that died; None where there is none."""

    def write(self, key: object, noted: Noted) -> None:
        """Keep a result at once."""

    def close(self, *, forget: bool = False) -> None:
        """End the examination; forget its results where they must not be believed any more."""


class SetUpFailedError(Exception):
    """A set-up command failed, so nothing is known about the tree."""


class Judge(Protocol):
    """Gives verdicts. A verdict rests only on what ran in clean checkouts, never on what an agent claims.

    Every method that runs checks returns None if it was stopped before there was a result.
    """

    def prepare(self, folder: str, stop: Stop) -> None:
        """Make a fresh checkout ready to be worked in; raise SetUpFailedError where its set-up does not succeed."""

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        """Run every check of these stories and of the run once on a base; tell what would prevent a verdict."""

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        """Return the verdict on an attempt's work, by its own tests and by those of the base.

        An attempt that only writes tests passes if these run, and fail because the work is still missing.
        """

    def tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged | None:
        """Return the verdict of a story's checks on any commit, compared with a base where one is given."""

    def run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged | None:
        """Return the verdict on the whole run: its checks on the head, also with the tests of the run's first base.

        `accepted` are the tests of that base whose change was agreed to.
        """
