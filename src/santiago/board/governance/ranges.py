"""Asks git about a change: its two commits, the files that differ, and the governance files of each commit."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.scenarios import CATALOGUE
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import guarding
from santiago.workspace.git import call, environment
from santiago.workspace.inspect import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = (TRUTH, CATALOGUE)
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
    """Return the commit that a branch, tag or id names; raise where there is none."""
    found = ask(
        project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", accept=(0, 1, 128)
    )
    if found.code:
        hint = "Name a commit, branch or tag of this repository; a shallow clone may lack it."
        raise SantiagoError(Kind.INPUT, f"there is no commit {ref!r}", hint=hint, reason=Reason.INVALID_INPUT)
    return found.text


def head_of(project: Path) -> str | None:
    """Return the commit that is checked out; None outside a repository, and before the first commit."""
    found = ask(project, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1, 128))
    return None if found.code else found.text


def changed_files(project: Path, base: str, head: str) -> tuple[str, ...]:
    """Return the files that differ between two commits, by their paths in the project."""
    found = ask(project, *_LIST, base, head)
    return tuple(sorted(name.decode("utf-8", "backslashreplace") for name in found.out.split(b"\0") if name))


@contextmanager
def governance_at(project: Path, commit: str) -> Iterator[Path]:
    """Provide the governance files of a commit in a temporary folder. Links are left out."""
    listed = ask(project, "ls-tree", "-r", "-z", commit, "--", *FOLDERS)
    found = [row.partition(b"\t") for row in listed.out.split(b"\0") if row]
    blobs = {name.decode("utf-8", "replace"): head.split()[2] for head, _, name in found if head.startswith(b"100")}
    with TemporaryDirectory(prefix="santiago-governance-") as folder, guarding(folder):
        for name, content in zip(blobs, _contents(project, list(blobs.values())), strict=True):
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield Path(folder)


def _contents(project: Path, blobs: list[bytes]) -> Iterator[bytes]:
    """Yield the contents of git's blobs, in the same order."""
    if not blobs:
        return
    out = call(("cat-file", "--batch"), environment(home=True), project, stdin=b"\n".join(blobs) + b"\n").out
    place = 0
    for _ in blobs:
        end = out.index(b"\n", place)
        size = int(out[place:end].split()[2])
        yield out[end + 1 : end + 1 + size]
        place = end + size + 2  # git adds a line end after each blob
