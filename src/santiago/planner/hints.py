"""What a line of text tells about a unit: the ids it depends on, and the files it names."""

from __future__ import annotations

import re
from functools import lru_cache

from santiago.contract.patterns import pattern
from santiago.planner import ids, words
from santiago.planner.draft import Dep
from santiago.planner.known_tools import EXTENSIONS
from santiago.planner.markdown.outline import Block

_RANGE = pattern(
    r"(?P<a>(?<![\w-])[A-Za-z][\w-]{0,20}?\d{1,9}|\d+(?:\.\d+)?)\s*(?:\.\.+|…|–|—|\bto\b|\bthrough\b|-)\s*(?P<b>[A-Za-z][\w-]{0,20}?\d{1,9}|\d+(?:\.\d+)?)(?![\w.])"
)
_LIST_GLUE = pattern(
    r"\b(?:and|or|und|et|y|e|och|en|и|tasks?|stor(?:y|ies)|requirements?|issues?|steps?|phases?|epics?|all|of|plus|units?|completed?|completion|done|finished|merged|closed|is|are|be|being|must|has|have|to|should|the|first|only|tickets?)\b|以及|和|と|및|[\s,;&+/、，()\[\]{}\"'`*_.#→]+",
    re.IGNORECASE,
)
_UNIT_WORDS = pattern(words.any_of(words.UNIT_WORDS), re.IGNORECASE)
_DEPENDS_WORDS = words.any_of(
    word for word, said in words.LABELS.items() if said == "depends" and word not in {"after", "needs", "requires"}
)
_INLINE = pattern(
    rf"[(\[{{（]\s*(?:(?P<plainly>{_DEPENDS_WORDS})|(?:after|needs|requires|dep)\b)"
    r"\s*[:：]?\s*(?P<bracket>[^)\]}）(\[{（]+)[)\]}）]"
    rf"|(?<![\w*])[*_]*+(?:{_DEPENDS_WORDS})"
    r"[*_]*\s*[:：][*_]*\s*(?:\[(?P<flow>[^\]]*)\]|(?P<colon>[^.;。；|]*(?:\.\d[^.;|]*)*))",
    re.IGNORECASE,
)
_OPENS = pattern(r"[(:：\[（]")
"""Without one of these nothing is declared inside a sentence."""
_GROUP = pattern(r"\b(Phase|Epic|Milestone|Sprint|Stage|Wave)\s+(\w*\d\w*|N)\b", re.IGNORECASE)
_PLAIN = pattern(r"[A-Z]{1,8}-?\d{1,6}(?:, [A-Z]{1,8}-?\d{1,6})*")
"""Ids and commas and nothing else, as most authors write it: nothing to expand or to doubt."""
_BRACKETS = pattern(r"[（(][^()（）]*[)）]")
_PART = pattern(r"[,;、，；&+|]|\s+[-–—]\s+|\.(?=\s|$)|\s(?:and|und|et|och|en|и|y|e)\s", re.IGNORECASE)
MAX_RANGE = 1000
"""Ids that one range may stand for; more is a typing error."""


def targets(text: str) -> tuple[list[str], bool]:
    """Return the ids that a dependency field names, and whether it says nothing else besides."""
    found = named(text)
    names = [name for name, _ in found]
    return names, says_nothing(text) or (all(sure for _, sure in found) and not _unread(_expanded(text), names))


