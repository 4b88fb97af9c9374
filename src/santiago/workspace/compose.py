"""A commit made of two others: one as a whole, some of its paths as they are in the other."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from santiago.workspace.folders import Folders
    from santiago.workspace.repository import Repository

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
