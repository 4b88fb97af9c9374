"""Which commit a name means, and whether one contains another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.workspace.inspect import ask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def resolve(repo: Path, name: str) -> str | None:
    """Return the commit that a name means; None if there is no such commit."""
    if name.startswith("-"):
        return None
    found = ask(repo, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", accept=(0, 1, 128))
    return found.text or None if found.code == 0 else None


def is_ancestor(repo: Path, commit: str, of: str) -> bool:
    """Tell whether a commit equals another one or is an ancestor of it."""
    return ask(repo, "merge-base", "--is-ancestor", commit, of, accept=(0, 1, 128)).code == 0


def independent(repo: Path, commits: Sequence[str]) -> list[str]:
    """Return the commits that no other of them contains, in the order in which they are given."""
    if len(commits) < 2:
        return list(commits)
    left = ask(repo, "merge-base", "--independent", *commits).text.split()
    return [commit for commit in dict.fromkeys(commits) if commit in left]


def same_tree(repo: Path, commit: str, other: str) -> bool:
    """Tell whether two commits hold the same files."""
    trees = [
        ask(repo, "rev-parse", "--verify", "--quiet", f"{one}^{{tree}}", accept=(0, 1, 128)) for one in (commit, other)
    ]
    return all(one.code == 0 for one in trees) and trees[0].text == trees[1].text


def adds_nothing(repo: Path, commit: str, to: str) -> bool:
    """Tell whether a commit holds no change since it left the history of another one."""
    left = ask(repo, "merge-base", commit, to, accept=(0, 1, 128))
    return left.code == 0 and same_tree(repo, commit, left.text)
