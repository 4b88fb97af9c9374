"""Criteria while they are being read: a Given opens one, When and Then and wrapped lines go on with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from santiago.contract.patterns import pattern
from santiago.planner import words
from santiago.planner.draft import DraftCriterion
from santiago.planner.markdown.labels import clean

_OWN_ID = pattern(
    r"^[*_`\[]*((?:AC|CA|KA|CS|AK)[-_ ]?\d+(?:[.\-]\d+)*|#\d+|(?:AC|CA)-[A-Z]+-?\d+)[*_`\]]*\s*[:：.)\-–—]*\s*[*_]*\s*",
    re.IGNORECASE,
)
_SAYS_WHAT_FOLLOWS = pattern(r"\b(?:then|shall|alors|entonces|então|dann)\b|→|->|,\s*the\b", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    """One criterion; its parts are joined only at the end, so that a long one costs no more than its length."""

    parts: list[str]
    line: int
    id: str | None
    complete: bool
    """A When sentence that already says what follows, as an EARS line does."""


@dataclass(slots=True)
class Criteria:
    """A list of criteria that is still growing."""

    drafts: list[_Open] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.drafts)

    def add(self, raw: str, line: int) -> None:
        """Begin a criterion; an id at its head is its own."""
        own = _OWN_ID.match(raw)
        text = (clean(raw[own.end() :]) if own else "") or clean(raw)
        self.drafts.append(_Open([text], line, own[1].strip() if own else None, bool(_SAYS_WHAT_FOLLOWS.search(text))))

    def go_on(self, raw: str) -> None:
        """Add to the last criterion, if there is one."""
        if self.drafts:
            text = clean(raw)
            self.drafts[-1].parts.append(text)
            self.drafts[-1].complete |= bool(_SAYS_WHAT_FOLLOWS.search(text))

    def given_when_then(self, raw: str, line: int) -> bool:
        """Take a Given, When or Then line, and tell whether it was one that begins or continues a criterion."""
        if words.GIVEN.match(raw):
            self.add(raw, line)
            return True
        last = self.drafts[-1] if self.drafts else None
        if last is None or not (
            words.GIVEN.match(last.parts[0]) or (words.WHEN.match(last.parts[0]) and not last.complete)
        ):
            return False
        if _continues(raw) or (words.WHEN.match(raw) and not last.complete):
            self.go_on(raw)
            return True
        return False

    def done(self) -> list[DraftCriterion]:
        return [DraftCriterion(text=" ".join(draft.parts), line=draft.line, id=draft.id) for draft in self.drafts]


def _continues(raw: str) -> bool:
    """Tell whether a line opens with Then, And or the like; `E-mail` and `I see` only look so."""
    match = words.THEN.match(raw)
    return match is not None and raw[match.end() - 1] in "*_:, \t" and not raw.startswith("I ")
