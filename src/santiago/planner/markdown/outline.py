"""Markdown as an outline of blocks: headings, list items, paragraphs, table rows and code, each with its lines.

This scanner finds the structure of a document and does not render it. Unlike a renderer it keeps all line numbers, and it
is lenient where authors are: a child item needs two columns of indent, a lone `<PRD>` tag hides nothing, `- [ ]* 3.2` is a
box. It makes one pass without recursion, so that hostile text takes linear time.
tests/planner/test_outline.py compares it with a CommonMark parser on real documents.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner.draft import DocumentError

MAX_DEPTH = 100
"""The most list levels. No person writes more; deeper text is an attack or a mistake."""


class Kind(Enum):
    HEADING = "heading"
    ITEM = "item"
    PARA = "para"
    ROW = "row"
    CODE = "code"
    QUOTE = "quote"


@lean()
class Block:
    """One block. `lines[i]` is source line `line + i`, without its marker."""

    kind: Kind
    line: int
    lines: list[str]
    level: int = 0
    """Heading level 1 to 6, or the nesting depth of an item (0 is outermost)."""
    marker: str = ""
    """List marker as written: `-`, `*`, `3.`."""
    box: str | None = None
    """The character in a check box, or None if there is no box."""
    starred: bool = False
    """An asterisk follows the box: Kiro's mark for an optional task."""
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    info: str = ""
    """The text behind the marks that open a code fence."""
    parent: int = -1
    """Index of the item around this block, or -1."""
    section: int = -1
    """Index of the heading above this block, or -1."""

    @property
    def text(self) -> str:
        if len(self.lines) == 1:
            return self.lines[0]
        return " ".join(part for part in (line.strip() for line in self.lines) if part)

    def line_of(self, place: int) -> int:
        """Return the document line of a position in `text`."""
        behind = 0
        for line, part in enumerate(self.lines, self.line):
            behind += len(part.strip()) + 1 if part.strip() else 0
            if place < behind:
                return line
        return self.end

    @property
    def end(self) -> int:
        return self.line + len(self.lines) - 1


@lean()
class Outline:
    blocks: list[Block] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """For each block, the index behind the last block inside it (its section, or its children)."""
    line_count: int = 0
    tops: int = 0
    """The number of first-level headings. One or two of them name the document and its parts."""

    def inside(self, index: int) -> range:
        """Return the indexes of the blocks in a heading's section or under an item."""
        return range(index + 1, self.ends[index])

    def cover(self, places: Iterable[tuple[int, int]]) -> bytearray:
        """Return for each block whether it is inside one of these (start, end) ranges."""
        covered = bytearray(len(self.blocks))
        for start, end in places:
            covered[max(start, 0) : end] = b"\1" * (end - max(start, 0))
        return covered

    def path(self, index: int) -> list[int]:
        """Return the indexes of the headings around a block, outermost first."""
        found = []
        at = self.blocks[index].section
        while at >= 0:
            found.append(at)
            at = self.blocks[at].section
        return found[::-1]


