"""Things in a document that come close to units. A refusal names them, so that the author sees what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from santiago.contract.counting import count
from santiago.planner import ids, words
from santiago.planner.choosing import offered
from santiago.planner.markdown.carriers import label
from santiago.planner.markdown.lists.definitions import side_lists, span_of
from santiago.planner.markdown.lists.loose import loose_items
from santiago.planner.markdown.lists.model import view_of
from santiago.planner.markdown.outline import Kind
from santiago.planner.readers import unit_lists
from santiago.planner.source import Source


def seen(source: Source) -> list[str]:
    """Return what the document has that is close to units, each with its line, the most useful first."""
    offers = [each.offer for each in islice(unit_lists.lists(source), 4)]
    loose = [f"{offer.name} ({count(offer.count, 'unit')}, line {offer.lines[0]})" for offer in offers]
    others = [*islice(_tables(source), 3), *_boxes(source), *islice(_side(source), 4), *_ranges(source)]
    found = others if loose else [*_bullets(source), *others]
    return [*loose, *(f"{what} (line {line})" for what, line in found)]


def lists(source: Source) -> list[str]:
    """Return the lists that `--units` could name, each with a description."""
    every = unit_lists.lists(source)
    return [f"{offer.units} ({offer.name})" for offer in (offered(each, every) for each in every)]


def _bullets(source: Source) -> list[tuple[str, int]]:
    found = loose_items(source)
    return [(count(len(found), "bullet"), source.outline.blocks[found[0]].line)] if found else []


def _boxes(source: Source) -> Iterator[tuple[str, int]]:
    blocks = source.outline.blocks
    if boxes := [block for block in blocks if block.box is not None]:
        where = f' under "{label(blocks[boxes[0].section].text)[:40]}" and the like' if boxes[0].section >= 0 else ""
        many = count(len(boxes), "check box", "check boxes")
        yield f"{many}{where}, about how the whole is judged or out of scope", boxes[0].line


def _side(source: Source) -> Iterator[tuple[str, int]]:
    for members in side_lists(view_of(source)).values():
        many = f"{span_of(members)} ({len(members)} goals, metrics, decisions or the like)"
        yield many, source.outline.blocks[members[0].at].line


def _tables(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the tables with a column such as Status or Severity: they list work or bugs, without ids."""
    blocks = source.outline.blocks
    rows = [block for block in blocks if block.kind is Kind.ROW and block.cells != block.header]
    for header in dict.fromkeys(row.header for row in rows):
        if not {words.normal(cell) for cell in header}.isdisjoint(words.STATE_COLUMNS | words.SEVERITY_COLUMNS):
            found = [row.line for row in rows if row.header == header]
            yield f"{count(len(found), 'row')} of the table {' | '.join(header[:4])}", found[0]


def _ranges(source: Source) -> Iterator[tuple[str, int]]:
    texts = [block for block in source.outline.blocks if block.kind is not Kind.CODE and ids.is_range(block.text)]
    if texts:
        many = count(len(texts), "range of ids", "ranges of ids")
        yield f"{many} whose members are not defined, such as {texts[0].text[:40]}", texts[0].line
