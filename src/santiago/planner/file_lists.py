"""Read lists of files, such as the text behind `Files:`."""

from __future__ import annotations

from typing import NamedTuple

from santiago.contract.patterns import pattern
from santiago.planner.hints import TICKED, file_of, files_in, one_word, says_nothing

_ENTRY = pattern(r"(?:`[^`]*`|\{[^{}]*\}|[^,;、，；`{])+")
"""One entry of the list. A comma inside back-ticks or braces does not end it: `src/{a,b}.ts` is one entry."""
_NOTE = pattern(r"\s[（(][^()（）]*[)）]")
"""A remark in brackets behind a blank. The brackets of `app/(auth)/page.tsx` belong to the path."""
_JOINT = pattern(r"\s(?:and|und|et|och|en|и|y|e|&|\+)\s")
_FILE_NAME = pattern(r"[A-Z]\w*file|[A-Z]{5,}|\.\w[\w.-]*")
"""Names of files that have no ending, such as `Gemfile`, `LICENSE`, `.npmrc`."""


class Listed(NamedTuple):
    paths: list[str]
    left: list[str]
    """Entries that name no file."""


def listed_files(text: str) -> list[str]:
    """Return the files in a list whose label may also announce other things: a bare name needs a known file ending."""
    return _read(text, every=False).paths


def behind_files(text: str) -> Listed:
    """Return the files in a list that can only be a list of files: every entry of one word is a path, whatever its ending.

    A word such as `gradlew` counts only if another entry is surely a path. Alone it may be a word such as `various`.
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
            continue  # in `a.py: the parser, the lexer` the later entries describe a.py
        elif every and alone and (word := _possible_path(entry)):
            (found or likely).append(word)
        else:
            left.append(entry)
    return Listed(list(dict.fromkeys([*found, *files_in(text)])), [*likely, *left])


def _paths(entry: str, *, every: bool) -> list[str]:
    """Return the paths that one entry certainly names."""
    tokens = TICKED.findall(entry) or entry.split()
    if every and ("`" in entry or len(tokens) == 1):
        return list(filter(None, (file_of(token) or _certain_path(token) for token in tokens))) or files_in(entry)
    found = list(filter(None, map(file_of, tokens)))
    return found if "`" in entry or len(found) == len(tokens) else files_in(entry) or found


def _certain_path(token: str) -> str | None:
    path = _possible_path(token)
    return path if path and ("/" in path or "." in path[1:-1] or _FILE_NAME.fullmatch(path)) else None


def _possible_path(token: str) -> str | None:
    """Return the word if it may be a path inside the repository, else None."""
    path = one_word(token)
    if path is None or path.startswith("/") or ".." in path.split("/") or not any(map(str.isalpha, path)):
        return None
    return path
