"""Submodules of the base. Git must never look into their folders, since it would run programs that are set there.

`git add` starts `git status` inside a submodule, which reads that folder's own configuration and runs its filters. So
git is told to skip these entries, and santiago itself reads what became of a submodule's folder.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.util import regular

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.workspace.repository import Repository

_MODE = b"\0\0\xe0\0"
"""Mode 160000 as an index holds it. Other bytes may look the same, so git is asked to confirm a match."""
_HASH = pattern("[0-9a-f]{40}|[0-9a-f]{64}")
_MOST = 4096


@lean(frozen=True)
class Gitlink:
    path: bytes
    commit: str


def fence(repository: Repository, index: Path) -> None:
    """Mark the submodules of an index so that git leaves their folders alone. Costs nothing if there are none."""
    links = listed(repository, index)
    if links:
        names = b"".join(link.path + b"\0" for link in links)
        repository.on_objects("update-index", "-z", "--skip-worktree", "--stdin", index=index, stdin=names)


def listed(repository: Repository, index: Path) -> list[Gitlink]:
    """Return the submodules of an index."""
    if _MODE not in index.read_bytes():
        return []
    entries = repository.on_objects("ls-files", "-s", "-z", index=index, accept=(0, 128)).out.split(b"\0")
    heads = [(entry.partition(b"\t")) for entry in entries if entry.startswith(b"160000 ")]
    return [Gitlink(path, head.split()[1].decode()) for head, _, path in heads]


def gone(folder: Path, links: list[Gitlink]) -> list[Gitlink]:
    """Return the submodules whose folder is deleted, or holds plain files, which then belong to the attempt."""
    return [link for link in links if _is_gone(_at(folder, link))]


def moved(folder: Path, links: list[Gitlink]) -> list[Gitlink]:
    """Return the submodules whose folder is now at another commit, each with that commit."""
    found = []
    for link in links:
        commit = _head(_at(folder, link))
        if commit and commit != link.commit and len(commit) == len(link.commit):
            found.append(Gitlink(link.path, commit))
    return found


def edits(links: list[Gitlink], *, remove: bool) -> bytes:
    """Return these entries as input of `git update-index --index-info`."""
    return b"".join(_edit(link, remove=remove) for link in links)


def _edit(link: Gitlink, *, remove: bool) -> bytes:
    head = f"0 {'0' * len(link.commit)}" if remove else f"160000 {link.commit}"
    return head.encode() + b"\t" + link.path + b"\0"


def _at(folder: Path, link: Gitlink) -> bytes:
    return os.path.join(os.fsencode(folder), link.path)  # noqa: PTH118  # bytes


def _is_gone(path: bytes) -> bool:
    try:
        names = os.listdir(path) if stat.S_ISDIR(os.lstat(path).st_mode) else [b"a file"]  # noqa: PTH208  # bytes
    except OSError:
        return True
    return bool(names) and b".git" not in names


def _head(path: bytes) -> str | None:
    """Return the commit that a submodule's folder is at, by what the folder says. It is used only as an id."""
    inside = os.path.join(path, b".git")  # noqa: PTH118  # bytes
    pointer = _small(inside)
    if pointer.startswith(b"gitdir: "):
        inside = os.path.join(path, pointer[8:].strip())  # noqa: PTH118  # bytes
    head = _small(os.path.join(inside, b"HEAD"))  # noqa: PTH118  # bytes
    if head.startswith(b"ref: refs/heads/"):
        head = _small(os.path.join(inside, head[5:].strip()))  # noqa: PTH118  # bytes
    text = head.strip().decode("ascii", "replace")
    return text if _HASH.fullmatch(text) else None


def _small(path: bytes) -> bytes:
    return regular.content(path, _MOST) or b""
