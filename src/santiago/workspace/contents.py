"""Paths and files of commits. Git is asked once; what a snapshot left unchanged is remembered from one commit to the next."""

from __future__ import annotations

import posixpath
import threading
from typing import TYPE_CHECKING, NamedTuple

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


_COMMITS = 32
"""How many commits are remembered: enough for those that the last attempts began on and made."""
_FILES, _LARGEST = 100, 64 * 1024
"""How many files of a commit are kept, and how large they may be: scripts and settings, not data."""


class _Kept(NamedTuple):
    """What is known of a commit: some of its files, and the changes since the commit before it."""

    files: dict[str, bytes | None]
    base: str | None = None
    changed: frozenset[str] = frozenset()


class Contents:
    """Remembers small files of the last few commits."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def of(self, repository: Repository, commit: str, path: str) -> bytes | None:
        # With another spelling of the path, a change of the file would not be noticed.
        plain = posixpath.normpath(path) == path
        with self._lock:
            holder = self._holder(commit, path) if plain else None
            if holder is not None:
                content = holder.files[path]
                self._keep(commit, path, content)
                return content
        content = repository.content(commit, path)
        if plain:
            with self._lock:
                self._keep(commit, path, content)
        return content

    def follow(self, base: str, snapshot: Snapshot) -> None:
        """Note that a snapshot has the files of its base, except for the changed ones."""
        if any("\\" in change.path for change in snapshot.changes):
            return  # two different paths can look alike if they hold a backslash
        with self._lock:
            self._place(snapshot.commit, _Kept({}, base, frozenset(change.path for change in snapshot.changes)))

    def _holder(self, commit: str, path: str) -> _Kept | None:
        """Return what is known of the commit, or of an earlier commit since which the file did not change."""
        kept = self._kept.get(commit)
        while kept is not None and path not in kept.files:
            kept = self._kept.get(kept.base or "") if path not in kept.changed else None
        return kept

    def _keep(self, commit: str, path: str, content: bytes | None) -> None:
        kept = self._kept.get(commit) or _Kept({})
        if len(kept.files) < _FILES and len(content or b"") <= _LARGEST:
            kept.files[path] = content
            self._place(commit, kept)

    def _place(self, commit: str, kept: _Kept) -> None:
        self._kept[commit] = kept
        while len(self._kept) > _COMMITS:
            del self._kept[next(iter(self._kept))]
