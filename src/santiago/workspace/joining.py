"""One commit that holds two lines of work, made without any working tree."""

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
    merge = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    answer = call(merge, env, repo, accept=(0, 1))
    tree, *names = os.fsdecode(answer.out).rstrip("\0").split("\0")
    if answer.code:
        files = ", ".join(dict.fromkeys(name for name in names if name))
        raise SantiagoError(
            Kind.BLOCKED, f"the work of the run and your branch conflict in {files}", reason=Reason.WORKSPACE_CONFLICT
        )
    return call(("commit-tree", tree, "-p", ours, "-p", theirs, "-m", message), env, repo).text
