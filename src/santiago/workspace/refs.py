"""The refs that keep a run's attempts: listed, deleted when a person prunes the run, freed of locks that a killed git left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from santiago.workspace.inspect import ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from santiago.workspace.repository import Repository


PATIENCE = 1.0
"""Seconds after which a lock on a single ref is taken as left over. Git holds such a lock for milliseconds."""
_STEP = 0.05


def break_stale(common: Path, refs: Sequence[str]) -> list[str]:
    """Remove the left-over locks of these refs, and of all refs below them; return their names.

    Called when no git process of the run is alive. A git process of the user (packing refs) is waited for.
    """
    waiting = {path: path.stat().st_ino for path in _locks(common, refs)}
    deadline = time.monotonic() + PATIENCE
    while waiting and time.monotonic() < deadline:
        time.sleep(_STEP)
        waiting = {path: inode for path, inode in waiting.items() if _inode(path) == inode}
    for path in waiting:
        path.unlink(missing_ok=True)
    return [str(path) for path in waiting]


def _locks(common: Path, refs: Sequence[str]) -> Iterator[Path]:
    for ref in refs:
        own = common / f"{ref}.lock"
        if own.exists():
            yield own
        yield from (common / ref).rglob("*.lock")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


_HEADS, _KEPT = "refs/heads/santiago/", "refs/santiago/"
_LIST = ("for-each-ref", "--format=%(objectname) %(refname)")
_BASE, _TESTS = "base", "tests"
"""Endings of refs that keep the base made for an attempt, and the commit with only the tests that it wrote."""


class Ref(NamedTuple):
    name: str
    commit: str


class AttemptRef(NamedTuple):
    """One ref that keeps an attempt's work."""

    name: str
    commit: str
    story: str
    attempt: int


def base_of(attempt: str) -> str:
    """Return the ref that keeps the base of an attempt, whose own ref is given."""
    return f"{attempt}-{_BASE}"


def tests_of(attempt: str) -> str:
    """Return the ref that keeps nothing but the tests of an attempt, whose own ref is given."""
    return f"{attempt}-{_TESTS}"


def attempts(repository: Repository, prefix: str) -> list[AttemptRef]:
    """Return the refs that keep the work of attempts."""
    found = []
    for name, commit in of_run(repository, prefix):
        *_, story, attempt = name.split("/")
        number, _, more = attempt.partition("-")
        if not more:
            found.append(AttemptRef(name, commit, story, int(number)))
    return found


def used(repository: Repository) -> set[str]:
    """Return the run ids that are in use: they have attempts, or a branch at a commit other than HEAD.

    A branch at HEAD may be left from a start that died before it recorded anything.
    """
    return _used(of_run(repository, _HEADS, _KEPT), repository.found.head)


def used_in(root: Path) -> set[str]:
    """Return the run ids in use in a repository, with one git command if it has had no run yet."""
    listed = _read(ask(root, *_LIST, _HEADS, _KEPT).text)
    return _used(listed, ask(root, "rev-parse", "HEAD").text) if listed else set()


def _used(listed: Sequence[Ref], head: str) -> set[str]:
    found = set()
    for name, commit in listed:
        run, _, deeper = name.removeprefix(_HEADS).removeprefix(_KEPT).partition("/")
        if deeper or commit != head:
            found.add(run)
    return found


def broken(repository: Repository, *prefixes: str) -> list[Ref]:
    """Return the refs whose commit, or anything that it adds to its parents, is not in the repository."""
    listed = of_run(repository, *prefixes)
    every = [ref.commit for ref in listed]
    elsewhere = ("--not", "--exclude=santiago/*", "--branches")
    if not listed or _is_whole(repository, every, elsewhere):
        return []
    return [ref for ref in listed if not _is_whole(repository, [ref.commit], ("--not", f"{ref.commit}^@"))]


def _is_whole(repository: Repository, commits: Sequence[str], without: Sequence[str]) -> bool:
    walk = ("rev-list", "--objects", "--quiet", "--stdin", *without)
    return repository.on_refs(*walk, stdin="\n".join([*commits, ""]).encode(), accept=(0, 128)).code == 0


def delete(repository: Repository, listed: Sequence[Ref]) -> None:
    """Delete refs in one transaction, each only if it is still at its commit."""
    if listed:
        orders = "".join(f"delete {ref.name} {ref.commit}\n" for ref in listed)
        repository.on_refs("update-ref", "--stdin", stdin=orders.encode())


def of_run(repository: Repository, *prefixes: str) -> list[Ref]:
    """Return the refs of these names, or below them."""
    return _read(repository.on_refs(*_LIST, *prefixes).text)


def _read(listed: str) -> list[Ref]:
    return [Ref(name, commit) for commit, _, name in (line.partition(" ") for line in listed.splitlines())]
