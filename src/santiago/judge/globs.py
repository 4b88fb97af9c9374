"""Matching paths of a repository: globs with `**`, and a story's own list of files."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs means this path."""
    return _any_of(tuple(globs)).match(path) is not None


def names(files: Iterable[str], path: str) -> bool:
    """Whether a list of files names a path: exactly, by a folder, or by a glob that begins with a plain name.

    A glob that could mean anything (`**/*.py`) says where a story may work, and names no file.
    """
    for file in files:
        plain = file.strip().removeprefix("./").rstrip("/")
        if not plain or plain == "." or is_wild(plain.partition("/")[0]):
            continue
        if path == plain or path.startswith(plain + "/") or (is_wild(plain) and matches(path, (plain,))):
            return True
    return False


def is_wild(text: str) -> bool:
    return any(sign in text for sign in "*?[{")


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for many globs: a tree of thousands of files is matched against all of them."""
    return re.compile("|".join(map(_pattern, globs)) or r"(?!)", re.DOTALL)


def _pattern(glob: str) -> str:
    """Return a glob as a pattern: `**` crosses folders, `*` does not, `{a,b}` is either; a folder is all below it."""
    glob = glob.strip().removeprefix("./")
    glob = glob + "**" if glob.endswith("/") else glob
    text = ""
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            text, at = text + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            text, at = text + ".*", at + 2
        else:
            piece, at = _piece(glob, at)
            text += piece
    return text + r"\Z"


def _piece(glob: str, at: int) -> tuple[str, int]:
    sign = glob[at]
    if sign in "*?":
        return ("[^/]*" if sign == "*" else "[^/]"), at + 1
    end = glob.find({"[": "]", "{": "}"}.get(sign, "\0"), at + 2)
    if sign == "[" and end > 0:
        return _one_of(glob[at + 1 : end]), end + 1
    if sign == "{" and end > 0:
        choices = "|".join(re.escape(choice) for choice in glob[at + 1 : end].split(","))
        return f"(?:{choices})", end + 1
    return re.escape(sign), at + 1


def _one_of(signs: str) -> str:
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", signs)
    pattern = f"[{'^' + inner[1:] if inner.startswith('!') else inner}]"
    try:
        re.compile(pattern)
    except re.error:  # a range that runs backwards means nothing but itself
        return re.escape(f"[{signs}]")
    return pattern
