"""The lists of units that a document offers; and those by id: headings, items and bold paragraphs that begin with an id and say what it stands for.

Here is also decided where a unit ends, and which group it belongs to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Offer
from santiago.contract.record import lean
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence, Standing
from santiago.planner.draft import PLANNED, Document, by_key
from santiago.planner.markdown.carriers import CRITERION_PREFIXES, carrier, chunk_of, indexes, is_group, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind, any_within
from santiago.planner.source import Source, Zone, labelled_id
from santiago.planner.words import spaced

_PLACEHOLDER = pattern(r"(?i)[\[<{][a-z][a-z /_-]{2,40}[\]>}]")
"""A placeholder: `As a [user], I want to [action]` is a template."""


@lru_cache(maxsize=1)
def view_of(source: Source) -> View:
    return View(source)


class View:
    """A source with further views that several modules need. Each view is computed once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.blocks = source.outline.blocks
        self.ends = source.outline.ends

    @cached_property
    def criteria_marks(self) -> list[int]:
        """The blocks that announce or begin acceptance criteria."""
        return [index for index, block in enumerate(self.blocks) if marks_criteria(block)]

    def explicit(self, carriers: Iterable[Carrier]) -> bool:
        owners = [any_within(self.criteria_marks, made.at, made.end) for made in carriers]
        return sum(owners) * 2 >= len(owners) > 0

    @cached_property
    def stories(self) -> list[int]:
        """The blocks that are As-a sentences. Half sentences count in story sections, if the document has no boxes of work."""
        places = indexes(self.source, Kind.HEADING, Kind.ITEM, Kind.PARA)
        found = [index for index in places if words.is_story(self.blocks[index].text)]
        told = [index for index in found if len(_PLACEHOLDER.findall(self.blocks[index].text)) < 2]
        halves = [index for index in sorted({*places} - {*found}) if self._is_half(index)]
        enough = len(told) + len(halves) > 2 and not self._boxes
        return sorted([*told, *halves]) if enough else told

    def _is_half(self, index: int) -> bool:
        block = self.blocks[index]
        if block.kind is Kind.HEADING or not words.tells_story(block.text):
            return False
        path = self.source.outline.path(index)
        return any(words.matches(self.blocks[heading].text, words.STORY_SECTIONS) for heading in path)

    @cached_property
    def group_labels(self) -> list[str | None]:
        """For each block, the phase or epic that a bold paragraph above it or an item around it names."""
        found: list[str | None] = []
        last: str | None = None
        for block in self.blocks:
            if block.kind is Kind.HEADING:
                last = None
            elif opens_group(block):
                last = label(block.lines[0])
            outer = self.blocks[block.parent].lines[0] if block.parent >= 0 else ""
            around = label(outer) if is_group(outer) else found[block.parent] if outer else None
            found.append(around or last)
        return found

    @cached_property
    def _boxes(self) -> list[int]:
        under = self.source.under_criteria
        return [index for index, block in enumerate(self.blocks) if block.box is not None and not under[index]]

    def holds_work(self, index: int) -> bool:
        """Tell whether a section has boxes that are no criteria: then these boxes are the work."""
        return any_within(self._boxes, index, self.ends[index])

    def tells_stories(self, carriers: Sequence[Carrier]) -> bool:
        """Tell whether at least half of these units are or contain an As-a sentence."""
        told = self.stories
        telling = sum(any_within(told, made.at, made.end) or words.is_story(made.title) for made in carriers)
        return telling * 2 >= len(carriers)


_KINDS = ("story", "requirement", "feature", "numbered", "other", "task", "phase", "chain", "table", "as-a")
_RANKS = {"plan": 4, "criteria": 3, "story": 2, "requirement": 1, "feature": 1, "task": 1}