_HEADING = pattern(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = pattern(r"(`{3,}|~{3,})(.*)$")
_RULE = pattern(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = pattern(r"([-*+•]|\d{1,9}[.):])(?:[ \t]+(.*)|$)")
_NESTED = pattern(r"[-*+][ \t]+")
_BOX = pattern(r"\\?\[(.?)\\?\](\\?\*)?(?:[ \t]+(.*)|$)")
_BOLD_LABEL = pattern(r"\*\*[^*\s][^*]{0,60}(?:[:：]\*\*|\*\*\s*[:：])")
_DELIMITER = pattern(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_TAG = pattern(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>$")
_ESCAPE = pattern(r"\\([\[\]*_\"#`()<>.!+-])")
_CELL = pattern(r"(?<!\\)\|")


def scan(text: str, first_line: int = 1, breaks: Callable[[Sequence[str], str], bool] | None = None) -> Outline:
    """Return the outline of a Markdown text. Its first line has the number `first_line`.

    `breaks(lines of the paragraph, this line)` says where a new paragraph begins although Markdown would continue the old
    one. Authors write `FR1: …` and `FR2: …` on lines of their own without a blank line between them.
    """
    scanner = _Scanner(text.split("\n"), first_line, breaks)
    scanner.run()
    return scanner.outline


class _Scanner:
    """One pass over the lines. `stack` holds the open list items, `open` the block that the next line may continue."""

    def __init__(self, lines: list[str], first_line: int, breaks: Callable[[Sequence[str], str], bool] | None) -> None:
        self.source = lines
        self.breaks = breaks
        self.first = first_line
        self.outline = Outline(line_count=len(lines))
        self.blocks = self.outline.blocks
        self.stack: list[tuple[int, int]] = []
        self.open: Block | None = None
        self.headings = [-1]
        """Indexes of the open headings, outermost first. The first entry, -1, stands for no heading."""
        self.after_blank = True
        self.takes: dict[str, tuple[Callable[[int, str, int], bool], ...]] = {
            "#": (self.heading,),
            "=": (self.underlined,),
            "-": (self.underlined, self.rule, self.item),
            "*": (self.rule, self.item),
            "_": (self.rule,),
            ">": (self.quote,),
            "<": (self.tag,),
            **dict.fromkeys("+•0123456789", (self.item,)),
        }
        """By the first character of a line, the methods to try. Each returns True if it read the line."""
        self.last_comment_end = max((i for i, line in enumerate(lines) if "-->" in line), default=-1)

    def run(self) -> None:
        at = 0
        while at < len(self.source):
            at = self.step(at)
        self.outline.ends = _ends(self.blocks)
        self.outline.tops = sum(block.kind is Kind.HEADING and block.level == 1 for block in self.blocks)

    def step(self, at: int) -> int:
        """Read the line at this position (or a whole fence, comment or table), and return the next position."""
        raw = self.source[at].rstrip()
        if raw.endswith("\\"):
            raw = raw.rstrip("\\ ")  # a hard line break
        if "\t" in raw:
            raw = raw.expandtabs(4)
        if "<!--" in raw and not raw.lstrip().startswith(("```", "~~~")):
            raw, skip = self.without_comment(at, raw)
            if not raw.strip():
                return at + skip
            self.source[at + skip - 1] = raw
            at += skip - 1
        stripped = raw.lstrip(" \u00a0\u3000")
        if not stripped:
            self.open = None
            self.after_blank = True
            return at + 1
        next_at = self.block(at, stripped, len(raw) - len(stripped))
        self.after_blank = False
        return next_at

    def block(self, at: int, text: str, indent: int) -> int:
        first = text[0]
        if first in "`~" and (fence := _FENCE.match(text)) and "`" not in fence[2]:
            return self.fence(at, indent, fence)
        for take in self.takes.get(first, ()):
            if take(at, text, indent):
                return at + 1
        if "|" in text and at + 1 < len(self.source) and _DELIMITER.match(self.source[at + 1].strip()):
            return self.table(at, indent)
        self.paragraph(at, text, indent)
        return at + 1

    # Blocks

    def add(self, block: Block) -> Block:
        block.section = self.headings[-1]
        self.blocks.append(block)
        return block

    def begin_section(self, line: int, text: str, level: int) -> bool:
        """Add a heading. It closes the sections of its level and below, and all lists."""
        while self.headings[-1] >= 0 and self.blocks[self.headings[-1]].level >= level:
            self.headings.pop()
        self.open, self.stack = None, []
        self.add(Block(Kind.HEADING, line, [text], level=level))
        self.headings.append(len(self.blocks) - 1)
        return True

    def heading(self, at: int, text: str, indent: int) -> bool:
        found = _HEADING.match(text) if indent < 4 else None
        return found is not None and self.begin_section(self.first + at, _plain(found[2] or ""), len(found[1]))

    def underlined(self, _at: int, text: str, _indent: int) -> bool:
        """If this line underlines the open paragraph, turn the paragraph into a heading."""
        block = self.open
        if block is None or block.kind is not Kind.PARA or block.parent >= 0 or text.strip(text[0]) or text == "-":
            return False
        self.blocks.pop()
        return self.begin_section(block.line, block.text, 1 if text[0] == "=" else 2)

    def rule(self, _at: int, text: str, indent: int) -> bool:
        if not _RULE.match(text):
            return False
        self.open, self.stack = None, [] if indent < 2 else self.stack
        return True

    def tag(self, _at: int, text: str, _indent: int) -> bool:
        if not _TAG.match(text):
            return False
        self.open = None
        return True

    def fence(self, at: int, indent: int, fence: re.Match[str]) -> int:
        self.close_items(indent)
        base = self.stack[-1][0] + 1 if self.stack else 0
        char, size, end = fence[1][0], len(fence[1]), at + 1
        while end < len(self.source):
            line = self.source[end].rstrip()
            body = line.lstrip()
            if body and len(line) - len(body) < base:
                end -= 1
                break
            if body.startswith(char * size) and not body.strip(char):
                break
            end += 1
        last = min(end, len(self.source) - 1)
        lines = ["", *self.source[at + 1 : last + 1]]
        parent = self.stack[-1][1] if self.stack else -1
        self.add(Block(Kind.CODE, self.first + at, lines, info=fence[2].strip(), parent=parent))
        self.open = None
        return last + 1

    def quote(self, at: int, text: str, _indent: int) -> bool:
        body = _plain(text.lstrip("> "))
        if self.open is not None and self.open.kind is Kind.QUOTE:
            self.open.lines.append(body)
        else:
            self.open = self.add(Block(Kind.QUOTE, self.first + at, [body]))
        return True

    def item(self, at: int, text: str, indent: int) -> bool:
        found = _ITEM.match(text)
        in_prose = self.open is not None and self.open.kind is Kind.PARA and self.open.parent < 0
        # In the middle of a paragraph a number other than 1 is text.
        if found is None or (in_prose and found[1][0].isdigit() and found[1][:-1] != "1"):
            return False
        self.close_items(indent - 1)
        if len(self.stack) >= MAX_DEPTH:
            raise DocumentError(self.first + at, f"list nested deeper than {MAX_DEPTH} levels", "Flatten the list.")
        body = found[2] or ""
        inner = bool(_NESTED.match(body))
        block = Block(Kind.ITEM, self.first + at, ["" if inner else _plain(body)], len(self.stack), found[1])
        if (box := _BOX.match(body)) is not None:
            block.box, block.starred, block.lines = box[1] or " ", box[2] is not None, [_plain(box[3] or "")]
        block.parent = self.stack[-1][1] if self.stack else -1
        self.stack.append((indent, len(self.blocks)))
        self.open = self.add(block)
        return self.item(at, body, indent + 2) if inner else True

    def paragraph(self, at: int, text: str, indent: int) -> None:
        if self.open is not None and self.continues(self.open, text, indent):
            self.open.lines.append(_plain(text))
            return
        if self.after_blank:
            self.close_items(indent)
        parent = self.stack[-1][1] if self.stack else -1
        base = self.stack[-1][0] + 2 if self.stack else 0
        kind = Kind.CODE if indent >= base + 4 and self.after_blank else Kind.PARA
        block = self.add(Block(kind, self.first + at, [_plain(text)], parent=parent))
        self.open = block if kind is Kind.PARA else None

    def continues(self, block: Block, text: str, indent: int) -> bool:
        if block.kind is Kind.PARA:
            return self.breaks is None or not self.breaks(block.lines, text)
        is_out = block.kind is Kind.ITEM and indent <= self.stack[-1][0]
        if is_out and (_BOLD_LABEL.match(text) or (self.breaks is not None and self.breaks((), text))):
            # Markdown makes `**Status:** done` directly under a list part of the last item; authors do not mean that.
            self.close_items(indent)
            return False
        return True

    def close_items(self, indent: int) -> None:
        """Close the items that a block in this column no longer belongs to."""
        while self.stack and indent <= self.stack[-1][0]:
            self.stack.pop()

    # Tables and comments

    def table(self, at: int, indent: int) -> int:
        if self.after_blank:
            self.close_items(indent)
        parent = self.stack[-1][1] if self.stack else -1
        header = _cells(self.source[at])
        end = at + 2
        while end < len(self.source) and "|" in self.source[end] and self.source[end].strip():
            line = self.source[end].strip()
            self.add(Block(Kind.ROW, self.first + end, [line], cells=_cells(line), header=header, parent=parent))
            end += 1
        self.open = None
        return end

    def without_comment(self, at: int, raw: str) -> tuple[str, int]:
        """Return the line without comments, and how many lines these span. An unclosed comment is text."""
        skip = 1
        while (start := raw.find("<!--")) >= 0:
            stop = raw.find("-->", start)
            while stop < 0:
                if at + skip > self.last_comment_end:
                    return raw.replace("<!--", "< !--"), skip
                raw = raw[: start + 4] + self.source[at + skip]
                skip += 1
                stop = raw.find("-->", start)
            raw = raw[:start] + raw[stop + 3 :]
        return raw.rstrip(), skip


def _ends(blocks: list[Block]) -> list[int]:
    """Return where each block ends: an item after its last child, a heading after the last block of its section."""
    ends = list(range(1, len(blocks) + 1))
    for index in range(len(blocks) - 1, -1, -1):
        around = blocks[index].parent if blocks[index].parent >= 0 else blocks[index].section
        if around >= 0:
            ends[around] = max(ends[around], ends[index])
    return ends


def any_within(places: Sequence[int], start: int, end: int) -> bool:
    """Tell whether one of these places, which are in order, is in a range."""
    return bisect_left(places, end) > bisect_left(places, start)


def _plain(text: str) -> str:
    """Undo Markdown escapes, so that `\\[x\\]` and `[x]` are one spelling."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _cells(line: str) -> tuple[str, ...]:
    return tuple(_plain(cell.strip()) for cell in _CELL.split(line.strip().strip("|")))
