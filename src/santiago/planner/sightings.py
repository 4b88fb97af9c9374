"""What a document has that comes close to units and was not taken: the second half of a good refusal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import words
from santiago.planner.markdown import heads
from santiago.planner.markdown.carriers import is_group, label
from santiago.planner.markdown.lists.choice import offers
from santiago.planner.markdown.lists.definitions import side_lists, span_of
from santiago.planner.markdown.lists.model import View
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Zone

if TYPE_CHECKING:
    from santiago.planner.markdown.outline import Block
    from santiago.planner.source import Source

_MUST = pattern(r"\b(?:MUST|SHALL|SHOULD)\b")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something close to units: how it is called, where, and whether `--allow-fallback` would plan from it."""

    what: str
    count: str
    line: int
    fallback: bool = False

    def __str__(self) -> str:
        return f"{self.count} (line {self.line})" if self.line else self.count


def _headings(source: Source) -> list[tuple[int, Block]]:
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [(index, block) for index, (block, zone) in places if block.kind is Kind.HEADING and zone == Zone.PLAIN]


def feature_sections(source: Source) -> list[int]:
    """Return the headings that name features, requirements, scope or a roadmap, outside excluded sections."""
    is_title = source.outline.tops == 1
    named = [(index, block) for index, block in _headings(source) if block.level > 1 or not is_title]
    return [index for index, block in named if words.FEATURES.search(block.text) and not is_group(block.text)]


def phases(source: Source) -> list[int]:
    """Return the headings that name a phase, milestone or the like and hold items."""
    blocks = source.outline.blocks
    groups = [index for index, block in _headings(source) if is_group(block.text)]
    return [index for index in groups if any(blocks[i].kind is Kind.ITEM for i in source.outline.inside(index))]


def numbered_heads(source: Source) -> list[int]:
    """Return the numbered headings of the level that has most of them, where they are no chapters of a text."""
    levels: dict[int, list[int]] = {}
    for index, block in _headings(source):
        if heads.is_numbered(source, index):
            levels.setdefault(block.level, []).append(index)
    level = max(levels, key=lambda level: (len(levels[level]), -level), default=0)
    return levels[level] if len(levels.get(level, ())) > 2 and not heads.are_chapters(source, level) else []


def loose_items(source: Source) -> list[int]:
    """Return the outermost items of all sections that are no mere chapter: what a plain list of things to do holds."""
    blocks = source.outline.blocks
    items = [index for index in _plain_items(source, range(len(blocks))) if blocks[index].section >= 0]
    names = {index: blocks[blocks[index].section].text for index in items}
    return [
        index
        for index, name in names.items()
        if not words.matches(name, words.CHAPTERS) and words.concept(name) in (None, "work")
    ]


def items_under(source: Source, heading: int) -> list[int]:
    """Return the outermost items of a section."""
    return _plain_items(source, source.outline.inside(heading))


def _plain_items(source: Source, places: range) -> list[int]:
    outer = [index for index in places if source.outline.blocks[index].kind is Kind.ITEM]
    outer = [index for index in outer if source.outline.blocks[index].level == 0]
    return [index for index in outer if source.zones[index] == Zone.PLAIN and not source.under_criteria[index]]


def seen(source: Source) -> list[Sighting]:
    """Return what stands in the document and was not taken, the most useful first."""
    found = [*_phases(source), *_numbered(source), *_bullets(source)]
    found = found or _loose(source)
    return [*found, *_boxes(source), *_side(source), *_questions(source), *_musts(source)]


def lists(source: Source) -> list[str]:
    """Return the lists that `--units` could name, each with what it is called."""
    found = [f"{min(offer.keys)} ({offer.name})" for offer in offers(View(source))]
    boxes = sum(1 for block in source.outline.blocks if block.box is not None)
    return [*found, f"box ({boxes} check boxes)"] if boxes else found


def _phases(source: Source) -> list[Sighting]:
    found = phases(source)
    if not found:
        return []
    blocks = source.outline.blocks
    steps = sum(len(items_under(source, index)) for index in found)
    first, last = (label(blocks[i].text) for i in (found[0], found[-1]))
    span = f'"{_cut(first)}"' if len(found) == 1 else f'"{_cut(first)}".."{_cut(last)}"'
    return [
        Sighting("its phases", f"{len(found)} headings {span} with {steps} steps", blocks[found[0]].line, fallback=True)
    ]


def _numbered(source: Source) -> list[Sighting]:
    found = numbered_heads(source)
    blocks = source.outline.blocks
    return [Sighting("them", f"{len(found)} numbered headings", blocks[found[0]].line, fallback=True)] if found else []


def _loose(source: Source) -> list[Sighting]:
    found = loose_items(source)
    if len(found) < 2:
        return []
    return [Sighting("its bullets", f"{len(found)} bullets", source.outline.blocks[found[0]].line, fallback=True)]


def _bullets(source: Source) -> list[Sighting]:
    found = []
    for index in _outermost(source, feature_sections(source)):
        items = items_under(source, index)
        if items:
            name = _cut(label(source.outline.blocks[index].text))
            found.append(
                Sighting(
                    f'"{name}"',
                    f'{len(items)} bullets under "{name}"',
                    source.outline.blocks[index].line,
                    fallback=True,
                )
            )
    return found[:4]


def _outermost(source: Source, headings: list[int]) -> list[int]:
    kept, behind = [], 0
    for index in headings:
        if index >= behind:
            kept.append(index)
            behind = source.outline.ends[index]
    return kept


def _boxes(source: Source) -> list[Sighting]:
    boxes = [index for index, block in enumerate(source.outline.blocks) if block.box is not None]
    if not boxes:
        return []
    section = source.outline.blocks[boxes[0]].section
    where = f' under "{_cut(label(source.outline.blocks[section].text))}" and the like' if section >= 0 else ""
    return [
        Sighting(
            "its boxes",
            f"{len(boxes)} check boxes{where}, which say how the whole is judged or are out of scope",
            source.outline.blocks[boxes[0]].line,
        )
    ]


def _side(source: Source) -> list[Sighting]:
    view = View(source)
    found = [
        Sighting(
            prefix,
            f"{span_of(members)} ({len(members)} goals, metrics, decisions or the like)",
            view.blocks[members[0].at].line,
        )
        for prefix, members in side_lists(view).items()
    ]
    return found[:4]


def _questions(source: Source) -> list[Sighting]:
    asked = [
        block
        for block in source.outline.blocks
        if block.kind is Kind.HEADING and re.match(r"[\W_]*(?:Q|Question)\s*\d", block.text, re.IGNORECASE)
    ]
    return [Sighting("its questions", f"{len(asked)} headings that are questions", asked[0].line)] if asked else []


def _musts(source: Source) -> list[Sighting]:
    lines = [
        block.line
        for block in source.outline.blocks
        if block.kind in (Kind.ITEM, Kind.PARA) and _MUST.search(block.text)
    ]
    return (
        [Sighting("its rules", f"{len(lines)} sentences with MUST, SHALL or SHOULD and no id", lines[0])]
        if len(lines) > 4
        else []
    )


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
