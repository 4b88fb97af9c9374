"""Lists of files: what stands behind `Files:` and similar labels, entry by entry."""

from __future__ import annotations

from typing import NamedTuple

from santiago.contract.patterns import pattern
from santiago.planner.hints import TICKED, file_of, files_in, one_word, says_nothing

_ENTRY = pattern(r"(?:`[^`]*`|\{[^{}]*\}|[^,;、，；`{])+")
"""Up to a comma that stands neither in back-ticks nor in braces: `src/{a,b}.ts` is one."""
_NOTE = pattern(r"\s[（(][^()（）]*[)）]")
"""A remark in brackets; `app/(auth)/page.tsx` holds none."""
_JOINT = pattern(r"\s(?:and|und|et|och|en|и|y|e|&|\+)\s")
_FILE_NAME = pattern(r"[A-Z]\w*file|[A-Z]{5,}|\.\w[\w.-]*")
"""`Gemfile`, `LICENSE`, `.npmrc`: files without an ending by custom."""


class Listed(NamedTuple):
    """What a list of files holds."""

    paths: list[str]
    left: list[str]
    """Entries that name no file."""


def listed_files(text: str) -> list[str]:
    """Return the files that a list names, bare names with a known ending too; for labels that may announce other things."""
    return _read(text, every=False).paths


def behind_files(text: str) -> Listed:
    """Return the files of a list that is plainly one of files: every entry of one word is a path, whatever its ending.

    A word that could be any other (`gradlew`) counts where a path stands beside it; alone it may say `various`.
    """
    return _read(text, every=True)


def _read(text: str, *, every: bool) -> Listed:
    found: list[str] = []
    left: list[str] = []
    likely: list[str] = []
    described = False
    entries = [raw.strip() for raw in _ENTRY.findall(_JOINT.sub(", ", _NOTE.sub("", text)))]
    for entry in (entry for entry in entries if not says_nothing(entry)):
        alone = len(entry.split()) == 1
        if paths := _paths(entry, every=every):
            described = described or not alone
            found += [*likely, *paths]
            likely = []
        elif described:
            continue  # what follows `a.py: the parser, the lexer` describes it
        elif every and alone and (word := _path(entry)):
            (found or likely).append(word)
        else:
            left.append(entry)
    return Listed(list(dict.fromkeys([*found, *files_in(text)])), [*likely, *left])


def _paths(entry: str, *, every: bool) -> list[str]:
    """Return the paths that one entry surely names."""
    tokens = TICKED.findall(entry) or entry.split()
    if every and ("`" in entry or len(tokens) == 1):
        return list(filter(None, (file_of(token) or _sure(token) for token in tokens))) or files_in(entry)
    found = list(filter(None, map(file_of, tokens)))
    return found if "`" in entry or len(found) == len(tokens) else files_in(entry) or found


def _sure(token: str) -> str | None:
    path = _path(token)
    return path if path and ("/" in path or "." in path[1:-1] or _FILE_NAME.fullmatch(path)) else None


def _path(token: str) -> str | None:
    """Return a word that may be a path of the repository."""
    path = one_word(token)
    if path is None or path.startswith("/") or ".." in path.split("/") or not any(map(str.isalpha, path)):
        return None
    return path
