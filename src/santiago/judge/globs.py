"""Matching paths of a repository: globs with `**`, and a story's own list of files."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PIECE = re.compile(r"\*\*/?|[*?]|\[[^\]\n]+\]|\{[^{}]*\}|.", re.DOTALL)
_PLAIN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs means this path."""
    return _any_of(tuple(globs)).match(path) is not None


def names(files: Iterable[str], path: str) -> bool:
    """Whether a list of files names a path: exactly, by a folder, or by a glob that begins with a plain name.

    A glob that could mean anything (`**/*.py`) says where a story may work, and names no file.
    """
    plain = (file.strip().removeprefix("./").rstrip("/") for file in files)
    return matches(path, (file for file in plain if file not in {"", "."} and not is_wild(file.partition("/")[0])))


def is_wild(text: str) -> bool:
    return any(sign in text for sign in "*?[{")


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for many globs: a tree of thousands of files is matched against all of them."""
    return re.compile("|".join(map(_pattern, globs)) or r"(?!)", re.DOTALL)


def _pattern(glob: str) -> str:
    """Return a glob as a pattern: `**` crosses folders, `*` does not, `{a,b}` is either; a folder is all below it."""
    glob = glob.strip().removeprefix("./").rstrip("/")
    return "".join(map(_piece, _PIECE.findall(glob))) + r"(?:/.*)?\Z"


def _piece(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        return fnmatch.translate(piece)[4:-3]  # without what stands around the one set of signs
    if piece.startswith("{") and len(piece) > 1:
        return f"(?:{'|'.join(map(re.escape, piece[1:-1].split(',')))})"
    return _PLAIN.get(piece) or re.escape(piece)
