"""Read from a line of text the ids that a unit depends on, and the files that it names or lists."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import ids, words
from santiago.planner.draft import Dep
from santiago.planner.markdown.outline import Block

_EXTENSIONS = words.spaced("""
py pyi ts tsx js jsx mjs cjs vue svelte go rs java kt kts swift c h cc cpp hpp cs rb php ex exs erl hs scala clj dart
lua r jl sql sh bash zsh ps1 md mdx rst txt json jsonc json5 yaml yml toml ini cfg env xml html htm css scss sass less
proto graphql gql tf hcl prisma feature ipynb lock gradle cmake mk svg csv tsv zig nix sol astro hbs ejs
""")

_RANGE = pattern(
    r"(?P<a>(?<![\w-])[A-Za-z][\w-]{0,20}?\d{1,9}|\d+(?:\.\d+)?)\s*(?:\.\.+|…|–|—|\bto\b|\bthrough\b|-)\s*(?P<b>[A-Za-z][\w-]{0,20}?\d{1,9}|\d+(?:\.\d+)?)(?![\w.])"
)
_LIST_GLUE = pattern(
    r"(?i)\b(?:and|or|und|et|y|e|och|en|и|tasks?|stor(?:y|ies)|requirements?|issues?|steps?|phases?|epics?|all|of|plus|units?|completed?|completion|done|finished|merged|closed|is|are|be|being|must|has|have|to|should|the|first|only|tickets?)\b|以及|和|と|및|[\s,;&+/、，()\[\]{}\"'`*_.#→]+",
)
_UNIT_WORDS = pattern(rf"(?:{words.any_of(words.UNIT_WORDS)})s?", re.IGNORECASE)
_DEPENDS_WORDS = words.any_of(
    word for word, said in words.LABELS.items() if said == "depends" and word not in {"after", "needs", "requires"}
)
_SAID = r"(?:[^.;。；|\s]|\s(?![*_]*[^\W\d_][^\d.;:：|,(]{0,30}[:：]))*"  # up to the next label
_INLINE = pattern(
    rf"(?i)[(\[{{（]\s*(?:(?P<plainly>{_DEPENDS_WORDS})|(?:after|needs|requires|dep)\b)"
    r"\s*[:：]?\s*(?P<bracket>[^)\]}）(\[{（]+)[)\]}）]"
    rf"|(?<![\w*])(?<!not )[*_]*+(?:{_DEPENDS_WORDS})"
    rf"[*_]*\s*[:：][*_]*\s*(?:\[(?P<flow>[^\]]*)\]|(?P<colon>{_SAID}(?:\.\d{_SAID})*))",
)
_OPENS = pattern(r"[(:：\[（]")
"""A sentence without one of these characters declares no dependency."""
_GROUP = pattern(r"(?i)\b(Phase|Epic|Milestone|Sprint|Stage|Wave)\s+(\w*\d\w*|N)\b")
_PLAIN = pattern(r"[A-Z]{1,8}-?\d{1,6}(?:, [A-Z]{1,8}-?\d{1,6})*")
"""Ids and commas only, as most authors write it: there are no ranges to expand and no other words to judge."""
_BRACKETS = pattern(r"[（(][^()（）]*[)）]")
_PART = pattern(r"(?i)[,;、，；&+|·]|\s+[-–—]\s+|\.(?=\s|$)|\s(?:and|und|et|och|en|и|y|e)\s")
MAX_RANGE = 1000
"""The most ids that a range such as `T1-T9` may stand for; a larger range is a typing error."""


def targets(text: str) -> tuple[list[str], bool]:
    """Return the ids that a dependency field names, and whether the field holds nothing but these ids."""
    found = named(text)
    names = [name for name, _ in found]
    return names, says_nothing(text) or (all(sure for _, sure in found) and not _other_words(_expanded(text), names))


@lru_cache(maxsize=1024)
def named(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the ids that a dependency field names, each with True if its part of the list holds nothing else.

    `T004 complete, database configured` surely names T004; `the schema that T004 needs` only mentions it.
    """
    if _PLAIN.fullmatch(text) and ids.DENIED.isdisjoint(map(ids.prefix_of, text.split(", "))):
        return tuple((name, True) for name in dict.fromkeys(text.split(", ")))
    found: dict[str, bool] = {}
    for part in _PART.split(_expanded(text)):
        if says_nothing(part):
            if not found and part.strip():
                return ()
            continue
        rest = _GROUP.sub(" ", part)  # `Phase 2` is kept as it is, since `2` alone would name a unit
        names = [" ".join(group.groups()) for group in _GROUP.finditer(part)]
        names += [name for name in ids.mentioned(rest) if ids.prefix_of(name) not in ids.DENIED]
        sure = not _other_words(part, names)
        for name in names:
            found[name.lstrip("#")] = found.get(name.lstrip("#"), False) or sure
    return tuple(found.items())


def _expanded(text: str) -> str:
    """Return a list of ids with its ranges spelled out and its brackets removed."""
    return _RANGE.sub(_range_as_list, _BRACKETS.sub(_without_brackets, text.replace("*", "")))


def says_nothing(part: str) -> bool:
    return words.normal(part.strip(" .;")) in words.NONE_WORDS or not part.strip(" .;*_-–—")


def _other_words(part: str, names: list[str]) -> str:
    """Return what remains of a text without its ids and the words that join them."""
    left = ids.without(_GROUP.sub(" ", part), set(names))
    return _LIST_GLUE.sub("", _UNIT_WORDS.sub(" ", re.sub(r"\.\.+|[-–—…:：]|\bto\b|\bthrough\b", " ", left)))


