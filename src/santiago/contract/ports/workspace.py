"""The workspace port: folders, snapshots and the branch, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record

PATCH_CUT = "\n… the rest of the patch is not shown …\n"


@record
class Opened:
    """An attempt's folder, ready for its agent."""

    folder: str
    base: str
    """The commit that the folder was made from."""


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
    """The patch, up to a limit. A longer one is cut and ends with `PATCH_CUT`."""
    left_out: tuple[str, ...] = ()
    """Files that git could not take (sockets, forbidden names), in git's words."""
    too_large: tuple[str, ...] = ()
    """What exceeds the limits of one snapshot, in words. The rest is kept."""


@record
class Integration:
    """The result of applying an attempt to the run's head."""

    head: str | None
    """The new head, not yet on the branch; None where it did not apply."""
    moved: bool
    """Whether the tree differs from the verified one, so that it must be verified again."""
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
        """Note the untracked files that set-up left in the attempt's folder, so that no snapshot counts them as the agent's work."""

    def lay(self, story: str, attempt: int, commit: str) -> bool:
        """Put the changes of an earlier snapshot into the attempt's folder, not committed; False where they do not fit."""

    def snapshot(self, story: str, attempt: int, message: str) -> Snapshot | None:
        """Keep what the folder holds under the attempt's ref; None where nothing differs from the base."""

    def checkout(self, commit: str, name: str) -> str:
        """Return a clean folder with this commit and nothing else."""

    def watched(self, folder: str) -> Callable[[], tuple[str, ...]]:
        """Return a function that tells which files of a clean folder have changed since now. Call it once."""

    def compose(
        self, onto: str, other: str, paths: Sequence[str], contents: Mapping[str, bytes], message: str = ""
    ) -> str:
        """Return a commit like `onto`, but with these paths as in `other` (or removed), and some with the given contents."""

    def keep_tests(self, story: str, attempt: int, commit: str) -> None:
        """Keep the commit with the tests that an attempt wrote, beside its snapshot."""

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return the paths that differ between two commits."""

    def difference(self, old: str, new: str, paths: Sequence[str], first: Sequence[str] = ()) -> str:
        """Return the changes of these files between two commits, as a patch for people. A long patch is cut.

        Changes in or around lines with one of the words `first` come first.
        """

    def stacked(self, base: Sequence[str]) -> str:
        """Return a commit with the snapshots that follow the first commit applied to it, in order; no ref keeps it.

        Raise WorkspaceConflictError where they do not fit onto each other.
        """

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

        `onto` is the head that the log knows. After a crash the branch may already contain this work.
        """

    def advance(self, old: str, new: str) -> str:
        """Move the run's branch to `new` if it is still at `old`; return its head. A second call changes nothing."""

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

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit; None where there is none, or it is too large to matter."""


class Supply(Protocol):
    """Gives fresh checkouts what git does not: ignored files and installed packages."""

    def begin(self, folder: str) -> bool:
        """Give a checkout what it needs; return whether the set-up commands must run in it."""

    def again(self, folder: str) -> bool:
        """After the commands failed: give the checkout what they may have lacked; return whether there was anything."""

    def end(self, folder: str) -> None:
        """After the commands succeeded: keep what they made for other checkouts."""

    def keep_built(self, folder: str) -> None:
        """Keep what was built in a checkout of the base, for checkouts of anything."""

    def lacking(self, base: str, work: str, *, failed: bool = False) -> str:
        """Return a message if the work asks for packages that its base does not need and no set-up installs; else empty.

        If the checks `failed` since packages are missing, files count too that name packages among much else.
        """
