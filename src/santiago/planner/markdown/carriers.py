"""Find the carriers, that is, the places of an outline that define units: headings, and check boxes as a tree. Every Markdown reader uses it.

A box is a group if other boxes continue its number (`1.` with `1.1` and `1.2`, nested or not); then those are the units.
A box without a number inside a unit's box is one of its criteria.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import ids, words
from santiago.planner.draft import Status
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.labels import TICK_LAST, clean, is_struck, read_label
from santiago.planner.markdown.outline import Block, Kind, any_within
from santiago.planner.source import Source, Zone

_GROUP = pattern(
    rf"(?i)^[\W\d_]*(?:final\s+|initial\s+)?(?:{words.any_of(words.GROUP_WORDS)})"
    r"(?:\s*[A-Z]{0,3}\d+[\w.]*|\s+[IVXN]+\b|\s*[:：\-–—]|$)",
)
_NUMBERED_GROUP = pattern(r"^\d+[.)]?\s+\S")
_GROUP_NAME = pattern(r"^[\W_]*([^\W\d_]+)\s*([A-Za-z]{0,3}\d+(?:\.\d+)*[A-Za-z]?)(?!\w)")
_TRAILING = pattern(r"\s*[:：]$")
_PRIORITY = pattern(
    r"(?i)[(\[]\s*(?:priority|prio)?\s*[:：]?\s*(P\d|must(?: have)?|should(?: have)?|could(?: have)?|high|medium|low|critical)\s*[)\]]",
)

_A_PRIORITY = pattern(r"P\d")
_LAST_BRACKET = pattern(r"[(\[（]([^()\[\]（）]{3,40})[)\]）][\s.*_]*$")

_TICK = pattern(r"\s{0,8}[✅☑✔]️?\s{0,8}")
_LAST = 120
"""A mark at the end of a title is searched for in this many of its last characters."""
_BOLD_OPENING = pattern(r"^\s*\*\*([^*]{2,119}?[^*,，、])[:：.]?\*\*(?:\s*[:：.\-–—]|\s+\S)")

BOX_STATUS = {" ": Status.OPEN, "x": Status.DONE, "X": Status.DONE, "~": Status.DROPPED, "-": Status.DROPPED}
"""The meaning of the character in a box. Any other character is reported and read as open."""


def is_group(heading: str) -> bool:
    """Tell whether a heading names a phase, epic, milestone or the like."""
    return bool(_GROUP.match(heading.replace("*", "")))


def chunk_of(source: Source, index: int, *, numbered: bool = False) -> str | None:
    """Return the label of the nearest phase, epic or milestone around a block (with `numbered`: or `## 1. Group`), or None."""
    for heading in reversed(source.outline.path(index)):
        text = source.outline.blocks[heading].text
        if is_group(text) or (numbered and _NUMBERED_GROUP.match(text)):
            return label(text)
    return None


def group_names(chunk: str) -> tuple[str, ...]:
    """Return the short name that a dependency may use for a group: `Epic 1` of `Epic 1: Accounts`."""
    named = _GROUP_NAME.match(chunk)
    return (f"{named[1]} {named[2]}",) if named else ()


def section_chunks(source: Source, starts: list[int], *, numbered: bool = False) -> list[str | None]:
    """Return the chunk of each unit: its phase or group, else the nearest section with more than one unit."""
    blocks = source.outline.blocks
    first = {blocks[index].section: index for index in reversed(starts)}
    skipped = 1 if source.outline.tops == 1 else 0  # the title of the document
    paths = {at: [h for h in source.outline.path(i) if blocks[h].level > skipped] for at, i in first.items()}
    held = Counter(heading for index in starts for heading in paths[blocks[index].section])
    labels = {}
    for section, path in paths.items():
        several = [at for at in path if held[at] > 1]
        labels[section] = chunk_of(source, first[section], numbered=numbered) or _last(source, several)
    if any(labels.values()):  # if some sections are chunks, a section with one unit is one, too
        labels = {section: labels[section] or _last(source, path) for section, path in paths.items()}
    return [labels[blocks[index].section] for index in starts]


def _last(source: Source, path: list[int]) -> str | None:
    return label(source.outline.blocks[path[-1]].text) if path else None


def is_unit_prefix(lead: ids.Found) -> bool:
    """Tell whether an id can belong to a list of units: not to criteria, decisions, metrics, goals or questions."""
    if lead.kind != "prefix" or _A_PRIORITY.fullmatch(lead.id):
        return False
    return lead.prefix not in ids.SIDE and lead.prefix not in CRITERION_PREFIXES


CRITERION_PREFIXES = frozenset({"AC", "CA", "KA", "AK"})
"""Prefixes of acceptance criteria. They are units only if a document has no others."""


def label(text: str) -> str:
    """Return a heading as a chunk label, without emphasis and without a colon at its end."""
    return _TRAILING.sub("", clean(text)).strip()


def priority_in(text: str) -> str | None:
    """Return the priority that a title gives in brackets."""
    found = _PRIORITY.search(text)
    return found[1] if found else None


def box_status(source: Source, block: Block) -> Status:
    """Return the status that a box and its text claim. The document's legend may say that `[~]` is work in progress."""
    status = Status.OPEN if block.box in source.underway else BOX_STATUS.get(block.box or " ", Status.OPEN)
    if status is not Status.OPEN:
        return status
    if block.starred:
        return Status.OPTIONAL
    if is_struck(block.text):
        return Status.DROPPED
    mark = _LAST_BRACKET.search(block.text)
    return Status.FUTURE if mark and words.normal(mark[1]) in words.EXCLUDED_SECTIONS else status


