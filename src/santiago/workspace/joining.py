"""Commits made of others without a working tree: a snapshot applied, some paths taken from another, two lines of work joined."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.workspace.ancestry import is_ancestor
from santiago.workspace.git import call, environment
from santiago.workspace.inspect import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from santiago.workspace.folders import Folders
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


_FILE, _PROGRAM = b"100644", b"100755"


def compose(
    repository: Repository,
    folders: Folders,
    commits: tuple[str, str],
    paths: Sequence[str],
    contents: Mapping[str, bytes],
    message: str = "",
) -> str:
    """Return a commit like the first one, but with `paths` as in the second (or removed), and with these `contents`."""
    onto, other = commits
    folders.temporary.mkdir(parents=True, exist_ok=True)
    index = folders.temporary / f"index-{uuid.uuid4().hex}"
    try:
        repository.on_objects("read-tree", onto, index=index)
        there = _entries(repository, other, paths)
        modes = _modes(repository, index, contents)
        gone = b"0 " + repository.zero.encode() + b"\t"
        # Removals first: a file may stand where the other commit has a folder.
        lines = [gone + os.fsencode(path) for path in (*paths, *contents)]
        lines += [entry for path in paths if (entry := there.get(os.fsencode(path)))]
        for path, content in contents.items():
            made = repository.on_objects(
                "hash-object", "-w", "--no-filters", "--stdin", stdin=content, writes=True
            ).text
            mode = modes.get(os.fsencode(path), _FILE)
            lines.append(b"%b %b\t%b" % (mode, made.encode(), os.fsencode(path)))
        listing = b"".join(line + b"\0" for line in lines)
        repository.on_objects("update-index", "--replace", "-z", "--index-info", index=index, stdin=listing)
        tree = repository.on_objects("write-tree", index=index, writes=True).text
    finally:
        index.unlink(missing_ok=True)
    return repository.commit(tree, onto, message or "Composed for a verdict\n")


def _modes(repository: Repository, index: Path, paths: Iterable[str]) -> dict[bytes, bytes]:
    """Return the modes of these files in an index, so that an executable file stays executable."""
    names = tuple(paths)
    if not names:
        return {}
    listed = repository.on_objects("--literal-pathspecs", "ls-files", "--stage", "-z", "--", *names, index=index).out
    entries = (line.partition(b"\t") for line in listed.split(b"\0") if line.startswith(_PROGRAM))
    return {path: _PROGRAM for _, _, path in entries}


def _entries(repository: Repository, commit: str, paths: Sequence[str]) -> dict[bytes, bytes]:
    """Return the entries of paths in a commit, as an index takes them."""
    wanted = {os.fsencode(path) for path in paths}
    found: dict[bytes, bytes] = {}
    for line in repository.on_objects("ls-tree", "-r", "-z", commit).out.split(b"\0") if wanted else ():
        head, _, path = line.partition(b"\t")
        if path in wanted:
            mode, _, name = head.split(b" ")
            found[path] = b"%b %b\t%b" % (mode, name, path)
    return found


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
