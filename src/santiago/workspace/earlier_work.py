"""What a commit holds of earlier runs: single stories, as commit messages tell, or a whole branch."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.errors import SantiagoError
from santiago.contract.ids import is_run_id, is_story_id
from santiago.contract.lazy_regex import pattern
from santiago.workspace.git import call, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEEPEST = 5000
"""How many commits of a history are read for their messages."""
MOST_COMMITS = 500
"""How many commits since the beginning of a run are searched for its changes."""
_SAYS = pattern(
    r"^[ \t]*(?:Santiago-(Run|Story|Content): (\S{1,100})|This (reverts) commit ([0-9a-f]{7,64}))", re.MULTILINE
)
"""Indented lines match too: a squash merge puts several messages into its own, and some programs indent them."""
_RAW = ("--raw", "--no-abbrev", "--no-renames", "-z")


class Landed(NamedTuple):
    """A story that an earlier run finished."""

    run: str
    story: str
    content: str
    """Digest of what it asked for."""
    commit: str


class History(NamedTuple):
    """The stories that the history of a commit names, the newest first."""

    landed: list[Landed]
    reverted: list[Landed]
    """The stories whose commits were reverted."""


def stories(repo: Path, commit: str) -> History:
    """Return the stories that the history of a commit names, with those that were reverted apart."""
    walk = ("rev-list", "--no-commit-header", f"--max-count={DEEPEST}", "--format=%H%n%B%x00", commit)
    told = call(walk, environment(), repo).out.decode("utf-8", "replace")
    reverted: list[str] = []
    found: dict[tuple[str, str], Landed] = {}
    gone: list[Landed] = []
    for entry in told.split("\0"):
        name, _, message = entry.strip("\n").partition("\n")
        if name and name.startswith(tuple(reverted)):
            gone += [one for one in _named(message, name) if (one.run, one.story) not in found]
            continue
        reverted += [match[4] for match in _SAYS.finditer(message) if match[3]]
        for one in _named(message, name):
            found.setdefault((one.run, one.story), one)
    return History(list(found.values()), gone)


def _named(message: str, commit: str) -> Iterator[Landed]:
    said = {"Run": "", "Story": ""}
    for match in _SAYS.finditer(message):
        key, value = match[1], match[2]
        if key == "Content" and is_run_id(said["Run"]) and is_story_id(said["Story"]):
            yield Landed(said["Run"], said["Story"], value, commit)
        elif key:
            said[key] = value


def holds(repo: Path, commit: str, head: str) -> bool:
    """Tell whether a commit holds all changes of a branch, whether merged, squashed or cherry-picked."""
    try:
        base = _git(repo, "merge-base", commit, head).decode().strip()
        if base == head:
            return True
        brought = set(_changes(_git(repo, "diff-tree", "-r", *_RAW, base, head)))
        if not brought:
            return False
        since = set(_changes(_since(repo, base, commit, "--format=", *_RAW)))
        return brought <= since or _has_patch(repo, commit, base, head)
    except SantiagoError:  # the branch and its commits are gone, or too much was changed to be compared
        return False


def brought(repo: Path, base: str, head: str) -> list[str]:
    """Return the files that `head` changed since its merge base with `base`."""
    return [
        os.fsdecode(path)
        for path in _git(repo, "diff", "--name-only", "-z", "--no-renames", f"{base}...{head}").split(b"\0")
        if path
    ]


def _since(repo: Path, base: str, commit: str, *shown: str) -> bytes:
    """Return the commits since a base, each compared with its first parent."""
    newest = (f"--max-count={MOST_COMMITS}", "--first-parent", "-m")
    return _git(repo, "-c", "log.showSignature=false", "log", *newest, *shown, f"{base}..{commit}")


def _changes(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each changed path with the name of its new content."""
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if field.lstrip().startswith(b":"):
            yield next(fields, b""), field.split()[3]


def _has_patch(repo: Path, commit: str, base: str, head: str) -> bool:
    """Tell whether one commit since the base makes exactly the changes of the whole branch, as a squash merge does."""
    wanted = _patch_ids(repo, _git(repo, "diff-tree", "-p", "--no-renames", base, head))
    each = _since(repo, base, commit, "--format=commit %H", "-p", "--no-renames")
    return bool(wanted) and wanted <= _patch_ids(repo, each)


def _patch_ids(repo: Path, patches: bytes) -> set[bytes]:
    told = call(("patch-id", "--stable"), environment(), repo, stdin=patches).out if patches else b""
    return {line.split()[0] for line in told.splitlines() if line}


def _git(repo: Path, *arguments: str) -> bytes:
    return call(arguments, environment(), repo).out