def _without_brackets(bracket: re.Match[str]) -> str:
    """Replace a bracket: if it holds only ids, by the ids; if it holds none, by a blank; else make it a part of its own."""
    names = ids.mentioned(bracket[0])
    if not names:
        return " "
    return f", {bracket[0] if _other_words(bracket[0], names) else bracket[0][1:-1]}, "


def _range_as_list(found: re.Match[str]) -> str:
    """Return all ids of a range such as `T006-T011` or `T6-11`, with commas; or the text itself if it is no range."""
    a, b = re.fullmatch(r"(.*?)(\d+)", found["a"]), re.fullmatch(r"(.*?)(\d+)", found["b"])
    if a is None or b is None or (b[1] and a[1].upper() != b[1].upper()):
        return found[0]
    low, high = int(a[2]), int(b[2])
    if not low < high <= low + MAX_RANGE or (not a[1] and a[2].startswith("0") != b[2].startswith("0")):
        return found[0]
    return ", ".join(f"{a[1]}{number:0{len(a[2])}d}" for number in range(low, high + 1))


def covered(text: str) -> list[str]:
    """Return the requirements that a task says it covers. `10全体` and `all of 10` mean 10."""
    return targets(re.sub(r"(?<=\d)(?=[^\W\d_a-zA-Z])", " ", text))[0]


def field_deps(text: str, line: int, carrier: str) -> list[Dep]:
    """Return the dependencies that a labelled field declares. An id among other words is only mentioned (`prose`)."""
    if not named(text) and any(map(str.isalnum, text)):
        first_part, first_word = _PART.split(_expanded(text))[0], text.split(maxsplit=1)[0]
        if says_nothing(first_part) or says_nothing(first_word):  # `None required` also means none
            return []
        return [Dep(target=" ".join(text.split()), line=line, carrier="unclear")]
    return [Dep(target=name, line=line, carrier=carrier if sure else "prose") for name, sure in named(text)]


def inline_deps(block: Block) -> list[Dep]:
    """Return the dependencies inside a sentence: in brackets, or behind a label with a colon."""
    text = block.text
    if not _OPENS.search(text):
        return []
    return [dep for match in _INLINE.finditer(text) for dep in _inline(block, match)]


def _inline(block: Block, match: re.Match[str]) -> list[Dep]:
    at, bracket = match.start(), match["bracket"]
    line = block.line_of(at)
    deps = field_deps(bracket or match["flow"] or match["colon"] or "", line, "inline")
    # `(requires a login)`, or `these dependencies: a, b` in the middle of a line, is an ordinary sentence.
    plainly = match["plainly"] or (not bracket and (at == 0 or block.line_of(at - 1) < line))
    return [dep for dep in deps if plainly or dep.carrier != "unclear"]


TICKED = pattern(r"`([^`\n]+)`")
_BARE = pattern(r"(?<![\w`/@:.\-])((?:\.{0,2}/)?(?:[\w.@\-]+/)+[\w.\-*\[\]]+\.\w{1,8})(?![\w/])")
_LINES = pattern(r":\d+(?:[-:]\d+)*$")
_NAMED = pattern(r"[\w./@\-*\[\]{},()+~$]+$")
_SPECIAL = frozenset(
    {"Dockerfile", "Makefile", "Justfile", "Procfile", ".gitignore", ".env", ".env.example", "LICENSE"}
)


def one_word(token: str) -> str | None:
    """Return a token without its quotes and line numbers, or None if it cannot be a path."""
    path = _LINES.sub("", token.strip().rstrip(".,;:")).strip("`'\"")
    if not path or "://" in path or not _NAMED.match(path) or path.startswith(("@", "~", "$", "-")):
        return None
    return path


def file_of(token: str) -> str | None:
    """Return the path that a token names, or None if it is a URL, a route, a package or an ordinary word."""
    path = one_word(token)
    if path is None:
        return None
    name = path.rsplit("/", 1)[-1]
    outside = path.startswith("/") or ".." in path.split("/")
    known = "." in name.lstrip(".") and name.rsplit(".", 1)[-1].lower() in _EXTENSIONS
    in_folder = known or "*" in name or (path.endswith("/") and not path.startswith("api/"))
    named = in_folder if "/" in path else known and "(" not in path
    return path if name in _SPECIAL or (named and not outside) else None


def files_in(text: str) -> list[str]:
    """Return the files that a text names: in back-ticks, or bare with a folder and an ending."""
    if "`" not in text and "/" not in text:
        return []
    found = [path for token in TICKED.findall(text) if (path := file_of(token))]
    if "/" in text:
        found += [path for token in _BARE.findall(TICKED.sub(" ", text)) if (path := file_of(token))]
    return found


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
    tokens = TICKED.findall(entry) or entry.split()
    if every and ("`" in entry or len(tokens) == 1):
        return list(filter(None, map(_certain_path, tokens))) or files_in(entry)
    found = list(filter(None, map(file_of, tokens)))
    return found if "`" in entry or len(found) == len(tokens) else files_in(entry) or found


def _certain_path(token: str) -> str | None:
    if named := file_of(token):
        return named
    path = _possible_path(token)
    return path if path and ("/" in path or "." in path[1:-1] or _FILE_NAME.fullmatch(path)) else None


def _possible_path(token: str) -> str | None:
    """Return the word if it may be a path inside the repository, else None."""
    path = one_word(token)
    if path is None or path.startswith("/") or ".." in path.split("/") or not any(map(str.isalpha, path)):
        return None
    return path
