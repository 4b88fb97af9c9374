"""The meaning of table columns; and tables whose first line is a title or blank, with the real header in the first row."""

from __future__ import annotations

from functools import lru_cache

from santiago.planner import words
from santiago.planner.markdown.outline import Block, Kind, Outline

_ENOUGH = 2
"""A row is the real header if it has this many known column names and the written header has fewer."""


def mended(outline: Outline) -> Outline:
    """Give the rows of such tables their real header. The row with the header then equals its own header."""
    blocks = outline.blocks
    for index, block in enumerate(blocks):
        first = block.kind is Kind.ROW and (index == 0 or blocks[index - 1].header is not block.header)
        if first and len(columns_of(block.header)) < _ENOUGH <= len(columns_of(block.cells)):
            written, real = block.header, block.cells
            at = index
            while at < len(blocks) and blocks[at].header is written:
                blocks[at].header = real
                at += 1
    return outline


@lru_cache(maxsize=256)
def columns_of(header: tuple[str, ...]) -> dict[str, int]:
    """Return the first column of each meaning in a header."""
    found: dict[str, int] = {}
    for at, cell in enumerate(header):
        if (meaning := column(cell)) is not None:
            found.setdefault(meaning, at)
    return found


def cell_of(row: Block, meaning: str) -> str:
    """Return the cell of a row in the column of this meaning; an empty text if there is none."""
    at = columns_of(row.header).get(meaning, len(row.cells))
    return row.cells[at] if at < len(row.cells) else ""


def id_column(header: tuple[str, ...]) -> int:
    """Return which column holds the ids: the one with such a name, else the first."""
    return columns_of(header).get("id", 0)


@lru_cache(maxsize=1024)
def column(cell: str) -> str | None:
    """Return what a column with this header says about a unit: `id`, `title`, `role`, `priority`, … or None."""
    name = words.normal(cell) or cell.strip()
    if len(name) > 60:
        return None
    concept = words.concept(cell)
    if name in words.ID_COLUMNS or name.endswith(" id"):
        return "id"
    if concept in ("priority", "criteria", "depends", "status"):
        return concept
    if words.opens_story(f"{name} x"):
        return "role"
    named = not words.NAME_COLUMNS.isdisjoint((name, name.split(" ")[0]))
    return "title" if named or concept == "title" or words.WISH_COLUMN.match(name) else None
