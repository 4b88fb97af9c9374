"""Plain check lists: every top-level box is a unit, except under criteria, metrics, sign-off and Definition of Done.

The meaning of a section depends on the other sections. A Backlog beside other open lists was put off; alone it is the
list. A task that is also listed under Completed is one unit, and done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from santiago.contract.patterns import pattern
from santiago.planner import words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import Document, Status
from santiago.planner.markdown import assemble, boxes, carriers
from santiago.planner.markdown.boxes import Box
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Source

_PUNCTUATION = pattern(r"[\W_]+")
_OPENING = 3
"""Two titles of the same task share at least this many words at their beginning."""
_LONGEST = 60
_SHORT = 60
"""In a document of at most this many lines, a single box is a list."""


def lists(view: View) -> list[UnitList]:
    """Return the boxes of a document as one list."""
    source = view.source
    found = [box for box in boxes.survey(source).units if boxes.is_plain(source, box.at)]
    if not found or (len(found) < 2 and source.outline.line_count > _SHORT):
        return []
    heads = list(dict.fromkeys(view.blocks[box.at].section for box in found))
    where = carriers.label(view.blocks[heads[0]].text) if heads[0] >= 0 else ""
    name = f"the boxes under {where}{' and others' if heads[1:] else ''}" if where else "the boxes"
    made, keys = tuple(_carriers(source, found)), frozenset({"box", "boxes", "task", "tasks"})
    return [UnitList(view, Evidence.BOXES, "box", name, made, keys, build=lambda: _document(source, found))]


def _document(source: Source, found: list[Box]) -> Document:
    sections = _Sections(source, found)
    made = [sections.with_section_status(carrier) for carrier in _carriers(source, found)]
    kept, repeated = sections.merged(made)
    evidence = [f"{len(found)} check boxes outside criteria and sign-off"]
    return assemble.document(source, "checklist", evidence, kept, repeated=repeated)


def _carriers(source: Source, found: list[Box]) -> Iterator[Carrier]:
    places = carriers.places(source, [box.at for box in found], numbered=True)
    for box, (at, end, section) in zip(found, places, strict=True):
        chunk = carriers.label(source.outline.blocks[box.group].text) if box.group >= 0 else section
        made = carriers.carrier(source, at, end=end, found=box.found, chunk=chunk)
        is_count = box.found is not None and box.found.kind == "number"
        yield replace(made, id=None, tags=(made.id or "",)) if is_count else made


class _Sections:
    """What the sections of this document mean, in view of each other."""

    def __init__(self, source: Source, found: list[Box]) -> None:
        self.source = source
        blocks = source.outline.blocks
        one_of_each = {blocks[box.at].section: box.at for box in found}
        by_section = {section: self.name_of(at) for section, at in one_of_each.items()}
        self.names = {box.at: by_section[blocks[box.at].section] for box in found}
        self.has_others = any(
            name not in words.DONE_SECTIONS | words.BACKLOG_SECTIONS
            and carriers.box_status(source, source.outline.blocks[at]) is Status.OPEN
            for at, name in self.names.items()
        )
        """A section that is neither Completed nor Backlog has an open box."""

    def name_of(self, index: int) -> str:
        """Return the name of the nearest section around a box that is Completed, Backlog or Optional; else nothing."""
        outline = self.source.outline
        known = words.DONE_SECTIONS | words.BACKLOG_SECTIONS | words.OPTIONAL_SECTIONS
        names = (words.section_name(outline.blocks[at].text, known) for at in reversed(outline.path(index)))
        return next(filter(None, names), "")

    def with_section_status(self, carrier: Carrier) -> Carrier:
        """Return the carrier with the status that its section gives it."""
        name = self.names[carrier.at]
        if carrier.status is not Status.OPEN:
            return carrier
        if name in words.BACKLOG_SECTIONS and self.has_others:
            return replace(carrier, status=Status.FUTURE)
        return replace(carrier, status=Status.OPTIONAL) if name in words.OPTIONAL_SECTIONS else carrier

    def merged(self, made: list[Carrier]) -> tuple[list[Carrier], list[int]]:
        """Return the carriers without those that a Completed section repeats, and the places of the repetitions."""
        done = [carrier for carrier in made if self.is_done(carrier)]
        names = set(map(_comparable_title, done))
        again, ticked = _same_tasks(
            names, {_comparable_title(carrier) for carrier in made if not self.is_done(carrier)}
        )
        gone = {carrier.at: carrier for carrier in done if _comparable_title(carrier) in again}
        kept = [carrier for carrier in made if carrier.at not in gone]
        return [self.ticked(carrier, ticked) for carrier in kept], list(gone)

    def ticked(self, carrier: Carrier, names: set[str]) -> Carrier:
        counts = _comparable_title(carrier) in names and not self.is_done(carrier) and carrier.status is Status.OPEN
        return replace(carrier, status=Status.DONE) if counts else carrier

    def is_done(self, carrier: Carrier) -> bool:
        return self.names[carrier.at] in words.DONE_SECTIONS


def _same_tasks(done: set[str], others: set[str]) -> tuple[set[str], set[str]]:
    """Compare two sets of titles. Return, for each set, the titles whose task is also in the other set."""
    twins = [(opening, name) for name in others for opening in _openings(name, done)]
    twins += [(name, opening) for name in done for opening in _openings(name, others)]
    return {name for name, _ in twins}, {name for _, name in twins}


def _comparable_title(carrier: Carrier) -> str:
    return _PUNCTUATION.sub(" ", carrier.title).strip().lower()


def _openings(name: str, names: set[str]) -> list[str]:
    """Return the names that equal this name or its first words: `Write tests for X` for `Write tests for X (41 tests)`."""
    parts = name.split()
    openings = (" ".join(parts[:size]) for size in range(_OPENING, min(len(parts), _LONGEST)))
    return [opening for opening in (name, *openings) if opening in names]
