"""Lists by id: headings, items and bold paragraphs that begin with an id and say what it stands for.

Here is also decided where a unit ends, and which group it belongs to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.markdown.carriers import CRITERION_PREFIXES, carrier, chunk_of, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View, opens_group
from santiago.planner.source import Zone, labelled_id
from santiago.planner.words import spaced

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
_ISSUE = pattern(r"[*_`\[]*(?:issue|ticket)s?\s*#", re.IGNORECASE)
_FORMER = pattern(
    r"[(\[](?:formerly|former|was|previously|ex|old|antes|vormals|ehemals|anciennement|bisher|旧)[\s:.-]+([^)\]]{1,40})[)\]]",
    re.IGNORECASE,
)


class Definition(NamedTuple):
    """A block that begins with an id and defines it."""

    at: int
    found: ids.Found
    kind: str


def definitions(view: View) -> list[Definition]:
    """Return every heading, item and paragraph that defines an id, in document order."""
    found = [
        Definition(index, lead, kind)
        for index, lead, kind in _openings(view)
        if kind != "side" and (view.source.zones[index] != Zone.NEVER or is_sure(lead, kind))
    ]
    return _without_title(view, _not_repeated(view, _under_headings(view, found)))


def side_lists(view: View) -> dict[str, list[Definition]]:
    """Return the lists that are never units (decisions, metrics, goals), by prefix."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for index, lead, kind in _openings(view):
        if kind == "side":
            found[lead.prefix].append(Definition(index, lead, kind))
    return {prefix: members for prefix, members in found.items() if len({m.found.id for m in members}) > 1}


def _openings(view: View) -> Iterator[tuple[int, ids.Found, str]]:
    """Yield the blocks that define the id at their beginning, with the kind of list."""
    for index, lead in view.source.named.items():
        block, kind = view.blocks[index], kind_of(lead)
        if kind is None or block.kind is Kind.ROW:
            continue
        if kind == "side" and block.box is not None and view.source.first_version:
            kind = "other"  # GSD gives every category of requirements a prefix, also RES and TEST
        if block.kind is Kind.HEADING or _defines(view, index, block, lead):
            yield index, lead, kind


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


