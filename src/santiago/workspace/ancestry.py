"""Which commit a name means, and whether one contains another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.workspace.inspect import ask

if TYPE_CHECKING:
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
