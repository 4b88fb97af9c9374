"""Commits as git keeps them, made by hand: a few lines of text, whose name is their hash."""

from __future__ import annotations

import hashlib
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator

_LATEST = 4102444799
"""The last second of 2099. Git computes time zones only for the years 1970 to 2099, and `git fsck` refuses what it gets else."""
_CRUD = " .,:;\"\\'"
"""What git strips from the ends of names and addresses."""


def content(tree: str, parent: str, identity: tuple[str, str], message: str) -> bytes:
    """Return a commit of this moment. A clock outside of the years that git knows counts as the nearest second of them."""
    name, mail = (part.strip(_CRUD) for part in identity)
    now = min(max(0, int(time.time())), _LATEST)
    who = f"{name} <{mail}> {now} {time.strftime('%z', time.localtime(now))}"
    lines = (f"tree {tree}", f"parent {parent}", f"author {who}", f"committer {who}", "", message.replace("\0", ""))
    return "\n".join(lines).encode("utf-8", "replace")


def name(commit: bytes, object_format: str) -> str:
    """Return the name that git will give to a commit."""
    return hashlib.new(object_format, b"commit %d\0%b" % (len(commit), commit), usedforsecurity=False).hexdigest()


@contextmanager
def as_file(commit: bytes) -> Iterator[str]:
    """Lend a commit as a file, which is how a git process that stays takes it."""
    with guarding(tempfile.gettempdir()), tempfile.NamedTemporaryFile(prefix="commit-", buffering=0) as file:
        file.write(commit)
        yield file.name