def carrier(
    source: Source,
    index: int,
    *,
    end: int | None = None,
    found: ids.Found | None = None,
    title: str | None = None,
    chunk: str | None = None,
    tags: Iterable[str] = (),
    status: Status | None = None,
) -> Carrier:
    """Return the carrier at a block. Its id and title come from the text, its status from its box and section."""
    block = source.outline.blocks[index]
    own = block.cells[0] if block.kind is Kind.ROW else block.text
    text = title if title is not None else _headline(block, found.rest if found else own)
    if status is None:
        status, text = _claimed(source, block, text)
        if status is Status.OPEN and (is_struck(own) or is_struck(text)):
            status = Status.DROPPED
        elif status is Status.OPEN and block.box is None and source.is_under_done[index]:
            status = Status.DONE
    if source.zones[index] == Zone.EXCLUDED and status in (Status.OPEN, Status.OPTIONAL):
        status = Status.FUTURE
    return Carrier(
        at=index,
        end=source.outline.ends[index] if end is None else end,
        title=clean(text) or ids.name(found),
        id=ids.name(found) or None,
        chunk=chunk,
        tags=tuple(tags),
        status=status,
        priority=priority_in(own),
    )


def _claimed(source: Source, block: Block, text: str) -> tuple[Status, str]:
    """Return the status that a box or a title claims (`… [DONE]`, `✅ …`), and the title without the mark."""
    if block.box is not None:
        return box_status(source, block), text
    if (mark := _LAST_BRACKET.search(text)) is not None:
        if (status := status_of(mark[1])) is not None:
            return status, text[: mark.start()]
        if words.normal(mark[1]) in words.EXCLUDED_SECTIONS:
            return Status.FUTURE, text
    bare = text.rstrip()
    last = TICK_LAST.search(bare, max(len(bare) - _LAST, 0))
    first = _TICK.match(bare)
    ticked = bare[first.end() if first else 0 : last.start() if last else len(bare)] if first or last else text
    return (Status.DONE, ticked) if ticked != text else (Status.OPEN, text)


def _headline(block: Block, text: str) -> str:
    """Return the title of a block: the bold words that begin an item and are no part of a sentence, or all of its lines up to the first field."""
    if block.kind is not Kind.ITEM:
        return text
    if len(block.lines) > 1:
        first = block.lines[0] if text and block.text.startswith(text) else text
        more = takewhile(lambda line: not ((label := read_label(line)).is_label and label.concept), block.lines[1:])
        text = " ".join([first, *(line.strip() for line in more)])
    bold = _BOLD_OPENING.match(text)
    return bold[1] if bold and not words.opens_story(f"{bold[1]} x") else text


def indexes(source: Source, *kinds: Kind) -> list[int]:
    """Return the blocks of these kinds, except in sections that never hold units."""
    places = enumerate(zip(source.outline.blocks, source.zones, strict=True))
    return [index for index, (block, zone) in places if block.kind in kinds and zone != Zone.NEVER]


def places(source: Source, starts: list[int], *, numbered: bool = False) -> list[tuple[int, int, str | None]]:
    """Return (start, end, chunk) of each carrier. A carrier ends at the latest where the next one begins."""
    labels = section_chunks(source, starts, numbered=numbered)
    return [(start, end, chunk) for (start, end), chunk in zip(bounded(source, starts), labels, strict=True)]


def headed(source: Source, starts: list[int]) -> list[Carrier]:
    """Return the carriers of headings with ids, each with the phase or epic around it as its chunk."""
    return [
        carrier(source, start, end=end, found=source.leads[start], chunk=chunk_of(source, start))
        for start, end in bounded(source, starts)
    ]


def bounded(source: Source, starts: list[int]) -> list[tuple[int, int]]:
    """Return (start, end) of each carrier. A carrier ends at the latest where the next one begins."""
    ends, behind = source.outline.ends, [*starts[1:], len(source.outline.blocks)]
    return [(start, min(ends[start], after)) for start, after in zip(starts, behind, strict=False)]


STEP_SIGNS = frozenset({"criteria", "success", "files", "touched"})
NUMBERED_SIGNS = frozenset({"criteria", "success", "depends"})


def is_numbered(source: Source, index: int) -> bool:
    lead = source.leads[index]
    return lead is not None and lead.only_counts


_REFERS = pattern(r"(?i)\W*(?:issue|ticket|bug)s?\s*#")
"""`Issue #379 Status` is a part of a report, not a unit."""