@lean(frozen=True, eq=False)
class UnitList:
    """One list of units that the document offers."""

    view: View
    evidence: Evidence
    kind: str
    """One of `_KINDS`, or `plan`, `criteria`, `box`, `loose`."""
    name: str
    """What a person would call it: `FR-001 to FR-020`."""
    carriers: tuple[Carrier, ...]
    keys: frozenset[str]
    """The values of `--units` that select it."""
    explicit: bool = False
    """At least half of its units have labelled criteria."""
    repeated: tuple[int, ...] = ()
    """Places that only repeat one of its units."""
    headings: frozenset[str] = frozenset()
    """The ids that headings define, including headings that only group units."""
    build: Callable[[], Document] | None = None
    """How its document is made, if that differs from other lists."""

    @property
    def standing(self) -> Standing:
        kind = _KINDS.index(self.kind) if self.kind in _KINDS else 0
        planned = any(made.status in PLANNED for made in self.carriers)
        return Standing(planned, _RANKS.get(self.kind, 0), self.evidence, -kind, size=len(self.carriers))

    @property
    def offer(self) -> Offer:
        blocks = self.view.blocks
        lines = (blocks[self.carriers[0].at].line, max(blocks[made.end - 1].end for made in self.carriers))
        return Offer(name=self.name, units="", lines=lines, count=len(self.carriers))

    @property
    def cover(self) -> bytearray:
        return self.view.source.outline.cover((made.at, made.end) for made in self.carriers)

    def is_inside(self, other: UnitList) -> bool:
        """Tell whether most of its units are inside units of the other list."""
        cover = other.cover
        return sum(cover[made.at] for made in self.carriers) * 2 > len(self.carriers)

    def yields_to(self, other: UnitList) -> bool:
        """A list without criteria yields to a list with criteria that covers the same units."""
        if self.explicit or not other.explicit or self.evidence > Evidence.NAMED_HEADINGS:
            return False
        if other.is_inside(self):
            return other.evidence is Evidence.ROWS
        if self.kind == "story":
            named = other.evidence >= Evidence.NAMED_ITEMS
            return named and other.kind in ("requirement", "feature", "other", "task")
        if other.kind == "other" and other.evidence is Evidence.NAMED_HEADINGS:
            return self.evidence < Evidence.NAMED_HEADINGS
        return other.kind == "as-a" or (other.kind != "phase" and self.is_inside(other))


def opens_group(block: Block) -> bool:
    """Tell whether a heading or a bold paragraph names a phase or epic."""
    bold = block.kind is Kind.PARA and block.parent < 0 and block.text.startswith("**")
    return (bold or block.kind is Kind.HEADING) and is_group(block.text)


def marks_criteria(block: Block) -> bool:
    """Tell whether a block announces criteria, or is a criterion by its words (a Given)."""
    match block.kind:
        case Kind.HEADING:
            return words.concept(block.text) == "criteria"
        case Kind.PARA | Kind.ITEM:
            given = words.GIVEN.match(block.lines[0]) and words.OUTCOME.search(block.text)
            # Inside a unit, "Success Criteria" are the unit's; a section of that name is about the whole product.
            likely = (line for line in block.lines if len(line) <= 400 or ":" in line[:80] or "：" in line[:80])
            return bool(given) or any(read_label(line).concept in ("criteria", "success") for line in likely)
        case _:
            return False


# Lists by id

_KNOWN: dict[str, frozenset[str]] = {
    "story": spaced("US HU STORY USERSTORY USER-STORY UST HDU JS JTBD"),
    "nfr": spaced("NFR NF RNF NFA ENF KNF NR QR НФТ"),
    "requirement": spaced("FR REQ R RQ RF REQUIREMENT SRS SR UR FA EF KF FN FUNC FRQ PRD ФТ"),
    "feature": spaced("F FEAT FEATURE FT"),
    "task": spaced("T TASK TSK TK TODO ISSUE TICKET BUG WP WI"),
}
_GROUPS = spaced("E EP EPIC PHASE SPRINT MILESTONE WAVE STAGE STEP")
_WORDS = {"story": "story", "requirement": "requirement", "feature": "feature", "task": "task", "slug": "task"}
_TWO_PART = pattern(r"\D+\d+[-.]\d")


def kind_of(found: ids.Found) -> str | None:
    """Return the kind of list that an id belongs to: a known kind, `other`, `side`, or None if it is no unit's id."""
    if found.kind != "prefix":
        return _WORDS.get(found.kind)
    parts = found.prefix.split("-")
    if not CRITERION_PREFIXES.isdisjoint(parts):
        return None
    for kind, prefixes in _KNOWN.items():
        if found.prefix in prefixes or not prefixes.isdisjoint(parts):
            return kind
    if not ids.SIDE.isdisjoint(parts):
        return "side"
    if not _GROUPS.isdisjoint(parts):
        return None
    # `P1` is a priority or a persona; `P0-1` is the first requirement of priority P0.
    return None if found.prefix == "P" and not _TWO_PART.match(found.id) else "other"


def is_sure(found: ids.Found, kind: str) -> bool:
    """Tell whether an id alone shows that it is a requirement or story. `R1` may be a risk, `T1` a test."""
    return kind in ("story", "requirement", "nfr") and (found.kind != "prefix" or len(found.prefix) > 1)


