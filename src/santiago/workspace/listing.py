"""The paths of commits. Git is asked once; after that, the paths follow from the changes of each snapshot."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.contract.ports.workspace import Snapshot
    from santiago.workspace.repository import Repository

_MOST = 16
"""How many commits are remembered: enough for those that the next attempts begin on."""


class Listing:
    """Remembers the paths of the last few commits that were asked for or made."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def of(self, repository: Repository, commit: str) -> frozenset[str]:
        known = self._known.get(commit)
        if known is None:
            listed = repository.on_objects("ls-tree", "-r", "--name-only", "-z", commit).out
            known = frozenset(path.decode("utf-8", "backslashreplace") for path in listed.split(b"\0") if path)
            self._keep(commit, known)
        return known

    def follow(self, base: str, snapshot: Snapshot) -> None:
        """Note the paths of a snapshot, from those of its base. Not if a path holds a backslash, since two could look alike."""
        known = self._known.get(base)
        if known is None or any("\\" in change.path for change in snapshot.changes):
            return
        gone = {change.path for change in snapshot.changes if change.status == "D"}
        new = {change.path for change in snapshot.changes if change.status == "A"}
        self._keep(snapshot.commit, (known - gone) | new)

    def _keep(self, commit: str, paths: frozenset[str]) -> None:
        with self._lock:
            self._known[commit] = paths
            while len(self._known) > _MOST:
                del self._known[next(iter(self._known))]
