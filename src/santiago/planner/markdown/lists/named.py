"""Lists by id: headings, and list items or bold paragraphs, that begin with an id."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise, takewhile

from santiago.contract.patterns import pattern
from santiago.planner import ids
from santiago.planner.choosing import Evidence
from santiago.planner.markdown.carriers import carrier
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.lists.definitions import (
    Definition,
    definitions,
    extents,
    former_ids,
    grouped,
    is_listlike,
    is_sure,
    span_of,
)
from santiago.planner.markdown.lists.model import UnitList, View
from santiago.planner.markdown.outline import Kind

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
    found = _without_split_up(view, found)
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
    return UnitList(
        view,
        Evidence.NAMED_HEADINGS if headings else Evidence.NAMED_ITEMS,
        kind,
        span_of(chosen),
        tuple(carriers),
        _keys(kind, chosen),
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


def _without_split_up(view: View, found: list[Definition]) -> list[Definition]:
    """Leave out a heading that is split into lettered parts inside it: 4 around 4A, 4B and 4C."""
    return [d for position, d in enumerate(found) if _parts(view, d, found[position + 1 : position + 30]) < 2]


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


def _keys(kind: str, found: list[Definition]) -> frozenset[str]:
    plural = {"story": "stories", "requirement": "requirements", "feature": "features", "task": "tasks"}
    names = {d.found.prefix.lower() for d in found} | {kind, plural.get(kind, kind)}
    return frozenset(names | {name.split("-")[0] for name in names})