def is_listlike(identifiers: list[str]) -> bool:
    """Tell whether ids count through a list (`R1, R2`) or are names (`S3, S4 and EC2`, `E2E`). A hyphen makes them a list."""
    hyphened = [name for name in identifiers if re.search(r"[-_.]\d", name)]
    if len(hyphened) * 2 >= len(identifiers):
        return True
    numbers = sorted({int(found[0]) for name in identifiers if (found := re.search(r"\d+", name))})
    return numbers[0] <= 1 or any(b - a == 1 for a, b in pairwise(numbers))


_JOINED = pattern(r"[*_`\])]*\s*(?:[:：.)|]|[-–—]\s)|[*`\]]+(?:\s|$)")
_ISSUE = pattern(r"(?i)[*_`\[]*(?:issue|ticket)s?\s*#")
_FORMER = pattern(
    r"(?i)[(\[](?:formerly|former|was|previously|ex|old|antes|vormals|ehemals|anciennement|bisher|旧)[\s:.-]+([^)\]]{1,40})[)\]]",
)


class Definition(NamedTuple):
    """A block that begins with an id and defines it."""

    at: int
    found: ids.Found
    kind: str


def definitions(view: View) -> list[Definition]:
    """Return every heading, item and paragraph that defines an id, in document order."""
    found = [
        d
        for d in _openings(view)
        if d.kind != "side" and (view.source.zones[d.at] != Zone.NEVER or is_sure(d.found, d.kind))
    ]
    found = _under_headings(view, found)
    aside = {d.at for d in found if _is_aside(view, d.at)}  # these count only where the id is defined nowhere else
    proper = {ids.fold(d.found.id) for d in found if d.at not in aside}
    found = [d for d in found if d.at not in aside or ids.fold(d.found.id) not in proper]
    tops = [at for at, block in enumerate(view.blocks) if block.kind is Kind.HEADING and block.level == 1]
    # The document's title is no unit if it has an id and other units follow.
    return found[1:] if len(found) > 1 and tops[-1:] == [found[0].at] else found


def side_lists(view: View) -> dict[str, list[Definition]]:
    """Return the lists that are never units (decisions, metrics, goals), by prefix."""
    found = by_key((d.found.prefix, d) for d in _openings(view) if d.kind == "side")
    return {prefix: members for prefix, members in found.items() if len({m.found.id for m in members}) > 1}


def _openings(view: View) -> Iterator[Definition]:
    """Yield the blocks that define the id at their beginning, with the kind of list."""
    for index, lead in view.source.named.items():
        block, kind = view.blocks[index], kind_of(lead)
        if kind is None or block.kind is Kind.ROW:
            continue
        if kind == "side" and block.box is not None and view.source.first_version:
            kind = "other"  # GSD gives every category of requirements a prefix, also RES and TEST
        if block.kind is Kind.HEADING or _defines(view, index, block, lead):
            yield Definition(index, lead, kind)


def _under_headings(view: View, found: list[Definition]) -> list[Definition]:
    """If a heading gives an id as a field, make the heading the unit: `### Login` above `- ID: US-001`."""
    fields = [d for d in found if labelled_id(view.blocks[d.at].lines[0]) is not None]
    per_section = Counter(view.blocks[d.at].section for d in fields)
    alone = [d for d in fields if per_section[section := view.blocks[d.at].section] == 1 and section >= 0]
    raised = {d.at: _raised(view, d) for d in alone if view.blocks[view.blocks[d.at].section].level > 1}
    if len(raised) * 2 <= len(fields):
        return found  # most headings hold several stories, so they are groups
    named = {d.at for d in found if d.found.kind == "prefix" and d.at not in raised}  # they have ids of their own
    taken = {made.at for made in raised.values()} - named
    kept = [d for d in found if d.at not in raised and d.at not in taken]
    return sorted([*kept, *(made for made in raised.values() if made.at in taken)])


def _raised(view: View, field: Definition) -> Definition:
    heading = view.blocks[field.at].section
    lead = view.source.leads[heading]
    title = lead.rest if lead is not None and (lead.only_counts or lead.rest) else view.blocks[heading].text
    return Definition(heading, field.found._replace(rest=title), field.kind)


