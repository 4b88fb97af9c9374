"""Findings about everything in a document that looks like a unit or a criterion but became neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.findings import note, warning
from santiago.planner.markdown.carriers import is_group
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone


def unplanned(
    source: Source,
    carriers: Sequence[Carrier],
    taken: bytearray,
    *,
    repeated: Sequence[int] = (),
    known: Sequence[int] = (),
) -> list[Finding]:
    """Return the findings. `carriers` define the units, and `taken` tells for each block whether a unit contains it."""
    reported_elsewhere = {*repeated, *known}
    defined = {ids.fold(made.id) for made in carriers if made.id}
    free = [
        (index, block)
        for index, block in enumerate(source.outline.blocks)
        if not taken[index] and index not in reported_elsewhere and source.zones[index] != Zone.EXCLUDED
    ]
    return [
        *_repetitions(source, repeated),
        *_odd_boxes(source, carriers),
        *_plain_heads(source, carriers),
        *_free_criteria(source, taken),
        *_empty_groups(source, taken),
        *_explained_ids(carriers, free),
        *_unplanned_stories(free),
        *_task_tables(source, free, defined),
        *_open_markers(source),
    ]


def _repetitions(source: Source, places: Sequence[int]) -> list[Finding]:
    """Report places that only repeat a unit, such as a summary list."""
    if not places:
        return []
    lines = sorted(source.outline.blocks[index].line for index in places)
    message = (
        f"{count(len(lines), 'line repeats', 'lines repeat')} units that are defined elsewhere "
        f"and were read as the same (line {_listed(lines)})"
    )
    return [note("merged", lines[0], message, "Nothing to do, if they are the same.")]


def _odd_boxes(source: Source, carriers: Sequence[Carrier]) -> Iterator[Finding]:
    for block in (source.outline.blocks[carrier.at] for carrier in carriers if carrier.at >= 0):
        if block.box is not None and block.box not in " xX~-" and block.box not in source.underway:
            message = f"the box [{block.box}] is not one of [ ] [x] [~] [-]; read as open"
            yield warning("unknown_box", block.line, message, "Use [ ] for open, [x] for done, [~] or [-] for dropped.")


def _plain_heads(source: Source, carriers: Sequence[Carrier]) -> Iterator[Finding]:
    """Report plain lines that begin with an id of the units' prefix and are followed by a list: they may be meant as headings."""
    leads = [source.named[carrier.at] for carrier in carriers if carrier.at in source.named]
    defined, prefixes = {lead.id for lead in leads}, {lead.prefix for lead in leads if lead.kind == "prefix"}
    alike = {at: lead for at, lead in source.named.items() if lead.prefix in prefixes and lead.id not in defined}
    for at, lead in alike.items():
        if _heads_list(source.outline.blocks[at : at + 2]):
            message = f"this line begins like a story of its own, {lead.id}, but was read as part of the text above it"
            hint = f"Make it a heading: `### {lead.id}: {lead.rest.strip(' -–—:')}`"
            yield warning("plain_head", source.outline.blocks[at].line, message, hint)


def _heads_list(blocks: list[Block]) -> bool:
    return [block.kind for block in blocks] == [Kind.PARA, Kind.ITEM] and len(blocks[0].lines) == 1


def _free_criteria(source: Source, taken: bytearray) -> Iterator[Finding]:
    """Report criteria sections of the whole document, which belong to no unit."""
    blocks = source.outline.blocks
    for index, block in enumerate(blocks):
        if taken[index] or block.kind is not Kind.HEADING or words.concept(block.text) != "criteria":
            continue
        if items := _outer_items(source, index, taken):
            message = f'{count(items, "criterion", "criteria")} under "{block.text}" belong{"s" if items == 1 else ""} to no story; not covered by any check'
            hint = "Move each under the requirement that it judges, or give the run a command that checks them."
            yield warning("criteria_of_no_story", block.line, message, hint)


def _outer_items(source: Source, heading: int, taken: bytearray, *, boxes: bool = True) -> int:
    """Return how many items of a section are neither inside another item nor inside a unit."""
    inside = [source.outline.blocks[i] for i in source.outline.inside(heading) if not taken[i]]
    items = [block for block in inside if block.kind is Kind.ITEM and block.parent < 0]
    return sum(boxes or block.box is None for block in items)


