"""The account of a document: what became of each of its parts. Nothing is left out without a row that says so.

It is made after reading, from the outline and from the lines that the units took, in the same way for every format. A part
that is neither planned, nor context by its heading, nor left out by intention is not understood; then the plan is a proposal.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import HEADING, NOT_UNDERSTOOD, AccountRow, Offer
from santiago.contract.record import lean
from santiago.planner import ids, sniff, words
from santiago.planner.draft import Document, Status, Unit, by_key
from santiago.planner.findings import few
from santiago.planner.markdown.carriers import is_group
from santiago.planner.markdown.labels import lists_work
from santiago.planner.markdown.outline import Block, Kind, any_within
from santiago.planner.source import Source, Zone, read_front_matter
from santiago.planner.structured.tree import Object, items, objects
from santiago.planner.words import CONTEXT, Fate

_UNKNOWN: Fate = ("left_out", NOT_UNDERSTOOD)
_OUT: Fate = ("left_out", "out of scope")
_DROPPED: Fate = ("left_out", "dropped")
_FIELD = pattern(r"[*_`]*[^\W\d_][^:：.]{0,30}[*_`]*\s*[:：]|\W*\[[^\]]*\]\([^)]*\)\W*$")
"""A line such as `Author: Ann`, or nothing but a link."""
_UNIT_LINE = pattern(r"\s*(?:- \[[ xX]\] \S|(?:- |#+ )?\**(?:[A-Z]{2,6}-\d+|(?:Task|Story|Step) \d+)\b)")
_COMMENT = pattern(r"<!--.*?-->", re.DOTALL)
_REFERENCE = pattern(r"\]\((?!\w+:)([^)\s#]+\.(?:md|markdown|mdx|txt|rst|adoc|feature|json|ya?ml|csv))(?:#[^)]*)?\)")
_SURE = frozenset({"prefix", "story", "requirement", "task", "feature", "step", "slug"})
"""Kinds of ids that nobody gives to chapters."""

_HUMP = pattern(r"([a-z])([A-Z])")
_WORK = ("requirements", "stories", "features", "tasks")
"""Keys of lists of units end with one of these words."""
MOST_TEXT = 8_000
"""How many characters of context a plan holds. Every packet repeats them."""
MOST_OF_ONE = 2_500
"""How many characters of them are from one part."""

_LEAST = 80
"""A shorter piece of a text tells nothing."""
Story = tuple[Unit, str]
"""A planned unit and the id of its story."""


@lean(kw_only=True)
class Account:
    """The rows, by line, and whether the document leaves no doubt about which list is the work."""

    rows: tuple[AccountRow, ...]
    certain: bool


def account(source: Source, document: Document, stories: Sequence[Story]) -> Account:
    """Return the account of a document whose units became these stories."""
    if source.looks_like == "markdown":
        found = _Markdown(source, document, stories)
        rows = [*found.sections(), *found.aside()]
        document.rivals = tuple(one for one in document.rivals if one.count > 1 and not _is_context(one, rows))
        for_its_list = bool(document.rivals) or not all(map(found.is_carried, found.units))
        unsure = for_its_list or bool(found.doubts)
        named = [
            replace(row, became="context", why="")
            if found.surrounds(row, document.rivals) and (for_its_list or words.heads_context(row.title))
            else row
            for row in rows
        ]
        # Else nothing would be left that the question is about.
        rows = named if for_its_list or any(row.why == NOT_UNDERSTOOD for row in named) else rows
    else:
        rows = _keys(source, document, stories)
        unsure = any(row.why == NOT_UNDERSTOOD for row in rows)
    rows.sort(key=lambda row: (row.lines[0], -row.lines[1], row.title))
    return Account(rows=tuple(_with_text(source, rows)), certain=document.known or not unsure)


def _with_text(source: Source, rows: list[AccountRow]) -> Iterator[AccountRow]:
    """Add to context the text that agents are told, as far as there is room."""
    lines, room = source.text.split("\n"), MOST_TEXT
    others = [row.lines for row in rows if row.became == "left_out"]
    for row in rows:
        if _is_told(row) and room > _LEAST:
            inside = [(first, last) for first, last in others if row.lines[0] <= first and last <= row.lines[1]]
            row = replace(row, text=_cut(_text(lines, row, inside), min(MOST_OF_ONE, room)))
        room -= len(row.text)
        yield row


def _is_told(row: AccountRow) -> bool:
    """Tell whether agents are told the text of a part: context, or what stands under the heading of a phase."""
    return row.is_context or row.text == f"{row.title}…"


def _text(lines: list[str], row: AccountRow, without: Sequence[tuple[int, int]]) -> str:
    """Return the beginning of a part, without the lines of other parts in it."""
    kept, size = [], 0
    for number in range(row.lines[0], row.lines[1] + 1):
        if not any(first <= number <= last for first, last in without):
            kept.append(lines[number - 1])
            size += len(kept[-1]) + 1
        if size > MOST_OF_ONE:
            break
    return "\n".join(kept).strip()


def _cut(text: str, most: int) -> str:
    """Return a text that has at most so many characters, and ends in `…` if it was longer; nothing if there is no room."""
    if len(text) <= most:
        return text
    return text[: most - 1].rstrip() + "…" if most > _LEAST else ""


def _is_context(rival: Offer, rows: Sequence[AccountRow]) -> bool:
    """Tell whether a list is in a part that is no work by its heading."""
    around = [row for row in rows if row.lines[0] <= rival.lines[0] <= row.lines[1]]
    innermost = min(around, key=lambda row: row.lines[1] - row.lines[0], default=None)
    if innermost is None or innermost.why == NOT_UNDERSTOOD:
        return False
    return innermost.became != "planned" or _is_told(innermost)


@lean()
class _Group:
    """The items of a section, or the rows of a table, that no unit contains."""

    first: Block
    last: Block
    label: str
    at: int
    count: int = 0
    boxes: int = 0
    ticked: int = 0
    named: int = 0
    fields: int = 0
    about: int = 0
    """How many of them tell about a unit."""

    def take(self, block: Block, lead: ids.Found | None, defined: set[str], *, holds: bool) -> None:
        self.count += 1
        self.boxes += block.box is not None
        self.ticked += (block.box or "-") in "xX"
        self.named += lead is not None and lead.kind in _SURE
        self.fields += bool(_FIELD.match(block.lines[0]))
        said = lead.rest if lead is not None else block.cells[0] if block.cells else block.text
        self.about += holds or ids.fold(ids.name(lead)) in defined or words.normal(said) in defined

    @property
    def is_about(self) -> bool:
        return self.about * 2 >= self.count


@lean()
class _Section:
    """What a section holds directly under its heading and outside all units."""

    stories: list[str] = field(default_factory=list)
    put_off: list[Fate] = field(default_factory=list)
    """What became of the units in it that are not planned."""
    prose: list[str] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)
    fences: list[Block] = field(default_factory=list)
    end: int = 0
    """Its last line; 0 if there is nothing."""
    label: str = ""
    open: _Group | None = None


class _Markdown:
    """The account of a Markdown document. -1 stands for the part before the first heading."""

    def __init__(self, source: Source, document: Document, stories: Sequence[Story]) -> None:
        self.source, self.known = source, document.known
        self.blocks, self.ends = source.outline.blocks, source.outline.ends
        self.lines = [block.line for block in self.blocks]
        self.units = [unit for unit, _ in stories]
        self.doubts = 0
        """How many parts are not understood, not counting single items."""
        self.marked: list[int] = []
        """The lines of boxes and of ids that no unit contains."""
        self.covered = bytearray(len(self.blocks))
        self.starts = [self._cover(unit) for unit in document.units]
        names = {id(unit): name for unit, name in stories}
        self.parts: dict[int, _Section] = {-1: _Section()}
        self._read()
        placed = list(zip(document.units, self.starts, strict=True))
        for unit, start in placed:
            part = self.parts[self._home(self.blocks[start].section if self.blocks else -1)]
            name = names.get(id(unit))
            if name is not None:
                part.stories.append(name)
            else:
                part.put_off.append(_DROPPED if unit.status is Status.DROPPED else _OUT)
        self.starts.sort()
        self.planned = sorted((start, names[id(unit)]) for unit, start in placed if id(unit) in names)

    def _cover(self, unit: Unit) -> int:
        """Mark the blocks of a unit, and return its first block."""
        start = max(bisect_right(self.lines, unit.line) - 1, 0)
        if self.blocks:
            end = bisect_right(self.lines, unit.end) if unit.end else self.ends[start]
            self.covered[start:end] = b"\1" * max(end - start, 0)
        return start

    def _home(self, heading: int) -> int:
        """Return the nearest heading around that is no unit and in no unit."""
        while heading >= 0 and self.covered[heading]:
            heading = self.blocks[heading].section
        return heading

    def _read(self) -> None:
        """Sort all blocks outside units by section."""
        named = {ids.fold(unit.id or "") for unit in self.units}
        named |= {name.rpartition(".")[0] for name in named}  # box 1 only groups its parts 1.1 and 1.2
        defined = named.union(words.normal(unit.title) for unit in self.units) - {""}
        at, before = self.covered.find(0), -1
        while at >= 0:
            block = self.blocks[at]
            if block.kind is Kind.HEADING:
                self.parts[at] = _Section()
            else:
                part = self.parts[self._home(block.section)]
                part.end = max(part.end, block.end)
                part.open = part.open if at == before + 1 else None  # a unit stands between
                if block.parent < 0:
                    self._put(part, at, block, defined)
            at, before = self.covered.find(0, at + 1), at

    def _put(self, part: _Section, at: int, block: Block, defined: set[str]) -> None:
        if block.kind is Kind.CODE:
            part.fences.append(block)
        if block.kind not in (Kind.ITEM, Kind.ROW):
            part.label, part.open = block.lines[-1], None
            if block.kind is not Kind.CODE:
                part.prose.append("\n".join(block.lines))
            return
        group = part.open
        if group is None or group.first.header != block.header:
            part.open = group = _Group(block, block, part.label, at)
            part.groups.append(group)
        holds = 1 in self.covered[at : self.ends[at]]  # units are inside a box that only groups them
        lead = self.source.leads[at]
        group.take(block, lead, defined, holds=holds)
        self.marked += [block.line] if block.box is not None or (lead is not None and lead.kind in _SURE) else []
        group.last = self.blocks[self.ends[at] - 1]

    # Sections

    def sections(self) -> Iterator[AccountRow]:
        """Yield the rows of all sections, and of the lists, tables and fences in them that share not their fate."""
        fates: dict[int, Fate | None] = {}
        spans: set[int] = set()  # sections whose row stands for everything below them
        for at, part in self.parts.items():
            above = self._home(self.blocks[at].section) if at >= 0 else -2
            fate = fates[at] = self._fate(at, part, fates.get(above))
            around = bool(part.stories) or fate is None
            if part.stories:
                row = self._row(at, ("planned", ""), self._last(at), tuple(part.stories))
                first = self.blocks[self.starts[bisect_left(self.starts, at)]]
                if fate == CONTEXT and first.kind is Kind.HEADING and first.line > part.end > 0:
                    yield self._row(at, CONTEXT, part.end)
                    row = replace(row, lines=(first.line, row.lines[1]), title=f"{_shown(first.text)} …")
                elif around_them := _cut("\n\n".join(part.prose), MOST_OF_ONE):
                    row = replace(row, text=f"{row.title}\n\n{around_them}")
                yield row
            elif fate is None:
                if part.end and (below := self._below(at)):
                    row = self._row(at, ("planned", ""), part.end, below)
                    yield replace(row, text=f"{row.title}…")
                elif part.end:
                    yield self._row(at, CONTEXT, part.end)
                elif at >= 0:
                    is_title = at == self._title or not self._holds_units(at)
                    became: Fate = ("context" if is_title else "planned", HEADING)
                    yield self._row(at, became, self.blocks[at].line)
            else:
                if not self._holds_units(at):
                    spans.add(at)
                if above not in spans or fate != fates.get(above):
                    self.doubts += fate == _UNKNOWN
                    is_whole = at in spans or part.put_off
                    yield self._row(at, fate, self._last(at) if is_whole else max(part.end, self.blocks[at].line))
            if fate is None or fate[0] == "context":
                yield from self._exceptions(at, part, fate, around=around)

    def surrounds(self, row: AccountRow, rivals: Sequence[Offer]) -> bool:
        """Tell whether a section that nobody understood can only surround the work, if the plan is asked anyway.

        It holds nothing that any list offers, and is neither a phase nor one more of several sections that hold units of any list,
        unless its heading says context.
        """
        at = bisect_right(self.lines, row.lines[0]) - 1
        if row.why != NOT_UNDERSTOOD or at not in self.parts or is_group(self.blocks[at].text):
            return False
        offered = [*(rival.lines for rival in rivals), *((line, line) for line in self.marked)]
        if _touch(row.lines, offered):
            return False
        rank = (self.blocks[at].section, self.blocks[at].level)
        alike = (i for i in self.parts if i >= 0 and (self.blocks[i].section, self.blocks[i].level) == rank)
        holding = sum(bool(self._below(i)) or _touch((self.blocks[i].line, self._last(i)), offered) for i in alike)
        return holding < 2 or words.heads_context(row.title)

    def _fate(self, at: int, part: _Section, outer: Fate | None) -> Fate | None:
        """Return what becomes of a section without its units; None if it only surrounds units. The first rule that applies counts."""
        if at < 0 or at == self._title:
            return None
        own, holds, empty = self._own_fate(at, part), self._holds_units(at), not part.end
        is_inside = not holds and outer is not None and outer[0] == "left_out"
        rules: tuple[tuple[bool, Fate | None], ...] = (
            (is_inside and outer == _UNKNOWN and own is not None and own[0] == "left_out", own),
            (is_inside, outer),
            (own in (None, CONTEXT) and is_group(self.blocks[at].text) and bool(self._below(at)), None),
            (own is not None, own),
            (outer == CONTEXT, CONTEXT),
            (holds or bool(part.stories) or (empty and self.ends[at] > at + 1), None),
            (empty, ("left_out", "empty")),
            (words.normal(self.blocks[at].text) in self._named_as_left_out, ("left_out", "named as left out")),
            (self.known or not (part.prose or part.groups), CONTEXT),  # nothing but code asks for nothing
            (bool(part.groups) and all(group.is_about for group in part.groups), CONTEXT),
        )
        return next((fate for applies, fate in rules if applies), _UNKNOWN)

    def _own_fate(self, at: int, part: _Section) -> Fate | None:
        """Return what a section says of itself: by the units in it that are put off, its first sentence or its heading."""
        if part.put_off and not part.stories:
            return part.put_off[0]
        zones, above, text = self.source.zones, self.blocks[at].section, self.blocks[at].text
        own = words.fate(text)
        is_outermost = zones[at] == Zone.EXCLUDED and (above < 0 or zones[above] != Zone.EXCLUDED)
        if is_outermost and not (own == CONTEXT and words.is_excluded(text)):
            return _OUT
        return CONTEXT if own is None and zones[at] == Zone.NEVER else own

    @cached_property
    def _named_as_left_out(self) -> str:
        """The items of a section with such a heading, as one text."""
        found = [at for at in self.parts if at >= 0 and words.normal(self.blocks[at].text) in words.LEFT_OUT]
        named = [words.normal(self.blocks[i].text) for at in found for i in range(at + 1, self.ends[at])]
        return "\n".join(named)[:MOST_TEXT]

    @cached_property
    def _title(self) -> int:
        """The heading of the whole document, or -1."""
        first = next((at for at, block in enumerate(self.blocks) if block.kind is Kind.HEADING), -1)
        return first if first >= 0 and self.blocks[first].level == 1 and self.source.outline.tops == 1 else -1

    def _holds_units(self, at: int) -> bool:
        """Tell whether a planned or put-off unit is inside a section."""
        return any_within(self.starts, at, self.ends[at])

    def _below(self, at: int) -> tuple[str, ...]:
        """Return the stories inside a section, which is not the title of the whole document."""
        if at < 0 or at == self._title:
            return ()
        first, last = (bisect_left(self.planned, (place, "")) for place in (at, self.ends[at]))
        return tuple(name for _, name in self.planned[first:last])

    def _last(self, at: int) -> int:
        end = self.ends[at] if at >= 0 else next(iter([*list(self.parts)[1:2], len(self.blocks)]))
        return max((self.blocks[end - 1].end if end else 1), self.blocks[at].line if at >= 0 else 1)

    def _row(self, at: int, fate: Fate, last: int, stories: tuple[str, ...] = ()) -> AccountRow:
        first = self.blocks[at].line if at >= 0 else self.lines[0] if self.lines else 1
        if at < 0 and stories:
            behind, lines = read_front_matter(self.source.text)[1], self.source.text.split("\n")
            first = next((n for n, line in enumerate(lines[behind:], behind + 1) if line.strip()), 1)
        title = _shown(self.blocks[at].text) if at >= 0 else "the beginning"
        return AccountRow(lines=(first, max(first, last)), title=title, became=fate[0], stories=stories, why=fate[1])

    # Lists, tables and fences

    def _exceptions(self, at: int, part: _Section, fate: Fate | None, *, around: bool) -> Iterator[AccountRow]:
        for group in part.groups:
            if self._is_unread(at, part, group, fate, around=around):
                self.doubts += group.count > 1
                kind = "table" if group.first.kind is Kind.ROW else "list"
                where = f'{kind} under "{_shown(self.blocks[at].text)}"' if at >= 0 else f"{kind} at the beginning"
                lines = (group.first.line, max(group.last.end, group.first.line))
                why = "done" if group.ticked == group.count else NOT_UNDERSTOOD
                yield AccountRow(lines=lines, title=where, became="left_out", why=why)
        for block in part.fences:
            is_prose = block.info in ("", "md", "markdown", "text")
            many = is_prose and sum(bool(_UNIT_LINE.match(line)) for line in block.lines) > 1
            self.doubts += many
            became: Fate = ("left_out", "code, which is not read") if many else ("context", "code")
            lines = (block.line, block.end)
            yield AccountRow(lines=lines, title=block.info or "code", became=became[0], why=became[1])

    def _is_unread(self, at: int, part: _Section, group: _Group, fate: Fate | None, *, around: bool) -> bool:
        """Tell whether a list or table may be work that nobody planned."""
        if self.source.zones[group.at] or self.source.under_criteria[group.at] or group.is_about:
            return False
        if fate == CONTEXT and not part.stories:
            return bool(group.boxes)
        label = group.label.strip()
        if label.endswith((":", "：", "**")) and (words.fate(label) or words.concept(label)):
            return False
        if group.boxes or group.named:
            return group.first.kind is Kind.ITEM or group.named > 1 or lists_work(group.first.header)
        if group.first.kind is Kind.ROW:
            return lists_work(group.first.header)
        plain = around and (part.stories or at < 0 or at == self._title) and not self.known
        return bool(plain) and group.count > 1 and group.fields * 2 < group.count

    # Comments, front matter and files

    def aside(self) -> Iterator[AccountRow]:
        """Yield the rows of what the outline leaves out."""
        text, body = self.source.text, self.lines[0] if self.lines else 0
        if self.source.front_matter:
            last = text[: text.find("\n---", 3) + 1].count("\n") + 1
            yield AccountRow(lines=(1, last), title="front matter", became="context", why="front matter")
        for first, found in _with_lines(text, _COMMENT) if "<!--" in text else ():
            if not self._in_code(first) and any(map(str.isalpha, found[0])):
                lines = (first, first + found[0].count("\n"))
                yield AccountRow(lines=lines, title="comment", became="left_out", why="a comment")
        for line, found in _with_lines(text, _REFERENCE) if "](" in text else ():
            at = bisect_right(self.lines, line) - 1
            if line >= body and at >= 0 and not self.covered[at] and not self._in_code(line):
                why = "another file, which is not read"
                yield AccountRow(lines=(line, line), title=found[1], became="left_out", why=why)

    def _in_code(self, line: int) -> bool:
        at = bisect_right(self.lines, line) - 1
        return at >= 0 and self.blocks[at].kind is Kind.CODE and line <= self.blocks[at].end

    def is_carried(self, unit: Unit) -> bool:
        """Tell whether an id or a check box makes the unit. `R1` may be a risk, and `S1` a test, where the heading says so."""
        at = bisect_right(self.lines, unit.line) - 1
        if at < 0:
            return False
        block, lead = self.blocks[at], self.source.leads[at]
        in_table = block.kind is Kind.ROW and unit.id is not None
        is_named = lead is not None and lead.kind in _SURE
        if lead and block.kind is Kind.ITEM and block.section >= 0 and len(lead.prefix) == 1:
            is_named = is_named and words.fate(self.blocks[block.section].text) != CONTEXT
        return block.box is not None or in_table or is_named


def _touch(lines: tuple[int, ...], others: Iterable[tuple[int, ...]]) -> bool:
    return any(first <= lines[1] and lines[0] <= last for first, last in others)


def _with_lines(text: str, wanted: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    line, before = 1, 0
    for found in wanted.finditer(text):
        line += text.count("\n", before, found.start())
        before = found.start()
        yield line, found


def _shown(text: str) -> str:
    """Return a heading without its marks, cut to what fits in a line."""
    bare = " ".join(text.replace("*", "").replace("`", "").split())
    return bare if len(bare) <= 60 else bare[:59] + "…"


# JSON, YAML, CSV and Gherkin: their keys are the sections


def _keys(source: Source, document: Document, stories: Sequence[Story]) -> list[AccountRow]:
    """Return a row for each key at the top of the document, or one row for all if it has no keys."""
    names = tuple(name for _, name in stories)
    last = source.text.rstrip("\n").count("\n") + 1
    found = _top_keys(source) if source.looks_like in ("json", "yaml") and not document.by_program else []
    if not found or (len(stories) == 1 and stories[0][0].line <= found[0].line):
        whole = _shown(document.title or source.name)
        return [AccountRow(lines=(1, last), title=whole, became="planned", stories=names), *_columns(source)]
    ends = [max(key.line, after.line - 1) for key, after in pairwise(found)] + [max(last, found[-1].line)]
    lines = [key.line for key in found]
    held = by_key((max(bisect_right(lines, unit.line) - 1, 0), name) for unit, name in stories)
    rows = []
    for place, (key, end) in enumerate(zip(found, ends, strict=True)):
        own = tuple(held.get(place, ()))
        fate: Fate = ("planned", "") if own else _fate_of_key(key, known=document.known)
        rows.append(AccountRow(lines=(key.line, end), title=_shown(key.name), became=fate[0], stories=own, why=fate[1]))
    return rows


class _Key(NamedTuple):
    name: str
    line: int
    many: int
    """How many entries its list has, or the longest list directly in it."""
    named: int
    """How many ids are in these lists."""


def _fate_of_key(key: _Key, *, known: bool) -> Fate:
    """Return what a key without stories is. Requirements with ids are work, whatever stands before the word."""
    said = _HUMP.sub(r"\1 \2", key.name).replace("_", " ")
    fate = words.fate(said)
    if key.named > 1 and said.lower().endswith(_WORK) and not words.is_not_functional(said):
        fate = None if fate == CONTEXT else fate
    return fate or (_UNKNOWN if key.many > 1 and not known else CONTEXT)


def _top_keys(source: Source) -> list[_Key]:
    entries = source.tree.fields.values() if isinstance(source.tree, Object) else ()
    while len(entries) == 1 and isinstance(inner := next(iter(entries)).value, Object):
        entries = inner.fields.values()
    keys = []
    for entry in entries:
        inside = entry.value.fields.values() if isinstance(entry.value, Object) else ()
        lists = [entry.value, *(each.value for each in inside)]
        named = sum(record.get("id") is not None for each in lists for record in objects(each))
        keys.append(_Key(entry.key, entry.line, max(len(items(each)) for each in lists), named))
    return keys


def _columns(source: Source) -> list[AccountRow]:
    """Return the row of the columns of a CSV table that are not read."""
    if source.looks_like != "csv":
        return []
    headers = (sniff.columns_of(source.text) or ("", []))[1]
    unread = [header.strip() for header in headers if header.strip() and not sniff.means(header)]
    title = f"columns {few(unread)}"
    return [AccountRow(lines=(1, 1), title=title, became="left_out", why="not read")] if unread else []
