"""Matching paths of a repository: globs with `**`, and a story's own list of files."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from functools import cache

from santiago.contract.lazy_regex import pattern

_PIECE = pattern(r"\*\*/?|[*?]|\[[^\]\n]+\]|\{[^{}]*\}|.", re.DOTALL)
_PLAIN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, globs: Iterable[str]) -> bool:
    """Tell whether one of the globs matches this path."""
    return _any_of(tuple(globs)).match(path) is not None


def among(paths: Iterable[str], globs: Iterable[str]) -> Iterator[str]:
    """Yield the paths that one of the globs matches. Many paths are matched like this, since many globs take time to look up."""
    found = _any_of(tuple(globs)).match
    return (path for path in paths if found(path))


def names(files: Iterable[str], path: str) -> bool:
    """Tell whether a list of files names a path: exactly, by a folder, or by a glob that begins with a plain name.

    A glob that could match anything (`**/*.py`) says where a story may work, but names no file.
    """
    plain = (file.strip().removeprefix("./").rstrip("/") for file in files)
    return matches(path, (file for file in plain if file not in {"", "."} and not is_wild(file.partition("/")[0])))


def is_wild(text: str) -> bool:
    return any(sign in text for sign in "*?[{")


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for many globs, since trees of thousands of files are matched against all of them."""
    return re.compile("|".join(map(_pattern, globs)) or r"(?!)", re.DOTALL)


def _pattern(glob: str) -> str:
    """Return a glob as a pattern: `**` crosses folders, `*` does not, `{a,b}` is either. A folder matches all below it."""
    glob = glob.strip().removeprefix("./").rstrip("/")
    return "".join(map(_piece, _PIECE.findall(glob))) + r"(?:/.*)?\Z"


def _piece(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        return fnmatch.translate(piece)[4:-3]  # without what `translate` puts around the character set
    if piece.startswith("{") and len(piece) > 1:
        return f"(?:{'|'.join(map(re.escape, piece[1:-1].split(',')))})"
    return _PLAIN.get(piece) or re.escape(piece)
