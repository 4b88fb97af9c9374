"""Everything that was found in one unit. Several kinds of text may be its criteria; `Gathered.criteria` chooses."""

from __future__ import annotations

import re
from dataclasses import field

from santiago.contract.patterns import pattern
from santiago.contract.record import lean
from santiago.planner import words
from santiago.planner.commands import Found
from santiago.planner.draft import Dep, DraftCriterion, Hint
from santiago.planner.markdown.labels import clean

_OWN_ID = pattern(
    r"^[*_`\[]*((?:AC|CA|KA|CS|AK)[-_ ]?\d+(?:[.\-]\d+)*|#\d+|(?:AC|CA)-[A-Z]+-?\d+)[*_`\]]*\s*[:：.)\-–—]*\s*[*_]*\s*",
    re.IGNORECASE,
)
_SAYS_WHAT_FOLLOWS = pattern(r"\b(?:then|shall|alors|entonces|então|dann)\b|→|->|,\s*the\b", re.IGNORECASE)


@lean()
class _Draft:
    """One criterion. Its parts are joined only at the end, which keeps the time linear."""

    parts: list[str]
    line: int
    id: str | None
    complete: bool
    """The sentence already says what follows, as in `When …, then …` or an EARS line."""


@lean()
class Criteria:
    """A list of criteria that is still growing. A Given begins a criterion; When and Then continue it."""

    drafts: list[_Draft] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.drafts)

    def add(self, raw: str, line: int) -> None:
        """Begin a criterion. An id at its beginning is the criterion's id."""
        own = _OWN_ID.match(raw)
        text = (clean(raw[own.end() :]) if own else "") or clean(raw)
        self.drafts.append(_Draft([text], line, own[1].strip() if own else None, bool(_SAYS_WHAT_FOLLOWS.search(text))))

    def go_on(self, raw: str) -> None:
        """Add a text to the last criterion, if there is one."""
        if self.drafts:
            text = clean(raw)
            self.drafts[-1].parts.append(text)
            self.drafts[-1].complete |= bool(_SAYS_WHAT_FOLLOWS.search(text))

    def given_when_then(self, raw: str, line: int) -> bool:
        """Add a Given, When or Then line that begins or continues a criterion, and tell whether it was one."""
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
    """Tell whether a line begins with Then, And or the like. `E-mail` and `I see` only look like it."""
    match = words.THEN.match(raw)
    return match is not None and raw[match.end() - 1] in "*_:, \t" and not raw.startswith("I ")


@lean()
class Gathered:
    """Everything found in one unit. Possible criteria are kept apart by how they were written."""

    labelled: Criteria = field(default_factory=Criteria)
    scenarios: Criteria = field(default_factory=Criteria)
    success: Criteria = field(default_factory=Criteria)
    spoken: Criteria = field(default_factory=Criteria)
    """Paragraphs under a criteria label. They are criteria if no list follows."""
    runs: Criteria = field(default_factory=Criteria)
    """What `Run: …` and `Expected: …` say. They are criteria rather than the steps around them."""
    boxes: Criteria = field(default_factory=Criteria)
    checks: Criteria = field(default_factory=Criteria)
    """Bullets under a verification label that are more than a command."""
    bullets: Criteria = field(default_factory=Criteria)
    described: Criteria = field(default_factory=Criteria)
    """Bullets under a description. They are criteria only if the unit has nothing else."""
    keyed: int = 0
    """How many of the bullets are `Key: value`."""
    item_fields: int = 0
    """How many items are fields with a known name."""
    is_section: bool = False
    """The unit is a heading with its section. There a list of `Key: value` is usually a form, not criteria."""
    ticked: list[bool] = field(default_factory=list)
    deps: list[Dep] = field(default_factory=list)
    covers: list[Hint] = field(default_factory=list)
    files: list[Hint] = field(default_factory=list)
    verify: list[Hint] = field(default_factory=list)
    unread: list[Hint] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    unknown_labels: list[tuple[int, str]] = field(default_factory=list)

    def field(self, concept: str | None, text: str) -> None:
        """Keep the text of a field. The first field of a name counts."""
        if concept and (said := text.strip(" *_`.")):
            self.fields.setdefault(concept, said)

    def take(self, checks: Found) -> None:
        self.verify += checks.taken
        self.unread += checks.left

    @property
    def criteria(self) -> list[DraftCriterion]:
        """The criteria that the author marked most clearly; empty if none are marked."""
        marked = (self.labelled, self.scenarios, self.spoken, self.success, self.runs, self.boxes, self.checks)
        return next((criteria.done() for criteria in marked if criteria), [])

    @property
    def implied(self) -> list[DraftCriterion]:
        """The plain bullets, unless all of them are fields."""
        if self.bullets and self.keyed == len(self.bullets) and self.item_fields > (0 if self.is_section else 1):
            return []
        return (self.bullets or self.described).done()
