"""One commit that holds two lines of work, made without any working tree; and where two lines do not fit together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.workspace.ancestry import is_ancestor
from santiago.workspace.git import call, environment
from santiago.workspace.inspect import find

if TYPE_CHECKING:
    from pathlib import Path


def joined(repo: Path, ours: str, theirs: str, message: str) -> str:
    """Return a commit that holds both: one of them if it contains the other, else a merge. Raise if they conflict."""
    if is_ancestor(repo, theirs, ours):
        return ours
    if is_ancestor(repo, ours, theirs):
        return theirs
    name, mail = find(repo).identity
    env = environment() | {
        "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail,
    }  # fmt: skip
    tree, files = _merged(repo, ours, theirs)
    if files:
        told = f"the work of the run and your branch conflict in {', '.join(files)}"
        raise SantiagoError(Kind.BLOCKED, told, reason=Reason.WORKSPACE_CONFLICT)
    return call(("commit-tree", tree, "-p", ours, "-p", theirs, "-m", message), env, repo).text


def conflicts(repo: Path, ours: str, theirs: str) -> list[str]:
    """Return the files in which two commits conflict; empty if they fit together, or if git cannot tell."""
    try:
        return _merged(repo, ours, theirs)[1]
    except SantiagoError:
        return []


def unmerged(repo: Path) -> list[str]:
    """Return the files in a working tree whose conflicts nobody has resolved yet."""
    try:
        found = call(("diff", "--name-only", "-z", "--diff-filter=U"), environment(), repo).out
    except SantiagoError:
        return []
    return [name for name in os.fsdecode(found).split("\0") if name]


def _merged(repo: Path, ours: str, theirs: str) -> tuple[str, list[str]]:
    """Return the tree of a merge, and the files that conflict in it."""
    merge = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    answer = call(merge, environment(), repo, accept=(0, 1))
    tree, *names = os.fsdecode(answer.out).rstrip("\0").split("\0")
    return tree, list(dict.fromkeys(name for name in names if name)) if answer.code else []