def _is_aside(view: View, index: int) -> bool:
    """Tell whether a place refers to units rather than defining them: criteria, notes, tests, metrics, questions."""
    if view.source.zones[index] == Zone.NEVER or view.source.under_criteria[index]:
        return True
    section = view.blocks[index].section
    return section >= 0 and words.concept(view.blocks[section].text) in ("other", "verify", "never", "gates")


def _defines(view: View, index: int, block: Block, lead: ids.Found) -> bool:
    """Tell whether a block defines its id, and is not a sentence that begins with an id or a mere reference."""
    if block.kind is Kind.PARA and block.parent >= 0:
        return False
    raw = block.lines[0]
    if _ISSUE.match(raw):
        return False
    if not lead.rest.strip() and is_form(view, index):
        return True
    behind = raw[raw.find(lead.id) + len(lead.id) :]
    marked = block.box is not None or raw.lstrip().startswith(("**", "__", "`", "["))
    if not marked and not _JOINED.match(behind):
        return False
    return len(block.lines) > 1 or _says_what(view, index, lead)


def _says_what(view: View, index: int, lead: ids.Found) -> bool:
    """Tell whether the text behind an id is more than other ids."""
    if not lead.rest.strip():
        return view.ends[index] > index + 1 or view.blocks[index].kind is Kind.PARA
    names, nothing_else = hints.targets(lead.rest) if len(lead.rest) <= 120 else ([], False)
    return not (names and nothing_else)


def is_form(view: View, index: int) -> bool:
    """Tell whether a block is only an id and the next line is a field: `US-001` above `Title: …`."""
    block, lead = view.blocks[index], view.source.leads[index]
    if lead is None or lead.kind != "prefix" or lead.rest.strip() or block.kind not in (Kind.ITEM, Kind.PARA):
        return False
    if len(block.lines) > 1:
        return _is_field(block.lines[1])
    after = view.blocks[index + 1] if index + 1 < len(view.blocks) else None
    return after is not None and after.kind in (Kind.ITEM, Kind.PARA) and _is_field(after.lines[0])


def _is_field(line: str) -> bool:
    label = read_label(line)
    return label.is_label and label.concept is not None and label.concept != "id"


def span_of(found: Iterable[Definition]) -> str:
    """Return the first and last id of each prefix: `FR-001 to FR-020, NFR-001 to NFR-016`."""
    by_prefix: dict[str, list[str]] = {}
    for definition in found:
        word = "" if definition.found.kind in ("prefix", "slug") else definition.found.kind.capitalize() + " "
        by_prefix.setdefault(definition.found.prefix, []).append(word + definition.found.id)
    spans = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in by_prefix.values()]
    return ", ".join(spans[:4]) + (", …" if len(spans) > 4 else "")


def extents(view: View, starts: list[int]) -> list[tuple[int, int]]:
    """Return (start, end) of each unit. No unit reaches into the next one.

    A heading has its section. A paragraph has what follows it in its section, up to the next group. An item has what is nested
    in it, and also what follows it if that begins with a criteria label, since many authors do not indent these.
    """

    def label_follows(at: int, limit: int) -> bool:
        """Tell whether the block directly behind an item is a criteria label outside all lists."""
        is_outside = at < limit and view.blocks[at].kind is Kind.PARA and view.blocks[at].parent < 0
        return is_outside and any_within(view.criteria_marks, at, at + 1)

    pairs = []
    for at, after in zip(starts, [*starts[1:], len(view.blocks)], strict=False):
        section = view.blocks[at].section
        limit = min(after, view.ends[section] if section >= 0 else after)
        match view.blocks[at].kind:
            case Kind.HEADING:
                end = min(view.ends[at], after)
            case Kind.PARA:
                end = next((i for i in range(at + 1, limit) if opens_group(view.blocks[i])), limit)
            # Fields may follow an item that is only an id without being nested in it.
            case Kind.ITEM if label_follows(view.ends[at], limit) or (view.ends[at] == at + 1 and is_form(view, at)):
                end = limit
            case _:
                end = min(view.ends[at], limit)
        pairs.append((at, max(end, at + 1)))
    return pairs


def grouped(view: View, carriers: list[Carrier]) -> list[Carrier]:
    """Return the carriers with their chunk: the phase or epic, else the section or bold label if one of these has several units."""
    explicit = [view.group_labels[made.at] or chunk_of(view.source, made.at) for made in carriers]
    near = _near_labels(view, carriers)
    sizes = Counter(near)
    several = len({name for name in near if name is not None}) > 1 and max(sizes.values(), default=0) > 1
    chunks = [chunk or (name if several else None) for chunk, name in zip(explicit, near, strict=True)]
    return [replace(made, chunk=chunk) for made, chunk in zip(carriers, chunks, strict=True)]


