"""Things in a document that come close to units. A refusal names them, so that the author sees what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from santiago.contract.counting import count
from santiago.contract.record import lean
from santiago.planner import ids, words
from santiago.planner.choosing import offered
from santiago.planner.markdown.carriers import label
from santiago.planner.markdown.lists.definitions import side_lists, span_of
from santiago.planner.markdown.lists.loose import feature_sections, items_under, loose_items, numbered_heads, phases
from santiago.planner.markdown.lists.model import view_of
from santiago.planner.markdown.outline import Kind
from santiago.planner.readers import unit_lists
from santiago.planner.source import Source


@lean(frozen=True)
class NearMiss:
    """Something close to units: its name, how many there are, and where."""

    what: str
    count: str
    line: int

    def __str__(self) -> str:
        return f"{self.count} (line {self.line})" if self.line else self.count


def seen(source: Source) -> list[NearMiss]:
    """Return what the document has that is close to units, the most useful first."""
    numbered = _counted(source, "its numbered headings", numbered_heads(source), "numbered heading")
    found = [*_phases(source), *numbered, *islice(_bullets(source), 4)]
    found = found or [*_counted(source, "its bullets", loose_items(source), "bullet")]
    tables = islice(_tables(source), 3)
    return [
        *found,
        *tables,
        *_boxes(source),
        *islice(_side(source), 4),
        *_ranges(source),
    ]


def lists(source: Source) -> list[str]:
    """Return the lists that `--units` could name, each with a description."""
    every = unit_lists.lists(source)
    return [f"{offer.units} ({offer.name})" for offer in (offered(each, every) for each in every)]


def _line(source: Source, places: list[int]) -> int:
    return source.outline.blocks[places[0]].line


def _phases(source: Source) -> Iterator[NearMiss]:
    if found := phases(source):
        steps = sum(len(items_under(source, index)) for index in found)
        names = [_name(source, index) for index in dict.fromkeys((found[0], found[-1]))]
        many = f"{count(len(found), 'heading')} {'..'.join(names)} with {count(steps, 'step')}"
        yield NearMiss("its phases", many, _line(source, found))


def _counted(source: Source, what: str, found: list[int], one: str) -> Iterator[NearMiss]:
    if found:
        yield NearMiss(what, count(len(found), one), _line(source, found))


def _bullets(source: Source) -> Iterator[NearMiss]:
    behind = 0
    for index in feature_sections(source):
        if index >= behind:
            behind = source.outline.ends[index]
            if items := items_under(source, index):
                name = _name(source, index)
                many = f"{count(len(items), 'bullet')} under {name}"
                yield NearMiss(name, many, source.outline.blocks[index].line)


def _boxes(source: Source) -> Iterator[NearMiss]:
    if boxes := [index for index, block in enumerate(source.outline.blocks) if block.box is not None]:
        section = source.outline.blocks[boxes[0]].section
        where = f" under {_name(source, section)} and the like" if section >= 0 else ""
        many = f"{count(len(boxes), 'check box', 'check boxes')}{where}, about how the whole is judged or out of scope"
        yield NearMiss("its boxes", many, _line(source, boxes))


def _side(source: Source) -> Iterator[NearMiss]:
    for prefix, members in side_lists(view_of(source)).items():
        many = f"{span_of(members)} ({len(members)} goals, metrics, decisions or the like)"
        yield NearMiss(prefix, many, source.outline.blocks[members[0].at].line)


def _tables(source: Source) -> Iterator[NearMiss]:
    """Yield the tables with a column such as Status or Severity: they list work or bugs, without ids."""
    blocks = source.outline.blocks
    rows = [block for block in blocks if block.kind is Kind.ROW and block.cells != block.header]
    for header in dict.fromkeys(row.header for row in rows):
        if not {words.normal(cell) for cell in header}.isdisjoint(words.STATE_COLUMNS | words.SEVERITY_COLUMNS):
            found = [row.line for row in rows if row.header == header]
            what = f"the table {' | '.join(header[:4])}"
            yield NearMiss(what, f"{count(len(found), 'row')} of {what}", found[0])


def _ranges(source: Source) -> Iterator[NearMiss]:
    texts = [block for block in source.outline.blocks if block.kind is not Kind.CODE and ids.is_range(block.text)]
    if texts:
        many = count(len(texts), "range of ids", "ranges of ids")
        yield NearMiss(
            "its ranges", f"{many} whose members are not defined, such as {texts[0].text[:40]}", texts[0].line
        )


def _name(source: Source, heading: int) -> str:
    text = label(source.outline.blocks[heading].text)
    return f'"{text}"' if len(text) <= 40 else f'"{text[:39]}…"'
