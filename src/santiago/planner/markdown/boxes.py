"""Check boxes as a tree: which boxes are units, which group other boxes, and which are details of a unit.

A box is a group if other boxes continue its number (`1.` with `1.1` and `1.2`, nested or not); then those are the units.
A box without a number inside a unit's box is one of its criteria.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import ids, words
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.outline import Block
from santiago.planner.source import Source, Zone

_POINTED = pattern(r"[\W_]*\d{1,4}[A-Za-z]?(?:[.):\]]|\*\*)")
_SHORT = 20
_STRICTLY_FORMAT = frozenset({"format", "legend", "task format", "path conventions", "table of contents", "example"})


class Box(NamedTuple):
    """A box that is a unit."""

    at: int
    found: ids.Found | None
    group: int
    """Index of the outermost box that groups it, or -1."""


class Boxes(NamedTuple):
    """The boxes of one document: the units, and the groups with their numbers."""

    units: list[Box]
    groups: dict[int, ids.Found | None]

    def counted(self, kind: str) -> int:
        return sum(1 for box in self.units if box.found is not None and box.found.kind == kind)


def number_of(block: Block, lead: ids.Found | None) -> ids.Found | None:
    """Return the id of a box. A bare number counts only with a point behind it, so `3 retries` has no id."""
    if lead is None or (lead.kind == "number" and not _POINTED.match(block.lines[0])):
        return None
    return lead


@lru_cache(maxsize=1)
def survey(source: Source) -> Boxes:
    """Return the boxes of a document that are units, and those that group them. Cached, since several readers need it."""
    return _Survey(source).run()


class _Survey:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.blocks = source.outline.blocks
        self.owner = [-1] * len(self.blocks)
        """For each block, the nearest box around it, or -1."""
        self.numbers: dict[int, ids.Found] = {}
        self.latest: dict[str, int] = {}
        self.group_of: dict[int, int] = {}
        self.groups: set[int] = set()
        self.candidates: list[int] = []
        self.prefixes = Counter(
            lead.prefix
            for block, lead in zip(self.blocks, source.leads, strict=True)
            if block.box is not None and lead is not None and lead.kind == "prefix"
        )
        self.few = 2 if source.outline.line_count > _SHORT else 1
        """How often a prefix must occur to count as one: a single `E2E` among boxes is a word."""

    def run(self) -> Boxes:
        for index, block in enumerate(self.blocks):
            if block.parent >= 0:
                self.owner[index] = (
                    block.parent if self.blocks[block.parent].box is not None else self.owner[block.parent]
                )
            if block.box is not None:
                self.take(index, block)
        units = [index for index in self.candidates if index not in self.groups and self.is_unit(index)]
        return Boxes(
            units=[Box(index, self.numbers.get(index), self.outermost(index)) for index in units],
            groups={index: self.numbers.get(index) for index in sorted(self.groups)},
        )

    def take(self, index: int, block: Block) -> None:
        number = number_of(block, self.source.leads[index])
        if number is None or (number.kind == "prefix" and self.prefixes[number.prefix] < self.few):
            self.candidates.append(index)
            return
        if self.owner[index] >= 0 and number.kind == "number":
            return  # a list number inside another box counts the steps of that box
        self.numbers[index] = number
        group = self.group_for(index, number)
        if group >= 0:
            self.groups.add(group)
            self.group_of[index] = group
        self.latest[stem(number.id)] = index
        self.candidates.append(index)

    def group_for(self, index: int, number: ids.Found) -> int:
        if (outer := self.owner[index]) in self.numbers:
            return outer if extends(number.id, self.numbers[outer].id) else -1
        head = stem(number.id).rpartition(".")[0]
        return self.latest.get(head, -1) if head else -1

    def is_unit(self, index: int) -> bool:
        """Tell whether a box is a unit of its own, and not a detail of another box or in a section such as sign-off."""
        if index in self.numbers:
            return not self.in_format_section(index)
        outer = self.owner[index]
        if outer >= 0:
            return outer in self.groups
        return is_plain(self.source, index)

    def in_format_section(self, index: int) -> bool:
        section = self.blocks[index].section
        return section >= 0 and words.matches(self.blocks[section].text, _STRICTLY_FORMAT)

    def outermost(self, index: int) -> int:
        group = self.group_of.get(index, -1)
        if group < 0 and index not in self.numbers and self.owner[index] in self.groups:
            group = self.owner[index]
        while group in self.group_of:
            group = self.group_of[group]
        return group


def is_plain(source: Source, index: int) -> bool:
    """Tell whether a box without an id is where units are: not under criteria, metrics, sign-off or gates."""
    return source.zones[index] != Zone.NEVER and not source.under_criteria[index]


def extends(inner: str, outer: str) -> bool:
    """Tell whether an id is a part of another: 1.2 of 1 or of 1.0, but not 12 of 1 and not T105a of T105."""
    return inner != outer and ids.fold(inner).startswith(stem(outer) + ".")


def is_part(inner: str, outer: str) -> bool:
    """Tell whether two ids are the same, or the first is a part of the second."""
    return ids.fold(inner) == ids.fold(outer) or extends(inner, outer)


def stem(identifier: str) -> str:
    """Return the beginning that the parts of an id share: 1 for 1 and for 1.0."""
    return ids.fold(identifier).removesuffix(".0")


def merged(source: Source, units: list[Box], groups: dict[int, ids.Found | None]) -> tuple[list[Box], list[Box]]:
    """Return the units without those that only repeat another one, and the repetitions.

    A summary list repeats the id and the title of a unit that is described elsewhere. The place with more content is kept.
    The same id with another title is another unit.
    """
    ends = source.outline.ends
    best = {_identity(number): index for index, number in groups.items() if number is not None}
    for at, number in ((box.at, box.found) for box in units if box.found is not None):
        rival = best.setdefault(_identity(number), at)
        if rival not in groups and ends[at] - at > ends[rival] - rival:
            best[_identity(number)] = at
    kept = [box for box in units if box.found is None or best[_identity(box.found)] == box.at]
    known = set(kept)
    return kept, [box for box in units if box not in known]


def _identity(number: ids.Found) -> tuple[str, str]:
    return ids.fold(number.id), words.normal(clean(number.rest))