def _near_labels(view: View, carriers: list[Carrier]) -> list[str | None]:
    """Return for each unit the bold paragraph above it in its section, else the heading of its section."""
    labels = _bold_labels(view)
    places = [labels[made.at] if labels[made.at] >= 0 else view.blocks[made.at].section for made in carriers]
    return [label(view.blocks[at].text) if at >= 0 else None for at in places]


@lru_cache(maxsize=1)
def _bold_labels(view: View) -> list[int]:
    """Return for each block the last bold paragraph before it in the same section that can name a group, or -1."""
    found, last, section = [], -1, -2
    for index, block in enumerate(view.blocks):
        if block.section != section or block.kind is Kind.HEADING:
            last, section = -1, index if block.kind is Kind.HEADING else block.section
        found.append(last)
        if _names_group(view, index, block):
            last = index
    return found


def _names_group(view: View, index: int, block: Block) -> bool:
    """Tell whether a paragraph is only bold words that are no label, such as `**Operations**`."""
    if block.kind is not Kind.PARA or block.parent >= 0 or len(block.lines) > 1 or not block.text.startswith("**"):
        return False
    parts = split_label(block.text)
    lead = view.source.leads[index]
    if parts is None or parts[1] or words.concept(parts[0]) is not None:
        return False
    return lead is None or lead.only_counts


SHORT_FILE = 150
"""In a document of at most this many lines, an id that occurs once may be the only unit."""

_HYPHENED = pattern(r"[-_]\d")
_PLAIN_NUMBER = pattern(r"\D*?(\d+)")


def named_lists(view: View) -> list[UnitList]:
    """Return the lists of units by id, one per kind. Functional and non-functional requirements are one list."""
    found = definitions(view)
    functional = {definition.kind for definition in found}
    joined = "feature" if "feature" in functional and "requirement" not in functional else "requirement"
    by_kind = by_key((joined if d.kind == "nfr" else d.kind, d) for d in found)
    kinds = ("story", "requirement", "feature", "other", "task")
    kept = {kind: _listed(view, by_kind.get(kind, []), known=kind != "other") for kind in kinds}
    return [_as_list(view, kind, members) for kind, members in kept.items() if members]


def _listed(view: View, found: list[Definition], *, known: bool) -> list[Definition]:
    """Keep the ids that make a list: a prefix that occurs twice, or once in a short document."""
    short = view.source.outline.line_count <= SHORT_FILE
    kept: list[Definition] = []
    singles: list[Definition] = []
    for members in by_key((d.found.prefix, d) for d in found).values():
        first = members[0]
        names = list({ids.fold(member.found.id): member.found.id for member in members}.values())
        if len(names) > 1 and (first.found.kind != "prefix" or is_listlike(names)):
            kept += members
        elif first.found.kind == "prefix" and _HYPHENED.search(first.found.id):
            singles += members
        elif known and (short or is_sure(first.found, first.kind)):
            kept += members
    alone = short and len(singles) == 1 and view.blocks[singles[0].at].kind is Kind.HEADING
    return sorted([*kept, *(singles if kept or known or alone else ())])


def _as_list(view: View, kind: str, found: list[Definition]) -> UnitList:
    # A heading that is split into lettered parts inside it is left out: 4 around 4A, 4B and 4C.
    found = [d for position, d in enumerate(found) if _parts(view, d, found[position + 1 : position + 30]) < 2]
    headings = [d for d in found if view.blocks[d.at].kind is Kind.HEADING]
    chosen = [] if headings else _without_groups(view, _outermost(view, found))
    if headings:  # without those whose id is continued by ids inside: F1 around F1.1 is a group
        pairs = [(outer, inner) for outer, inner in pairwise(headings) if inner.at < view.ends[outer.at]]
        groups = {outer.at for outer, inner in pairs if _continues(outer.found.id, inner.found.id)}
        chosen = [d for d in headings if d.at not in groups]
        chosen = sorted([*chosen, *_items_outside_headings(view, chosen, found)])
    everywhere, chosen = chosen, _without_repeats(view, chosen)
    rest = {d.at: d for d in chosen}
    carriers = [
        carrier(view.source, at, end=end, found=rest[at].found, tags=_other_names(view, rest[at]))
        for at, end in extents(view, list(rest))
    ]
    carriers = grouped(view, carriers)
    kind = "story" if kind == "other" and view.tells_stories(carriers) else kind
    plural = {"story": "stories", "requirement": "requirements", "feature": "features", "task": "tasks"}
    names = {d.found.prefix.lower() for d in chosen} | {kind, plural.get(kind, kind)}
    return UnitList(
        view,
        Evidence.NAMED_HEADINGS if headings else Evidence.NAMED_ITEMS,
        kind,
        span_of(chosen),
        tuple(carriers),
        frozenset(names | {name.split("-")[0] for name in names}),
        view.explicit(carriers),
        _repeats(view, everywhere if headings else found, found, carriers),
        frozenset(ids.fold(d.found.id) for d in headings),
    )


