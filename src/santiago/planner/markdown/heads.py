"""Headings as units: which headings are units, and which boxes elsewhere repeat them."""

from __future__ import annotations

from itertools import accumulate

from santiago.contract.patterns import pattern
from santiago.planner import ids, words
from santiago.planner.markdown import boxes, carriers
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone

STEP_SIGNS = frozenset({"criteria", "success", "files", "touched"})
NUMBERED_SIGNS = frozenset({"criteria", "success", "depends"})


def is_kind(source: Source, index: int, kind: str) -> bool:
    lead = source.leads[index]
    return lead is not None and lead.kind == kind


def is_numbered(source: Source, index: int) -> bool:
    lead = source.leads[index]
    return lead is not None and lead.only_counts


_REFERS = pattern(r"(?i)\W*(?:issue|ticket|bug)s?\s*#")
"""`Issue #379 Status` is a part of a report, not a unit."""


def of_kind(source: Source, kind: str) -> list[int]:
    """Return the headings of one kind if they can be the units of the document, else nothing."""
    blocks = source.outline.blocks
    found = [i for i, b in enumerate(blocks) if b.kind is Kind.HEADING and is_kind(source, i, kind)]
    is_title = len(found) == 1 and (blocks[found[0]].level == 1 or _REFERS.match(blocks[found[0]].text))
    return [] if not found or is_title or has_stories(source, len(found)) else found


def leaves(source: Source, kind: str) -> list[int]:
    """Return the headings of one kind without groups: `Task 1` with `Task 1.1` below it is a group."""
    found = of_kind(source, kind)
    names = {index: lead.id for index, lead in source.named.items() if lead.kind == kind}
    above = [(inner, outer) for inner in found for outer in source.outline.path(inner) if outer in names]
    groups = {outer for inner, outer in above if boxes.extends(names[inner], names[outer])}
    return [index for index in found if index not in groups]


def are_chapters(source: Source, level: int) -> bool:
    """Tell whether the numbered headings of a level are the chapters of a text: Overview, Goals, Risks, …"""
    blocks = source.outline.blocks
    titles = {i: lead.rest for i, lead in source.named.items() if blocks[i].kind is Kind.HEADING and lead.only_counts}
    titles = {index: title for index, title in titles.items() if blocks[index].level == level}
    usual = [at for at in titles if source.zones[at] != Zone.PLAIN or words.matches(titles[at], words.CHAPTERS)]
    return len(usual) * 4 >= len(titles)


def has_stories(source: Source, count: int, *, kinds: tuple[Kind, ...] = (Kind.HEADING,)) -> bool:
    """Tell whether at least `count` blocks have story or requirement ids: then those blocks are the units."""
    blocks = source.outline.blocks
    leads = {i: lead for i, lead in source.named.items() if blocks[i].kind in kinds and blocks[i].box is None}
    units = [i for i, lead in leads.items() if lead.kind in ("story", "requirement") or carriers.is_unit_prefix(lead)]
    return sum(not source.under_criteria[index] for index in units) >= count


def many_own(source: Source, heads: list[int], signs: frozenset[str]) -> bool:
    """Tell whether at least half of these sections have boxes or one of these labels."""
    before = [0, *accumulate(int(_is_sign(block, signs)) for block in source.outline.blocks)]
    owning = sum(1 for start, end in carriers.bounded(source, heads) if before[end] > before[start + 1])
    return owning * 2 >= len(heads)


def _is_sign(block: Block, signs: frozenset[str]) -> bool:
    if block.kind is Kind.ITEM and block.box is not None:
        return True
    if block.kind is Kind.HEADING:
        return words.concept(block.text) in signs
    if block.kind not in (Kind.PARA, Kind.ITEM):
        return False
    return any((label := read_label(text)).is_label and label.concept in signs for text in block.lines)


def fill_most(source: Source, heads: list[int]) -> bool:
    """Tell whether these sections are at least half of the document."""
    covered = sum(end - start for start, end in carriers.bounded(source, heads))
    return covered * 2 >= len(source.outline.blocks)


def inside(source: Source, heads: list[int]) -> bytearray:
    """Return for each block whether it is in one of these sections."""
    return source.outline.cover(carriers.bounded(source, heads))


def boxes_outside(source: Source, heads: list[int]) -> dict[int, int]:
    """Map each heading to the box outside these sections that repeats its word and number."""
    within = inside(source, heads)
    by_key = {_key(source, index): index for index in heads}
    if len(by_key) < len(heads):
        return {}
    found: dict[int, int] = {}
    for index, block in enumerate(source.outline.blocks):
        if block.kind is Kind.ITEM and block.box is not None and not within[index] and _key(source, index) in by_key:
            found.setdefault(by_key[_key(source, index)], index)
    return found


def _key(source: Source, index: int) -> tuple[str, str]:
    lead = source.leads[index]
    return (lead.kind, ids.fold(lead.id)) if lead else ("", "")