def _not_repeated(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out places in metrics, questions and notes if the id is defined elsewhere."""
    aside = {d.at for d in found if _is_aside(view, d.at)}
    proper = {ids.fold(d.found.id) for d in found if d.at not in aside}
    return [d for d in found if d.at not in aside or ids.fold(d.found.id) not in proper]


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


def _without_title(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out the document's title if it has an id and other units follow."""
    if len(found) > 1 and view.blocks[found[0].at].kind is Kind.HEADING and view.blocks[found[0].at].level == 1:
        first = found[0].at
        others = sum(1 for block in view.blocks[first + 1 :] if block.kind is Kind.HEADING and block.level == 1)
        return found if others else found[1:]
    return found


def former_ids(title: str) -> tuple[str, ...]:
    """Return the ids that the unit had before, according to its title."""
    return tuple(name for match in _FORMER.finditer(title) for name in ids.mentioned(match[1]))


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
    pairs = []
    for at, after in zip(starts, [*starts[1:], len(view.blocks)], strict=False):
        limit = min(after, view.section_end(at))
        match view.blocks[at].kind:
            case Kind.HEADING:
                end = min(view.ends[at], after)
            case Kind.PARA:
                end = next((i for i in range(at + 1, limit) if opens_group(view.blocks[i])), limit)
            # Fields may follow an item that is only an id without being nested in it.
            case Kind.ITEM if _label_follows(view, view.ends[at], limit) or (
                view.ends[at] == at + 1 and is_form(view, at)
            ):
                end = limit
            case _:
                end = min(view.ends[at], limit)
        pairs.append((at, max(end, at + 1)))
    return pairs


def _label_follows(view: View, at: int, limit: int) -> bool:
    """Tell whether the block directly behind an item is a criteria label outside all lists."""
    if at >= limit or view.blocks[at].kind is not Kind.PARA or view.blocks[at].parent >= 0:
        return False
    return view.criteria_before[at + 1] > view.criteria_before[at]


def grouped(view: View, carriers: list[Carrier]) -> list[Carrier]:
    """Return the carriers with their chunk: the phase or epic, else the section or bold label if one of these has several units."""
    explicit = [view.group_labels[made.at] or chunk_of(view.source, made.at) for made in carriers]
    near = _near_labels(view, carriers)
    sizes = Counter(near)
    several = len({name for name in near if name is not None}) > 1 and max(sizes.values(), default=0) > 1
    return [
        replace(made, chunk=chunk or (name if several else None))
        for made, chunk, name in zip(carriers, explicit, near, strict=True)
    ]


def _near_labels(view: View, carriers: list[Carrier]) -> list[str | None]:
    """Return for each unit the bold paragraph above it in its section, else the heading of its section."""
    labels = _bold_labels(view)
    found: list[str | None] = []
    for made in carriers:
        block = view.blocks[made.at]
        above = labels[made.at] if block.kind is not Kind.HEADING else -1
        if above >= 0:
            found.append(label(view.blocks[above].text))
        else:
            found.append(label(view.blocks[block.section].text) if block.section >= 0 else None)
    return found


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
    by_kind: dict[str, list[Definition]] = defaultdict(list)
    found = definitions(view)
    functional = {definition.kind for definition in found}
    joined = "feature" if "feature" in functional and "requirement" not in functional else "requirement"
    for definition in found:
        by_kind[joined if definition.kind == "nfr" else definition.kind].append(definition)
    lists = []
    for kind in ("story", "requirement", "feature", "other", "task"):
        kept = _listed(view, by_kind.get(kind, []), known=kind != "other")
        if kept:
            lists.append(_as_list(view, kind, kept))
    return lists


def _listed(view: View, found: list[Definition], *, known: bool) -> list[Definition]:
    """Keep the ids that make a list: a prefix that occurs twice, or once in a short document."""
    short = view.source.outline.line_count <= SHORT_FILE
    by_prefix: dict[str, list[Definition]] = defaultdict(list)
    for definition in found:
        by_prefix[definition.found.prefix].append(definition)
    kept: list[Definition] = []
    singles: list[Definition] = []
    for members in by_prefix.values():
        first = members[0]
        if _is_counted(members):
            kept += members
        elif first.found.kind == "prefix" and _HYPHENED.search(first.found.id):
            singles += members
        elif known and (short or is_sure(first.found, first.kind)):
            kept += members
    alone = short and len(singles) == 1 and view.blocks[singles[0].at].kind is Kind.HEADING
    return sorted([*kept, *(singles if kept or known or alone else ())])


def _is_counted(members: list[Definition]) -> bool:
    names = list({ids.fold(member.found.id): member.found.id for member in members}.values())
    return len(names) > 1 and (members[0].found.kind != "prefix" or is_listlike(names))


def _as_list(view: View, kind: str, found: list[Definition]) -> UnitList:
    # A heading that is split into lettered parts inside it is left out: 4 around 4A, 4B and 4C.
    found = [d for position, d in enumerate(found) if _parts(view, d, found[position + 1 : position + 30]) < 2]
    headings = [d for d in found if view.blocks[d.at].kind is Kind.HEADING]
    chosen = _without_heading_groups(view, headings) if headings else _without_groups(view, _outermost(view, found))
    if headings:
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
    return (*former_ids(definition.found.rest), *number)


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


def _without_heading_groups(view: View, headings: list[Definition]) -> list[Definition]:
    """Leave out a heading whose id is continued by ids inside it: F1 around F1.1 is a group."""
    pairs = [(outer, inner) for outer, inner in pairwise(headings) if inner.at < view.ends[outer.at]]
    groups = {outer.at for outer, inner in pairs if _continues(outer.found.id, inner.found.id)}
    return [definition for definition in headings if definition.at not in groups]


def _without_groups(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out a line that only names a group: R1 above R1.1 and R1.2, without other content."""
    kept = []
    for position, definition in enumerate(found):
        parts = [
            other for other in found[position + 1 : position + 3] if _continues(definition.found.id, other.found.id)
        ]
        if len(parts) < 2 or _size(view, definition) > 1 or view.blocks[definition.at].box is not None:
            kept.append(definition)
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
    gaps = _gaps(headings)
    return [d for d in _outermost(view, others) if not covered[d.at] or _fills_gap(d, gaps)]


def _gaps(headings: list[Definition]) -> set[tuple[str, int]]:
    """Return the numbers missing between the headings' ids. An item with such a number is a unit, even inside a section."""
    by_prefix: dict[str, list[int]] = defaultdict(list)
    for definition in headings:
        if number := _PLAIN_NUMBER.fullmatch(definition.found.id):
            by_prefix[definition.found.prefix].append(int(number[1]))
    missing = set()
    for prefix, numbers in by_prefix.items():
        have = set(numbers)
        missing |= {(prefix, number + 1) for number in numbers if number + 1 not in have and number + 2 in have}
    return missing


def _fills_gap(definition: Definition, gaps: set[tuple[str, int]]) -> bool:
    number = _PLAIN_NUMBER.fullmatch(definition.found.id)
    return number is not None and (definition.found.prefix, int(number[1])) in gaps


def _without_repeats(view: View, found: list[Definition]) -> list[Definition]:
    """Keep one of the places with the same id and title: the one with more content."""
    first: dict[tuple[str, str], Definition] = {}
    for definition in found:
        key = (ids.fold(definition.found.id), re.sub(r"\W+", "", definition.found.rest).lower()[:80])
        held = first.get(key)
        if held is None or _size(view, definition) > _size(view, held):
            first[key] = definition
    return sorted(first.values())


def _size(view: View, definition: Definition) -> int:
    return view.ends[definition.at] - definition.at
