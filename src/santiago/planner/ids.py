"""Requirement ids: what counts as an id, how to find it in a text, and how ids sort.

FR-2 < FR-10     1.2 < 1.10     T105 < T105a < T106     16 < 16A < 17     M1.2 < M2.1
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import words

DENIED = words.spaced(
    "GPT SHA UTF AES RFC ISO CVE ERC EIP BIP PEP JEP XLS HTTP WCAG RSA MD ES IPV X BASE H W L I V WEEK DAY Q"
)
"""Prefixes of algorithms, standards, models and quarters: `SHA-256` looks like an id but is none."""

SIDE = words.spaced(
    "ADR DEC D KPI SC SM MET METRIC SLO SLI G NG GOAL NONGOAL O OBJ OKR KR UC CU Q OQ RISK RK RSK MIT A AS ASM ASSUMPTION C CON LIM"
    " DEP PRE RES SUP CONST RST LIMIT M MS EC BR RN TC TEST UJ J PERSONA STK OOS FIG TAB SECTION APPENDIX OPTION OPT"
)
"""Prefixes of lists beside the plan (decisions, metrics, goals, use cases, rules, questions): never units."""

LOOKALIKES = words.spaced("E2E P2P B2B B2C C2C I18N L10N A11Y K8S OAUTH1 OAUTH2 HTML5 CSS3 WEB3 MP3 MP4 X509")
"""Words with a number in them that are not ids."""

_UPPER = "A-ZÀ-ÖØ-ÞА-ЯЁІЇЄ"
_LETTER = "A-Za-z0-9À-ÖØ-öø-ÿА-яЁёІіЇїЄє"
_PREFIXED = rf"[{_UPPER}][{_LETTER}]{{0,11}}(?:[-_][{_UPPER}][{_LETTER}]{{0,11}}){{0,3}}[-_]?\d+[A-Za-z]?(?:[.-]\d+[a-z]?){{0,3}}(?:-[A-Z](?!\w))?"
_DOTTED = r"\d+(?:\.\d+)+[A-Za-z]?"
_SLUG = r"\d{1,3}-[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6}"
_LEAD = r"[^\w\[\]#&(<\"'`]*+"
_PREFIXED_FIRST = pattern(_LEAD + r"[*_`\[#]*(" + _PREFIXED + r")(?![\w])")
_SPACED_FIRST = pattern(_LEAD + r"[*_`\[]*((?:US|HU|FR|NFR|RF|RNF|REQ|Req) \d+(?:\.\d+)*[A-Za-z]?)(?![\w])")
_DOTTED_FIRST = pattern(_LEAD + r"[*_`\[]*(" + _DOTTED + r")(?![\w])")
_NUMBER_FIRST = pattern(_LEAD + r"[*_`\[]*(\d{1,4}[A-Za-z]?)[.):\]]*(?:[*_]+|(?=[\s`])|$)")
_WORD_FIRST = pattern(
    _LEAD + r"[*_`\[]*(" + words.any_of(words.UNIT_WORDS) + r")"
    r"(?!(?<=[A-Za-z])[A-Za-z])\s*[#№]?\s*((?:[A-Z]{1,3}-)?[A-Za-z]{0,3}\d+[A-Za-z]?(?:[.\-]\d+[A-Za-z]?)*)(?![\w])",
    re.IGNORECASE,
)
_JOINT = pattern(r"^[*_`\]]*[\s*_\]]*(?:[:：.)\-–—|·]+(?=[\s*_`]|$)|[:：])?[\s*_]*")
_LINKED = pattern(r"^([^\[\]]*)\]\([^()\s]*\)")
"""The end of a link that begins before an id: `[US-001 Login](login.md)`."""
_SLUG_FIRST = pattern(_LEAD + r"[*_`\[]*(" + _SLUG + r")[*_`\]]*(?=\s*(?:[:：]|[-–—]+\s)|$)")
_ANY = pattern(r"(?<![\w.\-/])(" + _PREFIXED + r"|" + _DOTTED + r"|" + _SLUG + r"|#?\d+[A-Za-z]?)(?![\w])")
_SIMPLE = pattern(r"([^\W\d_]+)[-_]?\d+(?:\.\d+)*[A-Za-z]?")
_NUMBER = pattern(r"\d+[A-Z]?(?:\.\d+[A-Z]?)*")
_PART = pattern(r"(?<=\d)-[A-Z]$")
"""The last letter of P1-0-A, which is a part of P1-0."""
_RANGE = pattern(
    r"(?i)[*_`\s]*(?:\.\.+|[-…–—~〜～]|to|through|thru|a|al|à|até|bis|tot|till?|do|до|至|到|から)[*_`\s]*("
    + _PREFIXED
    + r")(?![\w])",
)
_FILLERS = pattern(r"[\s\-_#]+")
_RUNS = pattern(r"\d+|[^\d\s.\-_#]+")


class Found(NamedTuple):
    """An id at the beginning of a text."""

    id: str
    kind: str
    """`prefix`, `dotted`, `number`, `slug` (01-enums), or the unit word in front of it (`story`, `task`, `requirement`, …)."""
    rest: str
    """The text behind the id: the title."""

    @property
    def prefix(self) -> str:
        return prefix_of(self.id) if self.kind == "prefix" else self.kind

    @property
    def only_counts(self) -> bool:
        """The id is a mere number; chapters and steps have such numbers, too."""
        return self.kind in ("number", "dotted")


def name(found: Found | None) -> str:
    """Return the id itself, or an empty text if there is none."""
    return found.id if found else ""


@lru_cache(maxsize=1 << 17)
def prefix_of(identifier: str) -> str:
    """Return the part before the number: `FR` of FR-001, `TS-IAM` of TS-IAM-001."""
    if simple := _SIMPLE.fullmatch(identifier):
        return simple[1].upper()
    parts = re.split(r"[-_ ]", _PART.sub("", identifier.upper()))
    named = parts
    while len(named) > 1 and _NUMBER.fullmatch(named[-1]):
        named = named[:-1]
    if len(named) == len(parts) or len(named) == 1:
        named = [*named[:-1], re.split(r"\d", named[-1])[0]]
    return "-".join(part for part in named if part)


def lead(text: str) -> Found | None:
    """Return the id at the beginning of a text. A unit word may come before it: `Story 1.1`."""
    if found := _WORD_FIRST.match(text):
        return Found(found[2], words.UNIT_WORDS[found[1].lower()], _behind(text, found.end()))
    if found := _PREFIXED_FIRST.match(text):
        if text.startswith(".*", found.end()) and not text.lstrip().startswith("*"):
            return None  # `T4.*` means all ids that begin with T4
        if prefix_of(found[1]) in DENIED or found[1].upper() in LOOKALIKES or is_range(text, found):
            return None
        return Found(found[1], "prefix", _behind(text, found.end()))
    for first, kind in ((_SPACED_FIRST, "prefix"), (_DOTTED_FIRST, "dotted"), (_NUMBER_FIRST, "number")):
        if found := first.match(text):
            return Found(found[1], kind, _behind(text, found.end()))
    if "-" in text[:8] and (found := _SLUG_FIRST.match(text)):
        return Found(found[1], "slug", _behind(text, found.end()))
    return None


def is_range(text: str, found: re.Match[str] | None = None) -> bool:
    """Tell whether a text begins with a range, such as `RF-01 a RF-20`, which mentions many ids and defines none."""
    found = found or _PREFIXED_FIRST.match(text)
    last = _RANGE.match(text, found.end()) if found else None
    return bool(found and last and last[1] != found[1] and prefix_of(last[1]) == prefix_of(found[1]))


def heading_lead(text: str) -> Found | None:
    """Return the id at the beginning of a heading. A section number may come before it: `3.1 FR-1: Login`."""
    found = lead(text)
    if found is None or not found.only_counts:
        return found
    inner = lead(found.rest)
    if inner is None or inner.only_counts:
        return found
    joint = found.rest[found.rest.find(inner.id) + len(inner.id) :].lstrip("*_` ")
    return inner if joint[:1] in tuple(":：-–—.)") else found


def _behind(text: str, end: int) -> str:
    rest = _LINKED.sub(r"\1", text[end:])
    return rest[_JOINT.match(rest).end() :]  # type: ignore[union-attr]  # every part of the pattern is optional


def mentioned(text: str) -> list[str]:
    return [m[1] for m in _ANY.finditer(text)]


def without(text: str, names: set[str]) -> str:
    """Return a text with these ids replaced by blanks."""
    return _ANY.sub(lambda found: " " if found[1] in names or found[1].lstrip("#") in names else found[0], text)


def natural(identifier: str) -> tuple[tuple[int, int, str], ...]:
    """Return the sort key of an id: numbers sort by value, letters regardless of case."""
    return tuple((0, int(run), "") if run.isdigit() else (1, 0, run.upper()) for run in _RUNS.findall(identifier))


def fold(identifier: str) -> str:
    """Return one form for all spellings of an id: `US1` = `us-1`, but `T001` ≠ `T1`."""
    if identifier.isalnum():
        return identifier.upper()
    return _FILLERS.sub("", identifier).upper().rstrip(".")