def _empty_groups(source: Source, taken: bytearray) -> Iterator[Finding]:
    """Report phases with a list but without a unit, if other phases have units."""
    blocks, ends = source.outline.blocks, source.outline.ends
    units = [0, *accumulate(taken)]
    groups = [index for index, block in enumerate(blocks) if block.kind is Kind.HEADING and is_group(block.text)]
    groups = [index for index in groups if source.zones[index] == Zone.PLAIN and not taken[index]]
    empty = [index for index in groups if units[ends[index]] == units[index]]
    for index in empty if len(empty) < len(groups) else ():
        if items := _outer_items(source, index, taken, boxes=False):
            message = f'"{blocks[index].text}" holds {count(items, "list item")}, none of them a story; not planned'
            hint = "Write them the way the other groups are written."
            yield warning("group_without_units", blocks[index].line, message, hint)


def _open_markers(source: Source) -> list[Finding]:
    if "NEEDS CLARIFICATION" not in source.text:
        return []
    lines = [number for number, line in enumerate(source.text.split("\n"), 1) if "NEEDS CLARIFICATION" in line]
    hint = "Answer it in the document before agents guess."
    return [warning("needs_clarification", line, "the document asks for a clarification here", hint) for line in lines]


def _listed(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")


_SENTENCE = pattern(r"(?<=[.:;!?])\s+")
_MOST = 2_000
"""Only the first characters of a block are searched, up to this many."""
_WORK = words.table("task|tasks|feature|features|requirement|user story|story|deliverable|work item|action|action item")


def _explained_ids(carriers: Sequence[Carrier], free: list[tuple[int, Block]]) -> Iterator[Finding]:
    """Report ids that have a prefix of the units and are explained outside all units: `also FR-4: …`."""
    defined = {ids.fold(made.id) for made in carriers if made.id}
    prefixes = sorted({ids.prefix_of(made.id) for made in carriers if made.id and made.id[0].isalpha()} - {""})
    if not prefixes:
        return
    explained = re.compile(
        rf"(?<![\w/-])((?:{'|'.join(map(re.escape, prefixes[:40]))})[-_ ]?\d[\w.]{{0,12}})[*_`]{{0,2}}\s?[:：—–]\s?\S"
    )
    for line, text in _lines(free):
        names = [name for name in explained.findall(text[:_MOST]) if ids.fold(name) not in defined]
        if names:
            defined |= set(map(ids.fold, names))
            message = f"{', '.join(names)} is explained here and was not taken as a story"
            hint = "Give it a line of its own that begins with the id, if it is one."
            yield warning("looks_like_a_unit", line, message, hint)


def _lines(free: list[tuple[int, Block]]) -> Iterator[tuple[int, str]]:
    for _, block in free:
        if block.kind in (Kind.PARA, Kind.ITEM, Kind.ROW):
            yield from enumerate(block.lines, block.line)


def _unplanned_stories(free: list[tuple[int, Block]]) -> Iterator[Finding]:
    """Report user stories in sentences outside all units."""
    lines = [
        block.line
        for _, block in free
        if block.kind in (Kind.PARA, Kind.ITEM) and any(map(words.is_story, _SENTENCE.split(block.text[:_MOST])))
    ]
    if lines:
        many = count(len(lines), "sentence is a user story", "sentences are user stories")
        message = f"{many} outside the planned list (line {_listed(lines)})"
        hint = "Write each as an item or heading of its own to plan it, or use --units as-a."
        yield note("looks_like_a_unit", lines[0], message, hint)


def _task_tables(source: Source, free: list[tuple[int, Block]], defined: set[str]) -> Iterator[Finding]:
    """Report tables of work whose rows became no units."""
    tables: dict[tuple[int, tuple[str, ...]], list[Block]] = {}
    for index, block in free:
        about = bool(block.cells) and ids.fold(block.cells[0].strip(" *`")) in defined  # the row is about a unit
        if block.kind is Kind.ROW and source.zones[index] == Zone.PLAIN and not about and _lists_work(block.header):
            tables.setdefault((block.section, block.header), []).append(block)
    for (_, header), rows in tables.items():
        message = f"{count(len(rows), 'row')} of the table {' | '.join(header[:5])} {'was' if len(rows) == 1 else 'were'} not taken as stories"
        hint = "Begin each row with an id in a column of its own to plan from it (--units table)."
        yield warning("looks_like_a_unit", rows[0].line, message, hint)


def _lists_work(header: tuple[str, ...]) -> bool:
    names = {words.normal(cell) for cell in header}
    return bool(names & _WORK and names & words.STATE_COLUMNS)
