"""The ports: all that the core knows of the outside. Each docstring is what an adapter is tested against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import Story
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from santiago.contract.events import Event
    from santiago.contract.outcomes import AgentEnding, AttemptOutcome, CheckResult, Outcome, Verdict
    from santiago.contract.steps import Step


class Clock(Protocol):
    """Time. Deadlines use `monotonic_ms`, which no change of the wall clock moves; `utc` is for people."""

    def monotonic_ms(self) -> int:
        """Return milliseconds that only ever grow, and stand still while the machine sleeps."""

    def utc(self) -> str:
        """Return the wall time as ISO 8601 in UTC."""


class Stop(Protocol):
    """How urgently what is under way should end."""

    def soon(self) -> bool:
        """Tell whether to stop at the next safe boundary."""

    def now(self) -> bool:
        """Tell whether to stop at once."""


@record
class Packet:
    """Everything that one attempt's agent gets to know."""

    run_id: str
    story: Story
    attempt: int
    criteria: tuple[str, ...]
    commands: tuple[str, ...]
    """The checks that will judge the work."""
    chunk_titles: tuple[str, ...]
    """The stories of the active chunk, this one included."""
    critiques: tuple[str, ...]
    """Of the attempts before, oldest first."""
    notes: tuple[str, ...]
    """Answers, hints and change requests, oldest first."""
    folder: str
    """The attempt's worktree."""
    plan_folder: str
    """Read-only: the active chunk and the full plan."""
    log: str
    """File that the agent's output goes to."""
    prompt_file: str
    timeout_ms: int
    budget_micro_usd: int | None = None
    """What is left of the run's money when the attempt begins; None where it is not limited."""
    budget_tokens: int | None = None


