"""Lists without ids: headings with criteria, chains, As-a sentences, numbered requirements; and loose lists.

Loose lists may be the work but are not marked as it: steps of phases, numbered headings, numbered lines, bullets under
Features. They are planned only if the user names one of them. Beside the chosen list they are its rivals.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.markdown import carriers
from santiago.planner.markdown.carriers import carrier, indexes, is_group, label, section_chunks
from santiago.planner.markdown.id_lists import extents, grouped, kind_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Source, Zone

_GROUP_NUMBER = pattern(r"^[\W_]*[^\W\d_]+\s*(\d+[\w.]*?)[*_]*\s*[:：.)\-–—]+\s*(.*)$")


def numbered_lists(view: View) -> list[UnitList]:
    """Return the headings that have a criteria label, with their siblings if at least half have one."""
    if not view.criteria_marks:
        return []
    starts = _headings(view)
    if all((lead := view.source.leads[at]) and kind_of(lead) in ("story", "requirement") for at in starts):
        return []  # their ids make them a list already
    return [_as_list(view, Evidence.JUDGED_HEADINGS, starts)]


def requirement_lists(view: View) -> list[UnitList]:
    """Return the numbered items under a heading Requirements or Steps, or under a part of such a section."""
    starts = [
        index
        for index in _numbered_items(view)
        if view.blocks[index].level == 0 and not view.source.under_criteria[index] and _is_required(view, index)
    ]
    starts = [index for index in starts if _is_list(view, view.blocks[index].section, starts)]
    return [_as_list(view, Evidence.REQUIRED_ITEMS, starts)] if len(starts) > 1 else []


def _numbered_items(view: View) -> list[int]:
    items = indexes(view.source, Kind.ITEM)
    return [index for index in items if view.blocks[index].box is None and view.blocks[index].marker[0].isdigit()]


def _is_required(view: View, index: int) -> bool:
    path = view.source.outline.path(index)[-2:]
    return any(_says_required(view, heading) for heading in path) or (bool(path) and _says_steps(view, path[-1]))


def _says_required(view: View, heading: int) -> bool:
    return words.matches(view.blocks[heading].text, words.REQUIREMENT_SECTIONS)


def _says_steps(view: View, heading: int) -> bool:
    """Tell whether a heading announces the steps of the work. Beside phases, such a list is only a summary."""
    phases = sum(block.kind is Kind.HEADING and is_group(block.text) for block in view.blocks)
    return phases < 2 and words.matches(view.blocks[heading].text, words.STEP_SECTIONS)


def _is_list(view: View, section: int, starts: list[int]) -> bool:
    """Tell whether a section is the list, or one of the parts of Requirements, at least half of which are such lists."""
    if _says_required(view, section) or _says_steps(view, section):
        return True
    around = view.blocks[section].section
    parts = [i for i in view.source.outline.inside(around) if view.blocks[i].kind is Kind.HEADING]
    held = {view.blocks[index].section for index in starts}
    return len(held.intersection(parts)) * 2 >= len(parts)


def _headings(view: View) -> list[int]:
    owners = _owning_headings(view)
    siblings: dict[tuple[int, int], list[int]] = defaultdict(list)
    parents = {view.blocks[owner].section for owner in owners}
    for index, block in enumerate(view.blocks):
        if block.kind is Kind.HEADING and block.section in parents and _may_be_unit(view, index, block):
            siblings[(block.section, block.level)].append(index)
    kept = [index for members in siblings.values() for index in _units_of(view, members, owners)]
    return _of_one_level(view, sorted(kept), owners)


def _units_of(view: View, members: list[int], owners: set[int]) -> list[int]:
    """Return which headings of one level are units: the numbered ones, all, or only those with criteria."""
    own = [index for index in members if index in owners]
    numbered = [index for index in members if _number(view, index) is not None]
    if set(own) <= set(numbered) and len(own) * 2 >= len(numbered):
        return numbered if own else []
    return members if len(own) * 2 >= len(members) > 1 else own


def _owning_headings(view: View) -> set[int]:
    """Return the headings directly above a criteria label, except sections that cannot be units."""
    sections = {view.blocks[index].section for index in view.criteria_marks if view.blocks[index].parent < 0}
    return {section for section in sections if section >= 0 and _may_be_unit(view, section, view.blocks[section])}


def _may_be_unit(view: View, index: int, block: Block) -> bool:
    if view.source.zones[index] == Zone.NEVER or (block.level == 1 and view.source.outline.tops < 3):
        return False
    if is_group(block.text) and view.holds_work(index):
        return False
    return words.concept(block.text) is None and words.normal(block.text) not in words.STORY_SECTIONS


def _number(view: View, index: int) -> ids.Found | None:
    lead = view.source.leads[index]
    if lead is not None and lead.only_counts:
        return lead
    found = _GROUP_NUMBER.match(view.blocks[index].text) if is_group(view.blocks[index].text) else None
    return ids.Found(found[1], "number", found[2]) if found and found[2] else None


def _of_one_level(view: View, kept: list[int], owners: set[int]) -> list[int]:
    """Keep the heading level with the most criteria. A single heading with criteria must be numbered to be a unit."""
    levels = Counter(view.blocks[index].level for index in kept if index in owners)
    if not levels:
        return []
    level = max(levels, key=lambda level: (levels[level], -level))
    found = [index for index in kept if view.blocks[index].level == level]
    return found if levels[level] > 1 or (len(found) == 1 and _number(view, found[0])) else []


def _as_list(view: View, evidence: Evidence, starts: list[int]) -> UnitList:
    numbers = [_heading_number(view, index) for index in starts]
    titles = [found.rest if found else view.blocks[at].lines[0] for at, found in zip(starts, numbers, strict=True)]
    places = zip(extents(view, starts), _as_ids(numbers), titles, strict=True)
    carriers = [carrier(view.source, at, end=end, found=found, title=title) for (at, end), found, title in places]
    carriers = grouped(view, carriers)
    what = "headings" if view.blocks[starts[0]].kind is Kind.HEADING else "list items"
    owned = (
        "numbered under Requirements or Steps" if evidence is Evidence.REQUIRED_ITEMS else "with acceptance criteria"
    )
    phases = sum(is_group(view.blocks[index].text) for index in starts) * 2 > len(starts)
    kind, explicit = "phase" if phases else "numbered", evidence is not Evidence.REQUIRED_ITEMS
    keys = frozenset({kind, what.removeprefix("list ").removesuffix("s")})
    return UnitList(view, evidence, kind, f"{what} {owned}", tuple(carriers), keys, explicit)


def _as_ids(numbers: list[ids.Found | None]) -> list[ids.Found | None]:
    """Keep numbers as ids if no number occurs twice. Lists that begin again at 1 give no ids."""
    plain = [found.id for found in numbers if found and found.kind == "number"]
    if len(set(map(ids.fold, plain))) == len(plain):
        return numbers
    return [found if found and found.kind == "dotted" else None for found in numbers]


def _heading_number(view: View, index: int) -> ids.Found | None:
    block = view.blocks[index]
    if block.kind is Kind.HEADING:
        return _number(view, index)
    lead = view.source.leads[index]
    if lead is not None and lead.kind == "dotted":
        return lead
    number = _list_number(view, index)
    return ids.Found(number, "number", block.lines[0]) if number.isdigit() else None


def chain_lists(view: View) -> list[UnitList]:
    """Return the list with the most items that depend on each other by number. Each list has numbers of its own."""
    sections: dict[int, list[int]] = defaultdict(list)
    for index in _numbered_items(view):
        if view.blocks[index].level == 0:
            sections[view.blocks[index].section].append(index)
    chains = [(linked, members) for members in sections.values() if (linked := _count_linked(view, members)) > 1]
    if not chains:
        return []
    _, members = max(chains, key=lambda chain: chain[0])
    numbers = [ids.Found(_list_number(view, index), "number", view.blocks[index].text) for index in members]
    places = zip(members, numbers, strict=True)
    carriers = tuple(carrier(view.source, index, found=number) for index, number in places)
    keys = frozenset({"chain", "item", "numbered"})
    return [UnitList(view, Evidence.JUDGED_ITEMS, "chain", "items of a dependency chain", carriers, keys)]


def _count_linked(view: View, members: list[int]) -> int:
    """Return how many items depend on other items of the same list, by number."""
    numbers = {_list_number(view, index) for index in members}
    if len(numbers) < len(members):
        return 0
    found = [{dep.target for dep in hints.inline_deps(view.blocks[at]) if dep.carrier == "inline"} for at in members]
    return sum(bool(targets) and targets <= numbers for targets in found)


def _list_number(view: View, index: int) -> str:
    return view.blocks[index].marker.rstrip(".):")


def as_a_lists(view: View) -> list[UnitList]:
    """Return the As-a sentences as one list. If a heading has just one of them, the heading is the unit."""
    if not view.stories:
        return []
    per_section = Counter(view.blocks[index].section for index in view.stories)
    starts = sorted({_story_place(view, index, per_section) for index in view.stories})
    made = []
    for at, end in extents(view, starts):
        lead = view.source.leads[at] if view.blocks[at].kind is Kind.HEADING else None
        made.append(carrier(view.source, at, end=end, title=lead.rest or None if lead and lead.only_counts else None))
    carriers = tuple(grouped(view, made))
    keys, explicit = frozenset({"as-a", "story", "stories"}), view.explicit(carriers)
    return [UnitList(view, Evidence.SENTENCES, "as-a", "As-a sentences", carriers, keys, explicit)]


def _story_place(view: View, index: int, per_section: Counter[int]) -> int:
    """Return the heading directly above a sentence if it names that one story, else the sentence itself."""
    block = view.blocks[index]
    section = block.section
    if block.kind is Kind.HEADING or section < 0 or per_section[section] > 1 or block.parent >= 0:
        return index
    heading = view.blocks[section]
    if words.concept(heading.text) == "description" and heading.section >= 0 and section == heading.section + 1:
        section, heading = heading.section, view.blocks[heading.section]  # `Overview` is a part of the story above it
    if heading.level == 1 or is_group(heading.text) or words.normal(heading.text) in words.STORY_SECTIONS:
        return index
    if words.concept(heading.text) is not None:
        return index
    judged = view.criteria_before[view.ends[section]] > view.criteria_before[view.ends[index]]
    return index if block.kind is Kind.ITEM and not judged else section


_WORD = pattern(r"[\w-]+")
_PLANS = pattern(
    r"\b(?:plan|planning|steps?|tasks?|to-?dos?|order|issues|bugs|fixes|improvements|changes|ideas|next)\b",
    re.IGNORECASE,
)
"""Words in headings whose numbered lines may be work."""


def loose_lists(view: View) -> list[UnitList]:
    return [_loose_list(view, starts, name, keys) for starts, name, keys in _loose(view) if len(starts) > 1]


def _loose(view: View) -> Iterator[tuple[list[int], str, set[str]]]:
    """Yield the places of each list, its name, and the values of `--units` that select it."""
    source, blocks = view.source, view.blocks
    stages = phases(source)
    inside = {index for heading in stages for index in _plain_items(source, source.outline.inside(heading))}
    steps = sorted(index for index in inside if _is_free(view, index))
    yield steps, f"the steps of {count(len(stages), 'phase')}", {"phase", "phases"}
    numbered = [index for index in numbered_heads(source) if not is_group(blocks[index].text)]
    yield numbered, f"the {len(numbered)} numbered headings", {"numbered", "headings"}
    features, taken = set(feature_sections(source)), set(steps)
    sections: dict[int, list[int]] = {}
    for index in loose_items(source):
        section = blocks[index].section
        named = bool(features & {section, blocks[section].section})
        listed = named or (blocks[index].marker[0].isdigit() and bool(_PLANS.search(blocks[section].text)))
        if listed and index not in taken and _is_free(view, index):
            sections.setdefault(section, []).append(index)
    for section, starts in sections.items():
        name = label(blocks[section].text)
        yield starts, f"the list under {name}", {" ".join(_WORD.findall(name.lower()))}


def _is_free(view: View, index: int) -> bool:
    """Tell whether an item is in no other kind of list: it has no box and no id."""
    lead = view.source.leads[index]
    return view.blocks[index].box is None and (lead is None or lead.only_counts)


def _loose_list(view: View, starts: list[int], name: str, keys: set[str]) -> UnitList:
    places = zip(extents(view, starts), section_chunks(view.source, starts), strict=True)
    heads = {at: lead.rest for at in starts if (lead := view.source.leads[at]) and view.blocks[at].kind is Kind.HEADING}
    carriers = [carrier(view.source, at, end=end, title=heads.get(at), chunk=chunk) for (at, end), chunk in places]
    keys.add(f"line {view.blocks[starts[0]].line}")
    return UnitList(view, Evidence.LOOSE, "loose", name, tuple(carriers), frozenset(keys))


def _plain_headings(source: Source) -> list[tuple[int, Block]]:
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [(index, block) for index, (block, zone) in places if block.kind is Kind.HEADING and zone == Zone.PLAIN]


def feature_sections(source: Source) -> list[int]:
    """Return the headings that name features, requirements, scope or a roadmap. Excluded sections do not count."""
    is_title = source.outline.tops == 1
    named = [(index, block) for index, block in _plain_headings(source) if block.level > 1 or not is_title]
    return [index for index, block in named if words.FEATURES.search(block.text) and not is_group(block.text)]


def phases(source: Source) -> list[int]:
    """Return the headings that name a phase, milestone or the like and have list items."""
    blocks = source.outline.blocks
    groups = [index for index, block in _plain_headings(source) if is_group(block.text)]
    return [index for index in groups if any(blocks[i].kind is Kind.ITEM for i in source.outline.inside(index))]


def numbered_heads(source: Source) -> list[int]:
    """Return the numbered headings of the level that has most of them, unless they are chapters."""
    levels: dict[int, list[int]] = {}
    for index, block in _plain_headings(source):
        if carriers.is_numbered(source, index):
            levels.setdefault(block.level, []).append(index)
    level = max(levels, key=lambda level: (len(levels[level]), -level), default=0)
    found = levels.get(level, [])
    plain = [block.text for index, block in _plain_headings(source) if block.level == level and index not in found]
    # One or two numbered headings among others may just as well be chapters.
    is_mixed = len(found) < 3 and not all(words.matches(text, words.CHAPTERS) for text in plain)
    return [] if is_mixed or carriers.are_chapters(source, level) else found


def loose_items(source: Source) -> list[int]:
    """Return the outermost list items outside sections that are chapters of a text."""
    blocks = source.outline.blocks
    items = [index for index in _plain_items(source, range(len(blocks))) if blocks[index].section >= 0]
    names = {index: blocks[blocks[index].section].text for index in items}
    return [
        index
        for index, name in names.items()
        if not words.matches(name, words.CHAPTERS) and words.concept(name) in (None, "work")
    ]


def _plain_items(source: Source, places: range) -> list[int]:
    outer = [index for index in places if source.outline.blocks[index].kind is Kind.ITEM]
    outer = [index for index in outer if source.outline.blocks[index].level == 0]
    return [index for index in outer if source.zones[index] == Zone.PLAIN and not source.under_criteria[index]]
