"""The data that all modules of this package share: a list of units, and the places of criteria labels and As-a sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Offer
from santiago.contract.record import lean
from santiago.planner import words
from santiago.planner.choosing import Evidence, Standing
from santiago.planner.draft import PLANNED, Document
from santiago.planner.markdown.carriers import indexes, is_group, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source

_PLACEHOLDER = pattern(r"[\[<{][a-z][a-z /_-]{2,40}[\]>}]", re.IGNORECASE)
"""A placeholder: `As a [user], I want to [action]` is a template."""


@lru_cache(maxsize=1)
def view_of(source: Source) -> View:
    return View(source)


class View:
    """A source with further views that several modules need. Each view is computed once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.blocks = source.outline.blocks
        self.ends = source.outline.ends

    @cached_property
    def criteria_marks(self) -> list[int]:
        """The blocks that announce or begin acceptance criteria."""
        return [index for index, block in enumerate(self.blocks) if marks_criteria(block)]

    @cached_property
    def criteria_before(self) -> list[int]:
        """For each block, how many criteria marks come before it. A range is then counted by one subtraction."""
        return self._before(self.criteria_marks)

    def _before(self, places: list[int]) -> list[int]:
        flags = bytearray(len(self.blocks))
        for index in places:
            flags[index] = 1
        return [0, *accumulate(flags)]

    def explicit(self, carriers: Iterable[Carrier]) -> bool:
        before = self.criteria_before
        owners = [before[carrier.end] > before[carrier.at] for carrier in carriers]
        return sum(owners) * 2 >= len(owners) > 0

    @cached_property
    def stories(self) -> list[int]:
        """The blocks that are As-a sentences. Half sentences count in story sections, if the document has no boxes of work."""
        places = indexes(self.source, Kind.HEADING, Kind.ITEM, Kind.PARA)
        found = [index for index in places if words.is_story(self.blocks[index].text)]
        told = [index for index in found if len(_PLACEHOLDER.findall(self.blocks[index].text)) < 2]
        halves = [index for index in sorted({*places} - {*found}) if self._is_half(index)]
        enough = len(told) + len(halves) > 2 and not self._boxes_before[-1]
        return sorted([*told, *halves]) if enough else told

    def _is_half(self, index: int) -> bool:
        block = self.blocks[index]
        if block.kind is Kind.HEADING or not words.tells_story(block.text):
            return False
        path = self.source.outline.path(index)
        return any(words.matches(self.blocks[heading].text, words.STORY_SECTIONS) for heading in path)

    @cached_property
    def group_labels(self) -> list[str | None]:
        """For each block, the phase or epic that a bold paragraph above it or an item around it names."""
        found: list[str | None] = []
        last: str | None = None
        for block in self.blocks:
            if block.kind is Kind.HEADING:
                last = None
            elif opens_group(block):
                last = label(block.lines[0])
            around = None
            if block.parent >= 0:
                outer = self.blocks[block.parent]
                around = label(outer.lines[0]) if is_group(outer.lines[0]) else found[block.parent]
            found.append(around or last)
        return found

    @cached_property
    def _boxes_before(self) -> list[int]:
        under = self.source.under_criteria
        return [0, *accumulate(block.box is not None and not under[i] for i, block in enumerate(self.blocks))]

    def holds_work(self, index: int) -> bool:
        """Tell whether a section has boxes that are no criteria: then these boxes are the work."""
        return self._boxes_before[self.ends[index]] > self._boxes_before[index]

    @cached_property
    def _stories_before(self) -> list[int]:
        return self._before(self.stories)

    def tells_stories(self, carriers: Sequence[Carrier]) -> bool:
        """Tell whether at least half of these units are or contain an As-a sentence."""
        before = self._stories_before
        telling = sum(before[carrier.end] > before[carrier.at] or words.is_story(carrier.title) for carrier in carriers)
        return telling * 2 >= len(carriers)

    def section_end(self, index: int) -> int:
        """Return the index behind the section that a block is in."""
        section = self.blocks[index].section
        return self.ends[section] if section >= 0 else len(self.blocks)


_KINDS = ("story", "requirement", "feature", "numbered", "other", "task", "phase", "chain", "table", "as-a")
_KNOWN = {"plan": 4, "criteria": 3, "story": 2, "requirement": 1, "feature": 1, "task": 1}


@lean(frozen=True, eq=False)
class UnitList:
    """One list of units that the document offers."""

    view: View
    evidence: Evidence
    kind: str
    """One of `_KINDS`, or `plan`, `criteria`, `box`, `loose`."""
    name: str
    """What a person would call it: `FR-001 to FR-020`."""
    carriers: tuple[Carrier, ...]
    keys: frozenset[str]
    """The values of `--units` that select it."""
    explicit: bool = False
    """At least half of its units have labelled criteria."""
    repeated: tuple[int, ...] = ()
    """Places that only repeat one of its units."""
    headings: frozenset[str] = frozenset()
    """The ids that headings define, including headings that only group units."""
    build: Callable[[], Document] | None = None
    """How its document is made, if that differs from other lists."""

    @property
    def standing(self) -> Standing:
        kind = _KINDS.index(self.kind) if self.kind in _KINDS else 0
        planned = any(made.status in PLANNED for made in self.carriers)
        return Standing(planned, _KNOWN.get(self.kind, 0), self.evidence, -kind, size=len(self.carriers))

    @property
    def offer(self) -> Offer:
        blocks = self.view.blocks
        lines = (blocks[self.carriers[0].at].line, max(blocks[made.end - 1].end for made in self.carriers))
        return Offer(name=self.name, units="", lines=lines, count=len(self.carriers))

    @property
    def cover(self) -> bytearray:
        return self.view.source.outline.cover((made.at, made.end) for made in self.carriers)

    def is_inside(self, other: UnitList) -> bool:
        """Tell whether most of its units are inside units of the other list."""
        cover = other.cover
        return sum(cover[made.at] for made in self.carriers) * 2 > len(self.carriers)

    def yields_to(self, other: UnitList) -> bool:
        """A list without criteria yields to a list with criteria that covers the same units."""
        if self.explicit or not other.explicit or self.evidence > Evidence.NAMED_HEADINGS:
            return False
        if other.is_inside(self):
            return other.evidence is Evidence.ROWS
        if self.kind == "story":
            named = other.evidence >= Evidence.NAMED_ITEMS
            return named and other.kind in ("requirement", "feature", "other", "task")
        if other.kind == "other" and other.evidence is Evidence.NAMED_HEADINGS:
            return self.evidence < Evidence.NAMED_HEADINGS
        return other.kind == "as-a" or (other.kind != "phase" and self.is_inside(other))


def opens_group(block: Block) -> bool:
    """Tell whether a heading or a bold paragraph names a phase or epic."""
    bold = block.kind is Kind.PARA and block.parent < 0 and block.text.startswith("**")
    return (bold or block.kind is Kind.HEADING) and is_group(block.text)


def marks_criteria(block: Block) -> bool:
    """Tell whether a block announces criteria, or is a criterion by its words (a Given)."""
    match block.kind:
        case Kind.HEADING:
            return words.concept(block.text) == "criteria"
        case Kind.PARA | Kind.ITEM:
            given = words.GIVEN.match(block.lines[0]) and words.OUTCOME.search(block.text)
            # Inside a unit, "Success Criteria" are the unit's; a section of that name is about the whole product.
            likely = (line for line in block.lines if len(line) <= 400 or ":" in line[:80] or "：" in line[:80])
            return bool(given) or any(read_label(line).concept in ("criteria", "success") for line in likely)
        case _:
            return False
