"""Applying a snapshot to a commit other than its base, without a working tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.record import lean

if TYPE_CHECKING:
    from santiago.workspace.repository import Repository


@lean(frozen=True)
class Applied:
    tree: str | None
    conflicts: tuple[str, ...] = ()


def apply(repository: Repository, onto: str, commit: str, base: str) -> Applied:
    """Return the tree of `onto` with the changes of a snapshot, or the files in conflict."""
    tree_onto, tree_base, tree = repository.trees(onto, base, commit)
    if tree_onto == tree_base:
        return Applied(tree)
    # A copy of `onto` that has the snapshot's base as its only parent. So git takes that base for the common ancestor,
    # and changes of other stories that are on both sides make no conflict.
    side = repository.commit(tree_onto, base, "side\n")
    answer = repository.on_objects(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", side, commit, writes=True, accept=(0, 1)
    )
    merged, *names = answer.out.decode("utf-8", "backslashreplace").rstrip("\0").split("\0")
    if answer.code == 1:
        return Applied(None, tuple(dict.fromkeys(name for name in names if name)))
    return Applied(merged)


def message(subject: str, trailers: tuple[tuple[str, str], ...]) -> str:
    """Return a commit message. Line breaks in the subject and the trailers are removed."""
    lines = [" ".join(subject.split())]
    if trailers:
        lines += ["", *(f"{key}: {' '.join(value.split())}" for key, value in trailers)]
    return "\n".join(lines) + "\n"
