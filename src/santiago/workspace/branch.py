"""The run's branch. It is moved only from the commit where it is expected, and never while it is checked out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.workspace.repository import Repository

_HEADS = ("HEAD", "rebase-merge/head-name", "rebase-apply/head-name")
"""Files of a working tree that name the branch it is on, or will come back to."""


def begin(repository: Repository, ref: str, commit: str) -> str:
    """Make a branch where there is none, and return its head."""
    head = repository.resolve(ref)
    if head is None:
        repository.move(ref, commit, repository.zero)
    return head or commit


def advance(repository: Repository, ref: str, old: str, new: str) -> str:
    """Move a branch from one commit to another and return its head."""
    holder = _holder(repository, ref)
    if holder is not None:
        name = ref.removeprefix("refs/heads/")
        raise SantiagoError(
            Kind.BLOCKED, f"the branch {name} is checked out here, so santiago cannot move it", where=str(holder),
            hint="Switch to another branch there (`git switch -`), then `santiago resume`.", reason=Reason.NEEDS_USER_CONFIRMATION,
        )  # fmt: skip
    try:
        repository.move(ref, new, old)
    except SantiagoError as error:
        landed = _landed(repository, ref, old, new) if error.kind is Kind.BLOCKED else None
        if landed is None:
            raise
        return landed
    return new


def _landed(repository: Repository, ref: str, old: str, new: str) -> str | None:
    """Return the branch's head if the branch was already moved: santiago died before it could record that. Else None."""
    head = repository.resolve(ref)
    if head is None or head == new:
        return head
    parent = repository.parent(head)
    return head if parent == old and len(set(repository.trees(head, new))) == 1 else None


def _holder(repository: Repository, ref: str) -> Path | None:
    """Return the working tree that is on a branch; None where there is none."""
    common = repository.common
    if (common / "reftable").is_dir():
        return _holder_by_git(repository, ref)
    for place in (common, *sorted((common / "worktrees").glob("*"))):
        for name in _HEADS:
            if _first_line(place / name).removeprefix("ref: ") == ref:
                return Path(_first_line(place / "gitdir")).parent if place != common else _main_tree(repository)
    return None


def _main_tree(repository: Repository) -> Path:
    common = repository.common
    return common.parent if common.name == ".git" else common


def _holder_by_git(repository: Repository, ref: str) -> Path | None:
    entries = repository.on_refs("worktree", "list", "--porcelain").text.split("\n\n")
    for entry in entries:
        lines = entry.splitlines()
        if f"branch {ref}" in lines:
            return Path(lines[0].removeprefix("worktree "))
    return None


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")[0]
    except OSError:
        return ""
