"""The paths of commits: asked of git once, and from then on followed from one snapshot to the next."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.contract.ports.workspace import Snapshot
    from santiago.workspace.repository import Repository

_MOST = 16
"""Commits whose paths are kept: those that the next attempts begin on."""


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
        """Note what a snapshot made of its base's paths; two paths can look alike where a backslash is in them."""
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