def _other_names(view: View, definition: Definition) -> tuple[str, ...]:
    """Return the ids that a unit had before, and the number of its heading if a field gives its id."""
    lead = view.source.leads[definition.at]
    number = (lead.id,) if lead is not None and lead.id != definition.found.id else ()
    former = [name for match in _FORMER.finditer(definition.found.rest) for name in ids.mentioned(match[1])]
    return (*former, *number)


def _repeats(
    view: View, everywhere: list[Definition], found: list[Definition], carriers: list[Carrier]
) -> tuple[int, ...]:
    """Return the places outside all units that define a unit again, such as a summary list."""
    known = {ids.fold(made.id or "") for made in carriers}
    covered = view.source.outline.cover((made.at, made.end) for made in carriers)
    places = {d.at for d in (*everywhere, *found) if ids.fold(d.found.id) in known and not covered[d.at]}
    return tuple(sorted(places))


def _parts(view: View, definition: Definition, after: list[Definition]) -> int:
    name, end = definition.found.id, view.ends[definition.at]
    if view.blocks[definition.at].kind is not Kind.HEADING or not name[-1].isdigit():
        return 0
    inside = [other.found.id for other in takewhile(lambda other: other.at < end, after)]
    return sum(other[:-1] == name and other[-1].isalpha() for other in inside)


def _without_groups(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out a line that only names a group: R1 above R1.1 and R1.2, without other content."""
    kept = []
    for position, one in enumerate(found):
        parts = sum(_continues(one.found.id, other.found.id) for other in found[position + 1 : position + 3])
        if parts < 2 or _size(view, one) > 1 or view.blocks[one.at].box is not None:
            kept.append(one)
    return kept


def _continues(parent: str, child: str) -> bool:
    return len(child) > len(parent) and child.upper().startswith(parent.upper()) and child[len(parent)] in ".-"


def _outermost(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out items inside another item of the list: they are its content."""
    kept: list[Definition] = []
    behind = 0
    for definition in found:
        if definition.at >= behind:
            kept.append(definition)
            if view.blocks[definition.at].kind is Kind.ITEM:
                behind = view.ends[definition.at]
    return kept


def _items_outside_headings(view: View, headings: list[Definition], found: list[Definition]) -> list[Definition]:
    """Return the items with an id that no heading defines, outside the sections of the headings."""
    titled = [d for d in found if view.blocks[d.at].kind is Kind.HEADING]
    taken = {ids.fold(d.found.id) for d in titled}  # including headings that only group units
    covered = view.source.outline.cover((d.at, view.ends[d.at]) for d in headings)
    others = [d for d in found if ids.fold(d.found.id) not in taken]
    have = set(map(_number_of, headings))
    # An item whose number is missing between those of the headings is a unit, even inside a section.
    fill = {d.at for d in others if _number_of(d) not in have and {_number_of(d, -1), _number_of(d, 1)} <= have}
    return [d for d in _outermost(view, others) if not covered[d.at] or d.at in fill]


def _number_of(definition: Definition, more: int = 0) -> tuple[str, int]:
    """Return the prefix of an id and its number, plus `more`."""
    number = _PLAIN_NUMBER.fullmatch(definition.found.id)
    return (definition.found.prefix, int(number[1]) + more) if number else (definition.found.id, more)


def _without_repeats(view: View, found: list[Definition]) -> list[Definition]:
    """Keep one of the places with the same id and title: the one with more content."""
    alike = by_key(((ids.fold(d.found.id), re.sub(r"\W+", "", d.found.rest).lower()[:80]), d) for d in found)
    return sorted(max(same, key=lambda d: _size(view, d)) for same in alike.values())


def _size(view: View, definition: Definition) -> int:
    return view.ends[definition.at] - definition.at
