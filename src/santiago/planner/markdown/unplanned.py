"""Findings about single lines that look like a unit or a criterion but became neither. The account tells of whole sections."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.findings import note, of_no_story, warning
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone


def unplanned(
    source: Source,
    carriers: Sequence[Carrier],
    taken: bytearray,
    *,
    repeated: Sequence[int] = (),
    known: Collection[int] = (),
) -> list[Finding]:
    """Return the findings. `carriers` define the units, and `taken` tells for each block whether a unit contains it."""
    known = {*repeated, *known}
    free = [
        block
        for index, block in enumerate(source.outline.blocks)
        if not taken[index] and index not in known and source.zones[index] != Zone.EXCLUDED
    ]
    return [
        *_repetitions(source, repeated),
        *_odd_boxes(source, carriers),
        *_plain_heads(source, carriers),
        *_free_criteria(source, taken),
        *_explained_ids(carriers, free),
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
        inside = [blocks[i] for i in source.outline.inside(index) if not taken[i]]
        if items := sum(each.kind is Kind.ITEM and each.parent < 0 for each in inside):
            yield of_no_story(items, block.text, block.line)


def _open_markers(source: Source) -> list[Finding]:
    if "NEEDS CLARIFICATION" not in source.text:
        return []
    lines = [number for number, line in enumerate(source.text.split("\n"), 1) if "NEEDS CLARIFICATION" in line]
    hint = "Answer it in the document before agents guess."
    return [warning("needs_clarification", line, "the document asks for a clarification here", hint) for line in lines]


def _listed(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")


_MOST = 2_000
"""Only the first characters of a block are searched, up to this many."""


def _explained_ids(carriers: Sequence[Carrier], free: list[Block]) -> Iterator[Finding]:
    """Report ids that have a prefix of the units and are explained outside all units: `also FR-4: …`."""
    defined = {ids.fold(made.id) for made in carriers if made.id}
    prefixes = sorted({ids.prefix_of(made.id) for made in carriers if made.id and made.id[0].isalpha()} - {""})
    if not prefixes:
        return
    explained = re.compile(
        rf"(?<![\w/-])((?:{'|'.join(map(re.escape, prefixes[:40]))})[-_ ]?\d[\w.]{{0,12}})[*_`]{{0,2}}\s?[:：—–]\s?\S"
    )
    told = [block for block in free if block.kind in (Kind.PARA, Kind.ITEM, Kind.ROW)]
    for line, text in ((line, text) for block in told for line, text in enumerate(block.lines, block.line)):
        names = [name for name in explained.findall(text[:_MOST]) if ids.fold(name) not in defined]
        if names:
            defined |= set(map(ids.fold, names))
            message = f"{', '.join(names)} is explained here and was not taken as a story"
            hint = "Give it a line of its own that begins with the id, if it is one."
            yield warning("looks_like_a_unit", line, message, hint)
