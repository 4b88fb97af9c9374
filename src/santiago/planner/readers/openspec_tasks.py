"""OpenSpec task lists: `- [ ] 1.1 text` under `## 1. Group`; the boxes are the units, the headings their chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.markdown import assemble, boxes, carriers, ordering
from santiago.planner.markdown.outline import Kind

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.markdown.boxes import Box
    from santiago.planner.markdown.harvest import Carrier
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    found = boxes.survey(source)
    dotted = [box for box in found.units if box.found is not None and box.found.kind == "dotted"]
    grouped = any(carriers.chunk_of(source, box.at, numbered=True) for box in dotted[:1])
    if not dotted or (len(dotted) < 2 and not grouped) or _details_of_stories(source, dotted):
        return None
    units, repeated = boxes.merged(source, found.units, found.groups)
    evidence = [f"{len(dotted)} boxes with ids such as {dotted[0].found.id}"] if dotted[0].found else []
    again = [box.at for box in repeated]
    document = assemble.document(
        source, "openspec-tasks", evidence, _carriers(source, units), repeated=again, known=list(found.groups)
    )
    return ordering.ordered(source, document)


def _details_of_stories(source: Source, dotted: list[Box]) -> bool:
    """Tell whether most of these boxes stand under headings that are units themselves, such as `### Story 1.1`."""
    inside = sum(1 for box in dotted if _story_above(source, box.at))
    return 2 * inside > len(dotted)


def _story_above(source: Source, index: int) -> bool:
    for heading in source.outline.path(index):
        lead = source.leads[heading]
        if (
            source.outline.blocks[heading].kind is Kind.HEADING
            and lead is not None
            and (
                lead.kind in ("story", "requirement", "feature")
                or (lead.kind == "prefix" and carriers.is_unit_prefix(lead))
            )
        ):
            return True
    return False


def _carriers(source: Source, units: list[Box]) -> list[Carrier]:
    ends = carriers.bounded(source, [box.at for box in units])
    labels = carriers.section_chunks(source, [box.at for box in units], numbered=True)
    return [
        carriers.carrier(source, box.at, end=end, found=box.found, chunk=chunk)
        for box, (_, end), chunk in zip(units, ends, labels, strict=True)
    ]
