"""Lists that may be the work but are not marked as it: steps of phases, numbered headings, numbered lines, bullets under Features.

They are planned only if the user names one of them. Beside the chosen list they are its rivals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.planner import words
from santiago.planner.choosing import Evidence
from santiago.planner.markdown import carriers
from santiago.planner.markdown.carriers import carrier, is_group, label, section_chunks
from santiago.planner.markdown.lists.definitions import extents
from santiago.planner.markdown.lists.model import UnitList, View
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone

_WORD = pattern(r"[\w-]+")
_PLANS = pattern(
    r"\b(?:plan|planning|steps?|tasks?|to-?dos?|order|issues|bugs|fixes|improvements|changes|ideas|next)\b",
    re.IGNORECASE,
)
"""Words in headings whose numbered lines may be work."""


def lists(view: View) -> list[UnitList]:
    return [_as_list(view, starts, name, keys) for starts, name, keys in _found(view) if len(starts) > 1]


def _found(view: View) -> Iterator[tuple[list[int], str, set[str]]]:
    """Yield the places of each list, its name, and the values of `--units` that select it."""
    source, blocks = view.source, view.blocks
    stages = phases(source)
    steps = sorted({index for heading in stages for index in items_under(source, heading) if _is_free(view, index)})
    yield steps, f"the steps of {count(len(stages), 'phase')}", {"phase", "phases"}
    numbered = [index for index in numbered_heads(source) if not is_group(blocks[index].text)]
    yield numbered, f"the {len(numbered)} numbered headings", {"numbered", "headings"}
    features, inside = set(feature_sections(source)), set(steps)
    sections: dict[int, list[int]] = {}
    for index in loose_items(source):
        section = blocks[index].section
        named = bool(features & {section, blocks[section].section})
        listed = named or (blocks[index].marker[0].isdigit() and bool(_PLANS.search(blocks[section].text)))
        if listed and index not in inside and _is_free(view, index):
            sections.setdefault(section, []).append(index)
    for section, starts in sections.items():
        name = label(blocks[section].text)
        yield starts, f"the list under {name}", {" ".join(_WORD.findall(name.lower()))}


def _is_free(view: View, index: int) -> bool:
    """Tell whether an item is in no other kind of list: it has no box and no id."""
    lead = view.source.leads[index]
    return view.blocks[index].box is None and (lead is None or lead.only_counts)


def _as_list(view: View, starts: list[int], name: str, keys: set[str]) -> UnitList:
    places = zip(extents(view, starts), section_chunks(view.source, starts), strict=True)
    carriers = [carrier(view.source, at, end=end, title=_title(view, at), chunk=chunk) for (at, end), chunk in places]
    keys.add(f"line {view.blocks[starts[0]].line}")
    return UnitList(view, Evidence.LOOSE, "loose", name, tuple(carriers), frozenset(keys))


def _title(view: View, index: int) -> str | None:
    lead = view.source.leads[index]
    return lead.rest if lead is not None and view.blocks[index].kind is Kind.HEADING else None


def _headings(source: Source) -> list[tuple[int, Block]]:
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [(index, block) for index, (block, zone) in places if block.kind is Kind.HEADING and zone == Zone.PLAIN]


def feature_sections(source: Source) -> list[int]:
    """Return the headings that name features, requirements, scope or a roadmap. Excluded sections do not count."""
    is_title = source.outline.tops == 1
    named = [(index, block) for index, block in _headings(source) if block.level > 1 or not is_title]
    return [index for index, block in named if words.FEATURES.search(block.text) and not is_group(block.text)]


def phases(source: Source) -> list[int]:
    """Return the headings that name a phase, milestone or the like and have list items."""
    blocks = source.outline.blocks
    groups = [index for index, block in _headings(source) if is_group(block.text)]
    return [index for index in groups if any(blocks[i].kind is Kind.ITEM for i in source.outline.inside(index))]


def numbered_heads(source: Source) -> list[int]:
    """Return the numbered headings of the level that has most of them, unless they are chapters."""
    levels: dict[int, list[int]] = {}
    for index, block in _headings(source):
        if carriers.is_numbered(source, index):
            levels.setdefault(block.level, []).append(index)
    level = max(levels, key=lambda level: (len(levels[level]), -level), default=0)
    found = levels.get(level, [])
    plain = [block.text for index, block in _headings(source) if block.level == level and index not in found]
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


def items_under(source: Source, heading: int) -> list[int]:
    """Return the outermost list items of a section."""
    return _plain_items(source, source.outline.inside(heading))


def _plain_items(source: Source, places: range) -> list[int]:
    outer = [index for index in places if source.outline.blocks[index].kind is Kind.ITEM]
    outer = [index for index in outer if source.outline.blocks[index].level == 0]
    return [index for index in outer if source.zones[index] == Zone.PLAIN and not source.under_criteria[index]]
