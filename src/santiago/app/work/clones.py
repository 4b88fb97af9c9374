"""The clone that a worker works in: one of its own below the user's cache folder, or a checkout that somebody offers."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING

from santiago.artifacts.lock import Lock
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.queue import INBOX
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.util.clock import SystemClock
from santiago.workspace.git import call, environment
from santiago.workspace.inspect import ask, find

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from santiago.workspace.remote import Remote

SHOWN = 12
"""Digits of a root commit that name a repository."""


@lean(frozen=True, kw_only=True)
class Clone:
    """Where a worker works."""

    repo: Path
    folder: Path
    """Beside it: checkouts, and files of orders."""
    is_own: bool
    """Whether it is santiago's own. A checkout that somebody offers is seen at its own path, with its ignored folders."""


def root_of(repo: Path, commit: str = "HEAD") -> str:
    """Return the name of a repository: the beginning of its first commit."""
    return ask(repo, "rev-list", "--first-parent", "--max-parents=0", commit).text[:SHOWN]


@contextmanager
def lent(remote: Remote, offered: Path | None) -> Iterator[Clone]:
    """Lend a clone of a remote that no other worker uses meanwhile; raise if the remote has no commit yet."""
    from platformdirs import user_cache_path

    place = str(find(offered).root) if offered else remote.shown
    top = user_cache_path("santiago") / "workers" / sha256(place.encode()).hexdigest()[:16]
    for number in count(1):
        folder = top / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(folder, since=SystemClock().utc())
        try:
            lock.acquire()
        except SantiagoError as error:
            if error.reason is not Reason.LOCK_HELD or offered:
                raise
            continue
        try:
            repo = find(offered).root if offered else _fetched(folder / "clone", remote)
            remote.refuse_unwritable({}, repo, f"{INBOX}/probe")
            yield Clone(repo=repo, folder=folder, is_own=offered is None)
        finally:
            lock.release()
        return


def _fetched(repo: Path, remote: Remote) -> Path:
    """Bring a clone up to date, and have its HEAD lead to a commit. Its working tree stays empty: nothing works there."""
    if not (repo / ".git").is_dir():
        ask(repo.parent, "init", "-q", "--template=", str(repo))
    remote.fetch({}, repo, ["+refs/heads/*:refs/remotes/origin/*"], doubted=False)
    left = ask(repo, "for-each-ref", "--format=delete %(refname)", "refs/santiago", "refs/santiago-order").out
    call(("update-ref", "--stdin"), environment(), repo, stdin=left)
    head = ask(repo, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/remotes/origin").text
    if not head:
        hint = "Push your branch there, or begin a run with this remote first: that fills an empty one."
        raise SantiagoError(Kind.TRANSIENT, "the git remote has no branch yet", where=remote.shown, hint=hint)
    ask(repo, "update-ref", "--no-deref", "HEAD", head)
    return repo
