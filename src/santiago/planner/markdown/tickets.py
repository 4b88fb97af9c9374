"""Plans made of tickets: roadmap boxes of gsd, tables of issue numbers with a status, headings `DOC-030` that own boxes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import hints, words
from santiago.planner.draft import Document, Status, Unit
from santiago.planner.markdown import assemble, boxes, carriers, heads
from santiago.planner.markdown.harvest import clean, status_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Zone

if TYPE_CHECKING:
    from santiago.planner.source import Source

ROADMAP = pattern(r"`(?:est|risk|depends):")
"""A mark that only gsd writes behind a title."""
_MARKS = pattern(r"\s*`(?:est|risk|depends):[^`]*`")
_ISSUE = pattern(r"^[*_`\[]*#(\d+)[\]*_`]*(?:\([^)]*\))?$")


def roadmap(source: Source) -> Document | None:
    """Read gsd-2 lines: `- [ ] **S01: Title** `risk:high` `depends:[S01]``."""
    blocks = source.outline.blocks
    found = [
        i
        for i, b in enumerate(blocks)
        if b.kind is Kind.ITEM
        and b.box is not None
        and (lead := source.leads[i])
        and lead.kind == "prefix"
        and ROADMAP.search(b.text)
    ]
    if not found:
        return None
    made = []
    for (index, end), chunk in zip(
        carriers.bounded(source, found), carriers.section_chunks(source, found), strict=True
    ):
        lead = source.leads[index]
        title = _MARKS.sub("", lead.rest) if lead else ""
        made.append(carriers.carrier(source, index, end=end, found=lead, title=title, chunk=chunk))
    return assemble.document(source, "gsd-roadmap", [f"{len(found)} boxes with gsd marks"], made)


def issue_table(source: Source) -> Document | None:
    """Read tables whose first column holds issue numbers and another one their status."""
    blocks = source.outline.blocks
    rows = [
        i for i, b in enumerate(blocks) if b.kind is Kind.ROW and _ISSUE.match(b.cells[0]) and _column(b, "status") > 0
    ]
    if len(rows) < 2 or heads.has_stories(source, len(rows)):
        return None
    first: dict[tuple[str, ...], int] = {}
    for index in rows:
        first.setdefault(blocks[index].cells[:2], index)
    again = [index for index in rows if first[blocks[index].cells[:2]] != index]
    rows = list(first.values())
    made = []
    for index, chunk in zip(rows, carriers.section_chunks(source, rows), strict=True):
        row = blocks[index]
        number = _ISSUE.match(row.cells[0])
        title = next((cell for cell in row.cells[1:] if cell), "")
        found = carriers.carrier(
            source, index, title=title, chunk=chunk, status=status_of(_cell(row, "status")) or Status.OPEN
        )
        made.append(
            replace(found, id=number[1] if number else None, priority=clean(_cell(row, "priority")) or found.priority)
        )
    document = assemble.document(
        source, "issue-table", [f"{len(rows)} table rows with issue numbers and a status"], made, repeated=again
    )
    units = zip(document.units, rows, strict=True)
    # Issue numbers say when somebody wrote it down, not what comes first.
    document.units = [replace(_with_deps(unit, blocks[at]), rank=place) for place, (unit, at) in enumerate(units)]
    return document


def _column(row: Block, concept: str) -> int:
    return next((at for at, name in enumerate(row.header) if words.concept(name) == concept), -1)


def _cell(row: Block, concept: str) -> str:
    at = _column(row, concept)
    return row.cells[at] if 0 <= at < len(row.cells) else ""


def _with_deps(unit: Unit, row: Block) -> Unit:
    return replace(unit, deps=tuple(hints.field_deps(_cell(row, "depends"), row.line, "table")))


def headings(source: Source) -> Document | None:
    """Read headings with ids whose boxes are their steps; boxes outside of them are units too."""
    by_prefix: dict[str, list[int]] = {}
    for index, block in enumerate(source.outline.blocks):
        lead = source.leads[index]
        if (
            block.kind is Kind.HEADING
            and lead is not None
            and carriers.is_unit_prefix(lead)
            and source.zones[index] != Zone.NEVER
        ):
            by_prefix.setdefault(lead.prefix, []).append(index)
    found = max(by_prefix.values(), key=len, default=[])
    if len(found) < 2 or any(source.under_criteria) or not heads.many_own(source, found, frozenset()):
        return None
    within = heads.inside(source, found)
    loose = [box.at for box in boxes.survey(source).units if not within[box.at] and boxes.is_plain(source, box.at)]
    starts = sorted([*found, *loose])
    places = zip(carriers.bounded(source, starts), carriers.section_chunks(source, starts), strict=True)
    made = [
        carriers.carrier(source, start, end=end, found=source.leads[start] if within[start] else None, chunk=chunk)
        for (start, end), chunk in places
    ]
    return assemble.document(source, "plan-steps", [f"{len(found)} headings with ids that own boxes"], made)
