"""The workspace port: folders, snapshots and the branch, and what it says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


PATCH_CUT = "\n… the rest of the patch is not shown …\n"


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
    moved: bool
    """Whether the tree is another than the one that was verified, so that a second verification is due."""
    conflict: str = ""
    """The files in conflict."""


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

    def open(self, story: str, attempt: int, base: Sequence[str]) -> Opened:
        """Make the attempt's folder on the run's head plus the snapshots that follow it, applied in order."""

    def prepared(self, story: str, attempt: int) -> None:
        """Note what set-up left in the attempt's folder and git knows nothing of: no snapshot takes it for the agent's work."""

    def snapshot(self, story: str, attempt: int, message: str) -> Snapshot | None:
        """Keep what the folder holds under the attempt's ref; None where nothing differs from the base."""

    def checkout(self, commit: str, name: str) -> str:
        """Return a clean folder with this commit and nothing else."""

    def watched(self, folder: str) -> Callable[[], tuple[str, ...]]:
        """Return what tells which files of a clean folder are not as they are now; to be called once."""

    def compose(
        self, onto: str, other: str, paths: Sequence[str], contents: Mapping[str, bytes], message: str = ""
    ) -> str:
        """Return a commit like `onto` in which these paths are as in `other`, also missing, and some have given contents."""

    def keep_tests(self, story: str, attempt: int, commit: str) -> None:
        """Keep the commit with the tests that an attempt wrote, beside its snapshot."""

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return the paths that differ between two commits."""

    def difference(self, old: str, new: str, paths: Sequence[str]) -> str:
        """Return what was done to these files between two commits: a patch for people, of which the end may be left out."""

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

    def keep(self, story: str, attempt: int, commit: str) -> None:
        """Keep a commit as the work of an attempt."""

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