def of_kind(source: Source, kind: str) -> list[int]:
    """Return the headings of one kind if they can be the units of the document, else nothing."""
    blocks = source.outline.blocks
    found = [i for i, lead in source.named.items() if lead.kind == kind and blocks[i].kind is Kind.HEADING]
    is_title = len(found) == 1 and (blocks[found[0]].level == 1 or _REFERS.match(blocks[found[0]].text))
    return [] if not found or is_title or has_stories(source, len(found)) else found


def leaves(source: Source, kind: str) -> list[int]:
    """Return the headings of one kind without groups: `Task 1` with `Task 1.1` below it is a group."""
    found = of_kind(source, kind)
    names = {index: lead.id for index, lead in source.named.items() if lead.kind == kind}
    above = [(inner, outer) for inner in found for outer in source.outline.path(inner) if outer in names]
    groups = {outer for inner, outer in above if extends(names[inner], names[outer])}
    return [index for index in found if index not in groups]


def are_chapters(source: Source, level: int) -> bool:
    """Tell whether the numbered headings of a level are the chapters of a text: Overview, Goals, Risks, …"""
    blocks = source.outline.blocks
    titles = {i: lead.rest for i, lead in source.named.items() if blocks[i].kind is Kind.HEADING and lead.only_counts}
    titles = {index: title for index, title in titles.items() if blocks[index].level == level}
    usual = [at for at in titles if source.zones[at] != Zone.PLAIN or words.matches(titles[at], words.CHAPTERS)]
    return len(usual) * 4 >= len(titles)


def has_stories(source: Source, count: int, *, kinds: tuple[Kind, ...] = (Kind.HEADING,)) -> bool:
    """Tell whether at least `count` blocks have story or requirement ids: then those blocks are the units."""
    blocks = source.outline.blocks
    leads = {i: lead for i, lead in source.named.items() if blocks[i].kind in kinds and blocks[i].box is None}
    units = [i for i, lead in leads.items() if lead.kind in ("story", "requirement") or is_unit_prefix(lead)]
    return sum(not source.under_criteria[index] for index in units) >= count


def many_own(source: Source, heads: list[int], signs: frozenset[str]) -> bool:
    """Tell whether at least half of these sections have boxes or one of these labels."""
    found = [index for index, block in enumerate(source.outline.blocks) if _is_sign(block, signs)]
    owning = sum(any_within(found, start + 1, end) for start, end in bounded(source, heads))
    return owning * 2 >= len(heads)


def _is_sign(block: Block, signs: frozenset[str]) -> bool:
    if block.kind is Kind.ITEM and block.box is not None:
        return True
    if block.kind is Kind.HEADING:
        return words.concept(block.text) in signs
    if block.kind not in (Kind.PARA, Kind.ITEM):
        return False
    return any((label := read_label(text)).is_label and label.concept in signs for text in block.lines)


def boxes_outside(source: Source, heads: list[int]) -> dict[int, int]:
    """Map each heading to the box outside these sections that repeats its word and number."""
    within = source.outline.cover(bounded(source, heads))
    by_key = {_key(source, index): index for index in heads}
    if len(by_key) < len(heads):
        return {}
    boxed = [i for i, block in enumerate(source.outline.blocks) if block.box is not None and not within[i]]
    return {by_key[_key(source, index)]: index for index in reversed(boxed) if _key(source, index) in by_key}


def _key(source: Source, index: int) -> tuple[str, str]:
    lead = source.leads[index]
    return (lead.kind, ids.fold(lead.id)) if lead else ("", "")


# Boxes

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


@lru_cache(maxsize=1)
def boxes_of(source: Source) -> Boxes:
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
                around, outer = self.blocks[block.parent], self.owner[block.parent]
                self.owner[index] = block.parent if around.box is not None else outer
            if block.box is not None:
                self.take(index, block)
        units = [index for index in self.candidates if index not in self.groups and self.is_unit(index)]
        return Boxes(
            units=[Box(index, self.numbers.get(index), self.outermost(index)) for index in units],
            groups={index: self.numbers.get(index) for index in sorted(self.groups)},
        )

    def take(self, index: int, block: Block) -> None:
        number = self.source.leads[index]
        # A bare number counts only with a point behind it, so `3 retries` has no id.
        is_bare = number is not None and number.kind == "number" and not _POINTED.match(block.lines[0])
        if number is None or is_bare or (number.kind == "prefix" and self.prefixes[number.prefix] < self.few):
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
        found = self.latest.get(head, -1) if head else -1
        return found if self.blocks[found].section == self.blocks[index].section else -1

    def is_unit(self, index: int) -> bool:
        """Tell whether a box is a unit of its own, and not a detail of another box or in a section such as sign-off."""
        if index in self.numbers:
            section = self.blocks[index].section
            return section < 0 or not words.matches(self.blocks[section].text, _STRICTLY_FORMAT)
        outer = self.owner[index]
        if outer >= 0:
            return outer in self.groups
        return is_plain(self.source, index)

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
