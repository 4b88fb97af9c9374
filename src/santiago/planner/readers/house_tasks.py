"""The house format v1: `### Task N:` blocks with an `**ID:**` field, and the commands of the run under Meta."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.plan import Finding
from santiago.planner.findings import warning
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    blocks = source.outline.blocks
    heads = [
        i for i, b in enumerate(blocks) if b.kind is Kind.HEADING and (lead := source.leads[i]) and lead.kind == "task"
    ]
    extents = carriers.bounded(source, heads)
    with_id = {start for start, end in extents if any(_is_id_field(blocks[i]) for i in range(start + 1, end))}
    if not with_id:
        return None
    made = []
    for start, end in extents:
        lead = source.leads[start]
        found = carriers.carrier(source, start, end=end, found=lead, chunk=carriers.chunk_of(source, start))
        made.append(replace(found, id=None, tags=(found.id or "",)) if start in with_id else found)
    evidence = [f"{len(with_id)} blocks Task N with an ID field"]
    document = assemble.document(source, "house-tasks", evidence, made, implicit=False)
    document.findings += [_without_id(blocks[start]) for start in heads if start not in with_id]
    return document


def _is_id_field(block: Block) -> bool:
    if block.kind not in (Kind.ITEM, Kind.PARA):
        return False
    return any(
        (label := read_label(line)).concept == "id" and label.is_label and bool(label.rest) for line in block.lines
    )


def _without_id(block: Block) -> Finding:
    return warning(
        "no_id",
        block.line,
        f'"{block.text}" has no ID field, while other tasks of this document have one',
        'Add "- **ID:** T-001" with a number of its own, so that other tasks can depend on it.',
    )
