"""Lines outside every unit that look like one: ids in a sentence, As-a sentences in a paragraph, rows of a task table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import ids, words
from santiago.planner.findings import note, warning
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.contract.plan import Finding
    from santiago.planner.markdown.harvest import Carrier
    from santiago.planner.source import Source

_SENTENCE = pattern(r"(?<=[.:;!?])\s+")
_MOST = 2_000
"""Characters of a block that are looked through."""
_WORK = frozenset(
    {
        "task",
        "tasks",
        "feature",
        "features",
        "requirement",
        "user story",
        "story",
        "deliverable",
        "work item",
        "action",
        "action item",
    }
)


def unclaimed(source: Source, carriers: Sequence[Carrier], taken: bytearray, known: set[int]) -> list[Finding]:
    """Return a finding for every place of this kind that no unit took and nothing else speaks of."""
    free = [
        (index, block)
        for index, block in enumerate(source.outline.blocks)
        if not taken[index] and index not in known and source.zones[index] != Zone.EXCLUDED
    ]
    defined = {ids.fold(made.id) for made in carriers if made.id}
    return [*_ids(carriers, free), *_stories(free), *_tables(source, free, defined)]


def _ids(carriers: Sequence[Carrier], free: list[tuple[int, Block]]) -> Iterator[Finding]:
    """Yield the ids that are explained somewhere (`also FR-4: …`), by the prefixes that the units have."""
    defined = {ids.fold(made.id) for made in carriers if made.id}
    prefixes = sorted({ids.prefix_of(made.id) for made in carriers if made.id and made.id[0].isalpha()} - {""})
    if not prefixes:
        return
    explained = re.compile(
        rf"(?<![\w/-])((?:{'|'.join(map(re.escape, prefixes[:40]))})[-_ ]?\d[\w.]{{0,12}})[*_`]{{0,2}}\s?[:：—–]\s?\S"
    )
    for _, block in free:
        if block.kind not in (Kind.PARA, Kind.ITEM, Kind.ROW):
            continue
        for line, text in enumerate(block.lines, block.line):
            names = [name for name in explained.findall(text[:_MOST]) if ids.fold(name) not in defined]
            if names:
                defined |= set(map(ids.fold, names))
                yield warning(
                    "looks_like_a_unit",
                    line,
                    f"{', '.join(names)} is explained here and was not taken as a story",
                    "Give it a line of its own that begins with the id, if it is one.",
                )


def _stories(free: list[tuple[int, Block]]) -> Iterator[Finding]:
    lines = [
        block.line
        for _, block in free
        if block.kind in (Kind.PARA, Kind.ITEM) and any(map(words.is_story, _SENTENCE.split(block.text[:_MOST])))
    ]
    if lines:
        shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
        many = "sentence is a user story" if len(lines) == 1 else "sentences are user stories"
        yield note(
            "looks_like_a_unit",
            lines[0],
            f"{len(lines)} {many} outside the planned list (line {shown})",
            "Write each as an item or heading of its own to plan it, or use --units as-a.",
        )


def _tables(source: Source, free: list[tuple[int, Block]], defined: set[str]) -> Iterator[Finding]:
    tables: dict[tuple[int, tuple[str, ...]], list[Block]] = {}
    for index, block in free:
        if block.cells and ids.fold(block.cells[0].strip(" *`")) in defined:
            continue  # a row about a unit
        names = {words.normal(cell) for cell in block.header}
        if (
            block.kind is Kind.ROW
            and source.zones[index] == Zone.PLAIN
            and names & _WORK
            and names & words.STATE_COLUMNS
        ):
            tables.setdefault((block.section, block.header), []).append(block)
    for (_, header), rows in tables.items():
        shown = " | ".join(header[:5])
        many = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
        yield warning(
            "looks_like_a_unit",
            rows[0].line,
            f"{many} of the table {shown} were not taken as stories",
            "Begin each row with an id in a column of its own to plan from it (--units table).",
        )
