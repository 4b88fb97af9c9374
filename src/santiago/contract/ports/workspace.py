"""The workspace port: folders, snapshots and the branch, and what it says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence


PATCH_CUT = "\n… the rest of the patch is not shown …\n"


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
    """Within a limit; one that goes on beyond it ends with `PATCH_CUT`."""
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

    def whole(self, story: str, attempt: int) -> bool:
        """Say whether the attempt's folder still holds what was written there: not where a power cut may have taken some."""

    def restore(self, story: str, attempt: int, message: str = "", base: Sequence[str] = ()) -> Snapshot | None:
        """Return the attempt's work, kept now from a leftover folder where it was not; None where nothing is left."""

    def checkout(self, commit: str, name: str, *, apart: bool = False) -> str:
        """Return a clean folder with this commit and nothing else; `apart`, its path does not tell whose it is."""

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

    def mentions(self, commit: str, text: str) -> bool:
        """Say whether any file of a commit holds a text; yes where that cannot be found out."""

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit; None where there is none, or it is too large to matter."""

    def refs(self) -> list[AttemptRef]:
        """Return the refs that keep this run's attempts."""

    def reachable(self, commit: str) -> bool:
        """Say whether some ref keeps a commit."""

    def prune(self) -> list[str]:
        """Delete this run's refs and folders, and return their names; the run's branch stays."""
