"""What git knows of a change: its two commits, the files between them, and how a file was before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.board.governance.documents import MOST
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.workspace.inspect import ask

if TYPE_CHECKING:
    from pathlib import Path

_LIST = (
    "diff-tree",
    "-r",
    "--name-only",
    "--relative",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--ignore-submodules=none",
)


def commit_of(project: Path, ref: str) -> str:
    """Return the commit that a name leads to; raise where there is none."""
    found = ask(
        project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", accept=(0, 1, 128)
    )
    if found.code:
        hint = "Name a commit, branch or tag of this repository; a shallow clone may lack it."
        raise SantiagoError(Kind.INPUT, f"there is no commit {ref!r}", hint=hint, reason=Reason.INVALID_INPUT)
    return found.text


def head_of(project: Path) -> str | None:
    """Return the commit that the project stands on; None outside a repository, and before the first commit."""
    found = ask(project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1, 128))
    return None if found.code else found.text


def changed_files(project: Path, base: str, head: str) -> tuple[str, ...]:
    """Return the files of the project that differ between two commits, by their paths in it."""
    found = ask(project, *_LIST, base, head)
    return tuple(sorted(name.decode("utf-8", "backslashreplace") for name in found.out.split(b"\0") if name))


def text_at(project: Path, commit: str, name: str) -> str | None:
    """Return a file's text as a commit has it; None where that has no such file, or too large a one."""
    found = ask(project, "cat-file", "blob", f"{commit}:./{name}", accept=(0, 128))
    return None if found.code or len(found.out) > MOST else found.out.decode("utf-8", "replace")
