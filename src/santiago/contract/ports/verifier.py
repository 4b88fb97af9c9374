"""The verifier port: running checks, the verdict, the seal on what judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from santiago.contract.outcomes import CheckResult, Verdict
    from santiago.contract.ports.workspace import Change


class Verifier(Protocol):
    """Runs checks and says what they showed. A verdict rests on what ran, never on what anyone said."""

    def check(
        self,
        folder: str,
        commands: Sequence[str],
        timeout_ms: int,
        stopped: Callable[[], str | None],
        *,
        before: Sequence[CheckResult] = (),
        to_the_end: bool = False,
        unmarked: bool = False,
        told: Mapping[str, str] | None = None,
        between: Callable[[], None] = lambda: None,
    ) -> tuple[CheckResult, ...]:
        """Run the commands in order, each within the limit; stop at the first that fails in a way the base does not.

        With `unmarked`, nothing in their environment says that santiago runs them; `told` are variables for them.
        `between` is called after each.
        """

    def set_up(self, folder: str, commands: Sequence[str], timeout_ms: int, stopped: Callable[[], str | None]) -> str:
        """Prepare a checkout; return what went wrong, in words, and nothing where all went well."""

    def tampered(
        self,
        changes: Sequence[Change],
        protected: Sequence[str],
        files: Sequence[str],
        commands: Sequence[str],
        base_files: Collection[str],
        read: Callable[[str, str], bytes | None],
    ) -> tuple[str, ...]:
        """Return the paths whose change takes the verdict out of santiago's hands."""

    def judging(
        self, commands: Sequence[str], base_files: Collection[str], files: Sequence[str], read: Callable[[str], bytes | None]
    ) -> frozenset[str]:  # fmt: skip
        """Return the scripts of the base that these commands run as judges, except those that `files` name."""

    def judge(
        self,
        before: Sequence[CheckResult] | None,
        after: Sequence[CheckResult],
        tampered: Sequence[str],
        *,
        has_checks: bool,
        fewer_allowed: bool,
        own: Collection[str] = (),
        base_files: Collection[str] = (),
        read: Callable[[str], bytes | None] = lambda _: None,
    ) -> Verdict:
        """Return the verdict on a tree, given what the same commands showed on its base; `own` are the story's own.

        What the base has tells a check that was not there yet from one that said no.
        """

    def record(self, verdict: Verdict, base: Sequence[CheckResult]) -> bytes:
        """Return the verdict as the file that evidence rests on."""

    # Whether what judges is still the judge

    def sealed(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        """Return the code among the base's files that judges a story which may change `files`."""

    def watched(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        """Return the same with the data that tests read: nobody may write to it while checks run."""

    def contents(self, folder: str, paths: Sequence[str]) -> Mapping[str, str]:
        """Return a digest of each of these files."""

    def ready(self, folder: str, expected: Mapping[str, str], compiled: Sequence[str]) -> tuple[str, ...]:
        """Take compiled files out of a checkout; return the paths whose content is not the expected one."""

    def marks(self, folder: str, paths: Sequence[str]) -> Mapping[str, object]:
        """Return marks of files, and of what stands around them, by which any later touch shows."""

    def touched(
        self, folder: str, marks: Mapping[str, object], sealed: Sequence[str], commands: Sequence[str], read: Callable[[str], bytes | None]
    ) -> frozenset[str]:  # fmt: skip
        """Return what was touched since and has a part in judging: sealed files, and whatever steers these commands."""

    def surroundings(self, commands: Sequence[str]) -> str:
        """Return a digest of what these checks take from the machine and an agent without a sandbox could change."""

    def doubts(self, patch: str, paths: Sequence[str]) -> Sequence[Doubt]:
        """Return the files of a patch that could reach the runner which judges them."""

    def plant(self, folder: str, paths: Sequence[str], *, alone: bool) -> str:
        """Plant a test that must fail into test files, or in place of their content; return its name, where it could be."""

    def harden(
        self, folder: str, tests: Sequence[str], commands: Sequence[str], judges: Collection[str], changed: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:  # fmt: skip
        """Make tests refuse what only seems right, and programs that judge say whether they come to their end.

        Returns the word by which they say so, and the commands to run; programs on command lines are edited there.
        """

    def refused(self, word: str, result: CheckResult, *, on_base: bool) -> str:
        """Return what hardened judges have against the work, in words; nothing where they have nothing."""

    def is_marked(self, word: str, result: CheckResult) -> bool:
        """Whether a check showed that a program of it would say whether it comes to its end."""

    def blind(self, folder: str, tests: Sequence[str], changed: Sequence[str], *, idle: bool = False) -> None:
        """Edit tests and changed files of a checkout so that nothing tells the work that it is being tested.

        With `idle` they are edited alike, to no effect.
        """

    def imported(
        self, folder: str, files: Collection[str], commands: Sequence[str], modules: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return those of some modules, known by their paths, that commands or other files of a checkout import."""

    def spoil(self, folder: str, paths: Sequence[str]) -> bool:
        """Make every test of these files fail at its end; say whether there was any."""

    def failing(self, result: CheckResult) -> frozenset[str]:
        """Return the tests that a check names as failing; none where it does not name all that failed."""

    def voice(
        self, folder: str, files: Collection[str], changed: Sequence[str], commands: Sequence[str]
    ) -> tuple[str, frozenset[str]]:
        """Have tests and examples that the changed files could have silenced fail at their beginnings, each by a name.

        Returns the word by which the names are known, and the names.
        """

    def heard(self, word: str, result: CheckResult) -> frozenset[str] | None:
        """Return the names that a check says; None where not all of what it said is known."""


class Doubt(Protocol):
    """Work that makes santiago provoke the checks before it believes them."""

    @property
    def path(self) -> str: ...

    @property
    def kinds(self) -> Collection[str]:
        """Of `reaches`, `asks`, `equals`, `patches`, `ends`, `knows`, `hides`: what the work could do to its judge."""
