"""Stories by their sentence (rule 13): "As a …, I want …" as bullets, paragraphs or headings, in many languages."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.planner import words
from santiago.planner.markdown.carriers import carrier, is_group
from santiago.planner.markdown.lists.extent import extents, grouped
from santiago.planner.markdown.lists.model import UnitList, View
from santiago.planner.markdown.outline import Kind

if TYPE_CHECKING:
    from santiago.planner.markdown.harvest import Carrier


def as_a_lists(view: View) -> list[UnitList]:
    """Return the As-a sentences as one list; a heading that holds just one of them is the unit."""
    if not view.stories:
        return []
    per_section = Counter(view.blocks[index].section for index in view.stories)
    starts = sorted({_carrier_of(view, index, per_section) for index in view.stories})
    carriers = grouped(view, [_carrier(view, at, end) for at, end in extents(view, starts)])
    return [
        UnitList(
            rule=13,
            kind="as-a",
            name="As-a sentences",
            carriers=tuple(carriers),
            explicit=view.explicit(carriers),
            keys=frozenset({"as-a", "story", "stories"}),
        )
    ]


def _carrier_of(view: View, index: int, per_section: Counter[int]) -> int:
    """Return the heading right above a sentence where it names that one story, else the sentence itself."""
    block = view.blocks[index]
    section = block.section
    if block.kind is Kind.HEADING or section < 0 or per_section[section] > 1 or block.level > 0 or block.parent >= 0:
        return index
    heading = view.blocks[section]
    if heading.level == 1 or is_group(heading.text) or words.normal(heading.text) in words.STORY_SECTIONS:
        return index
    if (
        block.kind is Kind.ITEM
        and not view.criteria_before[view.ends[section]] > view.criteria_before[view.ends[index]]
    ):
        return index
    return section


def _carrier(view: View, at: int, end: int) -> Carrier:
    made = carrier(view.source, at, end=end)
    if view.blocks[at].kind is Kind.HEADING:
        lead = view.source.leads[at]
        return (
            replace(made, title=lead.rest)
            if lead is not None and lead.kind in ("number", "dotted") and lead.rest
            else made
        )
    return made
