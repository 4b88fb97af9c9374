"""The account of a document: a finding for everything in it that looks like a unit or a criterion and became neither."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import words
from santiago.planner.findings import note, warning
from santiago.planner.markdown.carriers import is_group
from santiago.planner.markdown.outline import Kind
from santiago.planner.markdown.unclaimed import unclaimed
from santiago.planner.source import Source, Zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.planner.markdown.harvest import Carrier

_FENCED_UNIT = pattern(r"^\s*(?:- \[[ xX]\] |#{1,6} |(?:- )?\**[A-Z]{1,6}-?\d+[:. ])")


def account(
    source: Source,
    carriers: Sequence[Carrier],
    taken: bytearray,
    *,
    repeated: Sequence[int] = (),
    known: Sequence[int] = (),
) -> list[Finding]:
    """Return what these carriers leave out of the document."""
    return [
        *repetitions(source, repeated),
        *_odd_boxes(source, carriers),
        *_plain_heads(source, carriers),
        *_free_criteria(source, taken),
        *_free_boxes(source, taken, {*repeated, *known}),
        *_empty_groups(source, taken),
        *_excluded_sections(source, taken),
        *unclaimed(source, carriers, taken, {*repeated, *known}),
        *_unread_fences(source),
        *_open_markers(source),
    ]


def repetitions(source: Source, places: Sequence[int]) -> list[Finding]:
    """Report places that only repeat a unit which is defined elsewhere, such as a summary list."""
    if not places:
        return []
    lines = sorted(source.outline.blocks[index].line for index in places)
    message = (
        f"{len(lines)} lines repeat units that are defined elsewhere and were read as the same (line {_listed(lines)})"
    )
    return [note("merged", lines[0], message, "Nothing to do, if they are the same.")]


def _odd_boxes(source: Source, carriers: Sequence[Carrier]) -> list[Finding]:
    return [
        warning(
            "unknown_box",
            block.line,
            f"the box [{block.box}] is none of [ ] [x] [~] [-]; read as open",
            "Use [ ] for open, [x] for done, [~] or [-] for dropped.",
        )
        for block in (source.outline.blocks[carrier.at] for carrier in carriers if carrier.at >= 0)
        if block.box is not None and block.box not in " xX~-" and block.box not in source.underway
    ]


def _plain_heads(source: Source, carriers: Sequence[Carrier]) -> list[Finding]:
    """Report plain lines that begin as the units do and have a list below, but are neither headings nor items."""
    blocks = source.outline.blocks
    leads = [lead for carrier in carriers if carrier.at >= 0 and (lead := source.leads[carrier.at]) is not None]
    defined, prefixes = {lead.id for lead in leads}, {lead.prefix for lead in leads if lead.kind == "prefix"}
    return [
        warning(
            "plain_head",
            block.line,
            f"this line begins like a story of its own, {lead.id}, and was read as part of what stands above it",
            f"Make it a heading: `### {lead.id}: {lead.rest.strip(' -–—:')}`",
        )
        for block, below, lead in zip(blocks, blocks[1:], source.leads, strict=False)
        if block.kind is Kind.PARA
        and below.kind is Kind.ITEM
        and lead is not None
        and lead.prefix in prefixes
        and lead.id not in defined
        and len(block.lines) == 1
    ]


def _free_criteria(source: Source, taken: bytearray) -> list[Finding]:
    """Report criteria of the whole document, which belong to no unit."""
    found: list[Finding] = []
    blocks = source.outline.blocks
    for index, block in enumerate(blocks):
        if taken[index] or block.kind is not Kind.HEADING or words.concept(block.text) != "criteria":
            continue
        inside = [
            i
            for i in source.outline.inside(index)
            if not taken[i] and blocks[i].kind is Kind.ITEM and blocks[i].level == 0
        ]
        if inside:
            message = f'{len(inside)} criteria under "{block.text}" belong to no story; they are not checked by any'
            hint = "Move each under the requirement that it judges, or give the run a command that checks them."
            found.append(warning("criteria_of_no_story", block.line, message, hint))
    return found


def _free_boxes(source: Source, taken: bytearray, known: set[int]) -> list[Finding]:
    """Report check boxes outside every unit, by section."""
    blocks = source.outline.blocks
    by_section: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        is_free = (
            block.kind is Kind.ITEM
            and block.box is not None
            and block.parent < 0
            and not taken[index]
            and index not in known
        )
        if is_free and not (block.section >= 0 and words.concept(blocks[block.section].text) == "criteria"):
            by_section.setdefault(block.section, []).append(index)
    found = []
    for section, boxes in by_section.items():
        where = f'under "{blocks[section].text}"' if section >= 0 else "before the first heading"
        message = f"{len(boxes)} check boxes {where} are outside every story; not planned"
        hint = "Move them under a story, or into the list of stories, if they are work to be done."
        found.append(note("boxes_left_out", blocks[boxes[0]].line, message, hint))
    return found


def _empty_groups(source: Source, taken: bytearray) -> list[Finding]:
    """Report phases that hold a list but no unit, in a document whose other phases hold units."""
    blocks = source.outline.blocks
    units = [0, *accumulate(taken)]
    items = [0, *accumulate(int(b.kind is Kind.ITEM and b.parent < 0 and b.box is None) for b in blocks)]
    groups = [
        i
        for i, b in enumerate(blocks)
        if b.kind is Kind.HEADING and not taken[i] and is_group(b.text) and source.zones[i] == Zone.PLAIN
    ]
    ends = source.outline.ends
    if not any(units[ends[i]] > units[i] for i in groups):
        return []
    return [
        warning(
            "group_without_units",
            blocks[i].line,
            f'"{blocks[i].text}" holds {items[ends[i]] - items[i]} list items, none of them a story; not planned',
            "Write them the way the other groups are written.",
        )
        for i in groups
        if units[ends[i]] == units[i] and items[ends[i]] > items[i]
    ]


def _excluded_sections(source: Source, taken: bytearray) -> list[Finding]:
    """Report how many items stand in sections that are out of scope or put off, where they are no units."""
    blocks = source.outline.blocks
    found, behind = [], 0
    for index, block in enumerate(blocks):
        if index < behind or block.kind is not Kind.HEADING or source.zones[index] != Zone.EXCLUDED:
            continue
        behind = source.outline.ends[index]
        items = sum(
            1
            for i in source.outline.inside(index)
            if blocks[i].kind is Kind.ITEM and blocks[i].parent < 0 and not taken[i]
        )
        if items:
            message = f'{items} items under "{block.text}" are out of scope or put off; not planned'
            hint = "Move them out of that section to plan them."
            found.append(note("out_of_scope", block.line, message, hint))
    return found


def _unread_fences(source: Source) -> list[Finding]:
    lines = [
        block.line
        for index, block in enumerate(source.outline.blocks)
        if block.kind is Kind.CODE
        and source.zones[index] == Zone.PLAIN
        and any(_FENCED_UNIT.match(line) for line in block.lines[1:-1])
    ]
    if not lines:
        return []
    message = f"code fences hold lines that look like requirements and were not read (line {_listed(lines)})"
    return [note("fence_not_read", lines[0], message, "Move requirements out of code fences.")]


def _open_markers(source: Source) -> list[Finding]:
    if "NEEDS CLARIFICATION" not in source.text:
        return []
    lines = [number for number, line in enumerate(source.text.split("\n"), 1) if "NEEDS CLARIFICATION" in line]
    hint = "Answer it in the document before agents guess."
    return [warning("needs_clarification", line, "the document asks for a clarification here", hint) for line in lines]


def _listed(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
