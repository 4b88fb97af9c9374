"""The refs that keep a run's attempts: listed, and deleted when a person prunes the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from santiago.workspace.repository import Repository

_BASE, _TESTS = "base", "tests"
"""End the names of refs that keep an attempt's base, where that was made for it, and the tests alone that it wrote."""


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
    for commit, name in _listed(repository, f"{prefix}/"):
        *_, story, attempt = name.split("/")
        number, _, more = attempt.partition("-")
        if not more:
            found.append(AttemptRef(name, commit, story, int(number)))
    return found


def used(repository: Repository) -> set[str]:
    """Return the ids under which runs have worked: with attempts, or a branch elsewhere than where a run would begin.

    A branch that stands just there may be left from a start that died before it recorded anything.
    """
    heads, found = "refs/heads/santiago/", set()
    for commit, name in _listed(repository, heads, "refs/santiago/"):
        run, _, deeper = name.removeprefix(heads).removeprefix("refs/santiago/").partition("/")
        if deeper or commit != repository.found.head:
            found.add(run)
    return found


def delete(repository: Repository, prefix: str) -> list[str]:
    """Delete all refs of a run, in one transaction, and return their names."""
    listed = _listed(repository, f"{prefix}/")
    if listed:
        orders = "".join(f"delete {name} {commit}\n" for commit, name in listed)
        repository.on_refs("update-ref", "--stdin", stdin=orders.encode())
    return [name for _, name in listed]


def _listed(repository: Repository, *prefixes: str) -> list[tuple[str, str]]:
    """Return the commit and the name of each ref."""
    lines = repository.on_refs("for-each-ref", "--format=%(objectname) %(refname)", *prefixes).text.splitlines()
    return [(commit, name) for commit, _, name in (line.partition(" ") for line in lines)]
