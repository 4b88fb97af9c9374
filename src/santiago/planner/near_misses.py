"""Things in a document that come close to units. A refusal names them, so that the author sees what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.record import lean
from santiago.planner import ids, words
from santiago.planner.markdown import heads
from santiago.planner.markdown.carriers import is_group, label
from santiago.planner.markdown.lists.choice import offers
from santiago.planner.markdown.lists.definitions import side_lists, span_of
from santiago.planner.markdown.lists.model import View
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone

_QUESTION = pattern(r"[\W_]*(?:Q|Question)\s*\d", re.IGNORECASE)
_MUST = pattern(r"\b(?:MUST|SHALL|SHOULD)\b")


@lean(frozen=True)
class NearMiss:
    """Something close to units: its name, how many there are, where, and whether `--allow-fallback` would plan it."""

    what: str
    count: str
    line: int
    fallback: bool = False

    def __str__(self) -> str:
        return f"{self.count} (line {self.line})" if self.line else self.count


def _headings(source: Source) -> list[tuple[int, Block]]:
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [(index, block) for index, (block, zone) in places if block.kind is Kind.HEADING and zone == Zone.PLAIN]


def feature_sections(source: Source) -> list[int]:
    """Return the headings that name features, requirements, scope or a roadmap. Excluded sections do not count."""
    is_title = source.outline.tops == 1
    named = [(index, block) for index, block in _headings(source) if block.level > 1 or not is_title]
    return [index for index, block in named if words.FEATURES.search(block.text) and not is_group(block.text)]


def phases(source: Source) -> list[int]:
    """Return the headings that name a phase, milestone or the like and have list items."""
    blocks = source.outline.blocks
    groups = [index for index, block in _headings(source) if is_group(block.text)]
    return [index for index in groups if any(blocks[i].kind is Kind.ITEM for i in source.outline.inside(index))]


def numbered_heads(source: Source) -> list[int]:
    """Return the numbered headings of the level that has most of them, unless they are chapters."""
    levels: dict[int, list[int]] = {}
    for index, block in _headings(source):
        if heads.is_numbered(source, index):
            levels.setdefault(block.level, []).append(index)
    level = max(levels, key=lambda level: (len(levels[level]), -level), default=0)
    found = levels.get(level, [])
    plain = [block.text for index, block in _headings(source) if block.level == level and index not in found]
    # One or two numbered headings among others may just as well be chapters.
    is_mixed = len(found) < 3 and not all(words.matches(text, words.CHAPTERS) for text in plain)
    return [] if is_mixed or heads.are_chapters(source, level) else found


def loose_items(source: Source) -> list[int]:
    """Return the outermost list items outside sections that are chapters of a text."""
    blocks = source.outline.blocks
    items = [index for index in _plain_items(source, range(len(blocks))) if blocks[index].section >= 0]
    names = {index: blocks[blocks[index].section].text for index in items}
    return [
        index
        for index, name in names.items()
        if not words.matches(name, words.CHAPTERS) and words.concept(name) in (None, "work")
    ]


def items_under(source: Source, heading: int) -> list[int]:
    """Return the outermost list items of a section."""
    return _plain_items(source, source.outline.inside(heading))


def _plain_items(source: Source, places: range) -> list[int]:
    outer = [index for index in places if source.outline.blocks[index].kind is Kind.ITEM]
    outer = [index for index in outer if source.outline.blocks[index].level == 0]
    return [index for index in outer if source.zones[index] == Zone.PLAIN and not source.under_criteria[index]]


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
        *_questions(source),
        *_musts(source),
    ]


def lists(source: Source) -> list[str]:
    """Return the lists that `--units` could name, each with a description."""
    found = [f"{min(offer.keys)} ({offer.name})" for offer in offers(View(source))]
    boxes = sum(1 for block in source.outline.blocks if block.box is not None)
    return [*found, f"box ({count(boxes, 'check box', 'check boxes')})"] if boxes else found


def _line(source: Source, places: list[int]) -> int:
    return source.outline.blocks[places[0]].line


def _phases(source: Source) -> Iterator[NearMiss]:
    if found := phases(source):
        steps = sum(len(items_under(source, index)) for index in found)
        names = [_name(source, index) for index in dict.fromkeys((found[0], found[-1]))]
        many = f"{count(len(found), 'heading')} {'..'.join(names)} with {count(steps, 'step')}"
        yield NearMiss("its phases", many, _line(source, found), fallback=True)


def _counted(source: Source, what: str, found: list[int], one: str) -> Iterator[NearMiss]:
    if found:
        yield NearMiss(what, count(len(found), one), _line(source, found), fallback=True)


def _bullets(source: Source) -> Iterator[NearMiss]:
    behind = 0
    for index in feature_sections(source):
        if index >= behind:
            behind = source.outline.ends[index]
            if items := items_under(source, index):
                name = _name(source, index)
                many = f"{count(len(items), 'bullet')} under {name}"
                yield NearMiss(name, many, source.outline.blocks[index].line, fallback=True)


def _boxes(source: Source) -> Iterator[NearMiss]:
    if boxes := [index for index, block in enumerate(source.outline.blocks) if block.box is not None]:
        section = source.outline.blocks[boxes[0]].section
        where = f" under {_name(source, section)} and the like" if section >= 0 else ""
        many = f"{count(len(boxes), 'check box', 'check boxes')}{where}, about how the whole is judged or out of scope"
        yield NearMiss("its boxes", many, _line(source, boxes))


def _side(source: Source) -> Iterator[NearMiss]:
    for prefix, members in side_lists(View(source)).items():
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


def _questions(source: Source) -> Iterator[NearMiss]:
    headings = [block for block in source.outline.blocks if block.kind is Kind.HEADING]
    if asked := [block.line for block in headings if _QUESTION.match(block.text)]:
        many = count(len(asked), "heading that is a question", "headings that are questions")
        yield NearMiss("its questions", many, asked[0])


def _musts(source: Source) -> Iterator[NearMiss]:
    texts = [block for block in source.outline.blocks if block.kind in (Kind.ITEM, Kind.PARA)]
    if len(lines := [block.line for block in texts if _MUST.search(block.text)]) > 4:
        yield NearMiss("its rules", f"{len(lines)} sentences with MUST, SHALL or SHOULD and no id", lines[0])


def _name(source: Source, heading: int) -> str:
    text = label(source.outline.blocks[heading].text)
    return f'"{text}"' if len(text) <= 40 else f'"{text[:39]}…"'