class AgentBackend(Protocol):
    """Carries out one attempt in a fresh context.

    Returns only when nothing that it started is alive any more, however the agent ended. Never raises for what an agent
    does; what it did not finish, and why, is the ending's reason.
    """

    def render(self, packet: Packet) -> str:
        """Return the prompt; text from documents and from earlier output stands fenced, as data."""

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        """Run the agent on its prompt file until it ends, its time is up, or it must stop."""


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
    ) -> tuple[CheckResult, ...]:
        """Run the commands in order, each within the limit; stop at the first that fails in a way the base does not.

        With `unmarked`, nothing in their environment says that santiago runs them; `told` are variables for them.
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

    def judge(
        self,
        before: Sequence[CheckResult] | None,
        after: Sequence[CheckResult],
        tampered: Sequence[str],
        *,
        has_checks: bool,
        fewer_allowed: bool,
        own: Collection[str] = (),
    ) -> Verdict:
        """Return the verdict on a tree, given what the same commands showed on its base; `own` are the story's own."""

    def record(self, verdict: Verdict, base: Sequence[CheckResult]) -> bytes:
        """Return the verdict as the file that evidence rests on."""

    # Whether what judges is still the judge

    def sealed(self, base_files: Collection[str], protected: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
        """Return the code among the base's files that judges a story which may change `files`."""

    def contents(self, folder: str, paths: Sequence[str]) -> Mapping[str, str]:
        """Return a digest of each of these files."""

    def ready(self, folder: str, expected: Mapping[str, str], compiled: Sequence[str]) -> tuple[str, ...]:
        """Take compiled files out of a checkout; return the paths whose content is not the expected one."""

    def marks(self, folder: str, paths: Sequence[str]) -> Mapping[str, object]:
        """Return marks of files by which any later touch shows."""

    def touched(self, folder: str, marks: Mapping[str, object]) -> frozenset[str]:
        """Return the files that were touched since their marks were taken."""

    def surroundings(self, commands: Sequence[str]) -> str:
        """Return a digest of what these checks take from the machine and an agent without a sandbox could change."""

    def doubts(self, patch: str) -> Sequence[Doubt]:
        """Return the files of a patch that could reach the runner which judges them."""

    def plant(self, folder: str, paths: Sequence[str], *, alone: bool) -> str:
        """Plant a test that must fail into test files, or in place of their content; return its name, where it could be."""

    def harden(self, folder: str, paths: Sequence[str]) -> str:
        """Make comparisons in test files refuse what equals anything; return the word by which they say so."""

    def prolonged(self, command: str) -> str:
        """Return a command that must end with exit code 97 where this one passes honestly; nothing where there is none."""

    def prolong(self, folder: str, command: str, judges: Collection[str]) -> bool:
        """Edit the file that a command runs, where it is one of the judges, to the same effect; say whether it was."""


class Doubt(Protocol):
    """Work that makes santiago provoke the checks before it believes them."""

    @property
    def path(self) -> str: ...

    @property
    def kinds(self) -> Collection[str]:
        """Of `reaches`, `asks`, `equals`, `patches`, `ends`, `knows`: what the work could do to its judge."""


class AttemptFiles(Protocol):
    """The files of attempts in the out-dir; what a verdict rests on is on disk when its digest is returned."""

    def anchor(self) -> str:
        """Return where the log stands, as `<seq>:<hash>`."""

    def log_path(self, story: str, attempt: int) -> str:
        """Return the file for the agent's output; its folder is there."""

    def prompt_path(self, story: str, attempt: int) -> str:
        """Return the prompt's file."""

    def keep_prompt(self, story: str, attempt: int, prompt: str) -> None:
        """Write the prompt."""

    def keep_ending(self, story: str, attempt: int, ending: AgentEnding, patch: str) -> None:
        """Note that the agent has ended and its work is kept, so that a next start may judge it."""

    def ending(self, story: str, attempt: int) -> AgentEnding | None:
        """Return the ending that was noted; None where the agent has not ended, or the note cannot be read."""

    def outcome(self, story: str, attempt: int) -> AttemptOutcome | None:
        """Return the outcome that was written; None where there is none that can be read."""

    def critiques(self, story: str, before: int) -> tuple[str, ...]:
        """Return the critiques of the attempts before this one, oldest first."""

    def keep_outcome(self, outcome: AttemptOutcome, record: bytes | None, critique: str) -> str | None:
        """Write an attempt's outcome, critique and record; return the record's digest."""

    def keep_conflict(self, story: str, attempt: int, message: str, verdict: Verdict | None) -> None:
        """Write why verified work did not fit, as the critique of its attempt."""

    def keep_record(self, name: str, record: bytes) -> str:
        """Write the record of a verdict that belongs to no single attempt; return its digest."""


class ArtifactStore(Protocol):
    """Owns all writes inside the out-dir.

    `append` returns only when the events are on disk. What was appended is never changed or lost. `put` replaces a file
    as a whole or not at all.
    """

    def events(self) -> Iterable[Event]:
        """Yield the log from its beginning; a torn last line is set aside, other damage raises."""

    def append(self, events: Sequence[Event]) -> None:
        """Record events, in order, durably."""

    def put(self, path: str, content: bytes) -> None:
        """Write a file inside the out-dir, durably."""

    def get(self, path: str) -> bytes | None:
        """Return a file of the out-dir, or None where there is none."""


@record
class RepositoryFacts:
    """What a repository is like, as far as a run depends on it."""

    root: str
    """Top folder of the working tree that santiago was started in."""
    common: str
    """The git directory that all working trees of the repository share."""
    objects: str
    object_format: str
    head: str
    branch: str | None
    """None where HEAD is detached."""
    dirty: bool
    """Whether something is not committed; a run does not see it."""
    shallow: bool
    partial: bool
    """Whether some objects are still on a server."""
    version: str
    """Of git."""


@record
class Opened:
    """An attempt's folder, ready for its agent."""

    folder: str
    base: str
    """The one commit that the folder began as."""


@record
class Change:
    """One path that differs between two trees."""

    status: str
    """`A`, `M`, `D` or `T` (another type of file)."""
    path: str
    old_mode: str
    new_mode: str


@record
class Snapshot:
    """What an attempt left, kept in git."""

    commit: str
    tree: str
    ref: str
    changes: tuple[Change, ...]
    """Against the attempt's base."""
    patch: str
    """For people, within a limit."""
    left_out: tuple[str, ...] = ()
    """What git could not take, in git's words: sockets, forbidden names."""


@record
class Integration:
    """What comes of applying an attempt to the run's head."""

    head: str | None
    """The new head, not yet on the branch; None where it did not apply."""
    tree: str | None
    moved: bool
    """Whether the tree is another than the one that was verified, so that a second verification is due."""
    conflict: str = ""
    """The files in conflict."""


@record
class AttemptRef:
    """One ref that keeps an attempt's work."""

    name: str
    commit: str
    story: str
    attempt: int


class WorkspaceConflictError(SantiagoError):
    """Commits that do not fit onto each other."""

    def __init__(self, message: str, files: tuple[str, ...], hint: str) -> None:
        super().__init__(Kind.TRANSIENT, message, hint=hint, where=", ".join(files), reason=Reason.WORKSPACE_CONFLICT)
        self.files = files


class Workspace(Protocol):
    """Folders of attempts, snapshots and the run's branch. Nothing that an agent wrote is ever executed here.

    `open`, `snapshot` and `checkout` may run at the same time; `integrate` and `advance` are called by one thread.
    A commit that was returned is on disk, and stays reachable until somebody prunes the run.
    """

    def inspect(self) -> RepositoryFacts:
        """Return what the repository is like; raise where no run can work in it."""

    def begin(self, commit: str) -> str:
        """Make the run's branch on a commit where there is none yet, and return its head."""

    def head(self) -> str | None:
        """Return the head of the run's branch; None where there is no branch yet."""

    def open(self, story: str, attempt: int, base: Sequence[str]) -> Opened:
        """Make the attempt's folder on the run's head plus the snapshots that follow it, applied in order."""

    def snapshot(self, story: str, attempt: int, message: str) -> Snapshot | None:
        """Keep what the folder holds under the attempt's ref; None where nothing differs from the base."""

    def restore(self, story: str, attempt: int, message: str = "", base: str | None = None) -> str | None:
        """Return the attempt's commit, made now from a leftover folder where there is none; None where nothing is left."""

    def checkout(self, commit: str, name: str) -> str:
        """Return a clean folder with this commit and nothing else."""

    def integrate(
        self,
        story: str,
        commit: str,
        base: str,
        subject: str,
        trailers: Sequence[tuple[str, str]],
        onto: str | None = None,
    ) -> Integration:
        """Apply a verified snapshot to the run's head, without moving the branch.

        `onto` is the head that the log knows: after a crash the branch may already stand on this very work.
        """

    def advance(self, old: str, new: str) -> str:
        """Move the run's branch if it still stands on `old`, and return its head; a second call changes nothing."""

    def close(self, story: str, attempt: int) -> None:
        """Remove the attempt's folder; its ref stays."""

    def discard(self, folder: str) -> None:
        """Remove a folder that this workspace made."""

    def unlock(self) -> None:
        """Break the locks on the run's own refs that a crash left; no git process of the run is alive."""

    def tidy(self) -> None:
        """Remove all folders that a crash left; the work in them is kept by now."""

    def kept(self, story: str, attempt: int) -> Snapshot | None:
        """Return an attempt's work as its ref keeps it; None where there is none."""

    def base_of(self, commit: str) -> str:
        """Return the commit that a snapshot was made on."""

    def tree(self, commit: str) -> str:
        """Return the tree of a commit: equal trees hold equal files."""

    def files(self, commit: str) -> frozenset[str]:
        """Return the paths of a commit."""

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit; None where there is none, or it is too large to matter."""

    def refs(self) -> list[AttemptRef]:
        """Return the refs that keep this run's attempts."""

    def reachable(self, commit: str) -> bool:
        """Say whether some ref keeps a commit."""

    def prune(self) -> list[str]:
        """Delete this run's refs and folders, and return their names; the run's branch stays."""


class Engine(Protocol):
    """Where steps run. Outcomes come back in any order; a second outcome of one step is dropped by its id."""

    def capacity(self) -> int:
        """Return how many more steps may be submitted now."""

    def submit(self, step: Step, work: Callable[[], Outcome]) -> None:
        """Start a step."""

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        """Return a finished step with what came of it, or None where the time ran out."""

    def close(self) -> None:
        """Wait for what is under way and let go of everything."""


@record
class Inquiry:
    """A question to whoever sits at the desk."""

    id: str
    story: str | None
    text: str
    options: tuple[str, ...]


@record
class Reply:
    answer: str
    text: str = ""
    actor: str = "user"


class Desk(Protocol):
    """Who answers questions. Not answered means not approved."""

    def ask(self, inquiry: Inquiry) -> Reply | None:
        """Return the answer, or None where nobody answers now; the question then stays open."""