@lru_cache(maxsize=1024)
def named(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the ids that a dependency field names, each with whether its part of the list says nothing else.

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
        names = _names_in(part)
        sure = not _unread(part, names)
        for name in names:
            found[name.lstrip("#")] = found.get(name.lstrip("#"), False) or sure
    return tuple(found.items())


def _expanded(text: str) -> str:
    """Return a list of ids with its ranges spelled out and its brackets opened."""
    return _RANGE.sub(_listed, _BRACKETS.sub(_opened, text.replace("*", "")))


def _names_in(part: str) -> list[str]:
    """Return the ids of one part; a phase keeps its word, since its number alone would name a unit."""
    groups = [" ".join(found.groups()) for found in _GROUP.finditer(part)]
    rest = _GROUP.sub(" ", part)
    return [*groups, *(name for name in ids.mentioned(rest) if ids.prefix_of(name) not in ids.DENIED)]


def says_nothing(part: str) -> bool:
    return words.normal(part.strip(" .;")) in words.NONE_WORDS or not part.strip(" .;*_-–—")


def _unread(part: str, names: list[str]) -> str:
    """Return what is left of a text without its ids and the words that join them."""
    left = ids.without(_GROUP.sub(" ", part), set(names))
    return _LIST_GLUE.sub("", _UNIT_WORDS.sub(" ", re.sub(r"\.\.+|[-–—…:：]|\bto\b|\bthrough\b", " ", left)))


def _opened(bracket: re.Match[str]) -> str:
    """Return a bracket as parts of the list where it holds ids alone, and nothing where it holds none."""
    names = ids.mentioned(bracket[0])
    if not names:
        return " "
    return bracket[0] if _unread(bracket[0], names) else f", {bracket[0][1:-1]}, "


def _listed(found: re.Match[str]) -> str:
    """Return the ids from `T006` to `T011` (or `T6` to `11`) with commas, or the text itself where this is no range."""
    a, b = re.fullmatch(r"(.*?)(\d+)", found["a"]), re.fullmatch(r"(.*?)(\d+)", found["b"])
    if a is None or b is None or (b[1] and a[1].upper() != b[1].upper()):
        return found[0]
    low, high = int(a[2]), int(b[2])
    if not low < high <= low + MAX_RANGE or (not a[1] and a[2].startswith("0") != b[2].startswith("0")):
        return found[0]
    return ", ".join(f"{a[1]}{number:0{len(a[2])}d}" for number in range(low, high + 1))


def covered(text: str) -> list[str]:
    """Return the requirements that a task says it covers; `10全体` and `all of 10` mean 10."""
    return targets(re.sub(r"(?<=\d)(?=[^\W\d_a-zA-Z])", " ", text))[0]


def field_deps(text: str, line: int, carrier: str) -> list[Dep]:
    """Return the dependencies that a labelled field declares; prose around them makes them mere mentions."""
    if _names_nothing(text):
        return [Dep(target=" ".join(text.split()), line=line, carrier="unclear")]
    return [Dep(target=name, line=line, carrier=carrier if sure else "prose") for name, sure in named(text)]


def _names_nothing(text: str) -> bool:
    """Tell whether a field says something, and that is neither an id nor that there is nothing."""
    if named(text) or not _unread(text, []):
        return False
    first_part, first_word = _PART.split(_expanded(text))[0], text.split(maxsplit=1)[0]
    return not says_nothing(first_part) and not says_nothing(first_word)  # `None required` says it too


def inline_deps(block: Block) -> list[Dep]:
    """Return the dependencies that stand inside a sentence in brackets, or behind a label with a colon."""
    text = block.text
    if not _OPENS.search(text):
        return []
    return [dep for match in _INLINE.finditer(text) for dep in _inline(block, match)]


def _inline(block: Block, match: re.Match[str]) -> list[Dep]:
    at, bracket = match.start(), match["bracket"]
    line = block.line_of(at)
    deps = field_deps(bracket or match["flow"] or match["colon"] or "", line, "inline")
    # `(requires a login)` and `these dependencies: a, b` in the midst of a line are sentences like any other.
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
    """Return a token without its quotes and line numbers, or None where no path is written like this."""
    path = _LINES.sub("", token.strip().rstrip(".,;:")).strip("`'\"")
    if not path or "://" in path or not _NAMED.match(path) or path.startswith(("@", "~", "$", "-")):
        return None
    return path


def file_of(token: str) -> str | None:
    """Return the path that a token names, or None where it is a URL, a route, a package or a plain word."""
    path = one_word(token)
    if path is None:
        return None
    name = path.rsplit("/", 1)[-1]
    outside = path.startswith("/") or ".." in path.split("/")
    return path if name in _SPECIAL or (not outside and _names_a_file(path, name)) else None


def _names_a_file(path: str, name: str) -> bool:
    known = "." in name.lstrip(".") and name.rsplit(".", 1)[-1].lower() in EXTENSIONS
    if "/" in path:
        return known or "*" in name or (path.endswith("/") and not path.startswith("api/"))
    return known and "(" not in path


def files_in(text: str) -> list[str]:
    """Return the files that a text names in back-ticks, or bare with a folder and an ending."""
    if "`" not in text and "/" not in text:
        return []
    found = [path for token in TICKED.findall(text) if (path := file_of(token))]
    if "/" in text:
        found += [path for token in _BARE.findall(TICKED.sub(" ", text)) if (path := file_of(token))]
    return found
