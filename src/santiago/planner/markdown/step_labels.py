"""What a step says under its own labels: Result and Validation are criteria, Actions are what to do and none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import words
from santiago.planner.markdown.criteria import Criteria
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind

if TYPE_CHECKING:
    from santiago.planner.markdown.outline import Outline

_LABELS = {
    "action": "actions", "actions": "actions", "action items": "actions",
    "result": "judged", "results": "judged", "expected result": "judged", "expected results": "judged",
    "validation": "judged", "validations": "judged",
}  # fmt: skip
_COMMAND_ONLY = pattern(r"\s*`[^`]+`[\s.;]*")


@dataclass(slots=True)
class Said:
    """What stands under the labels of one step."""

    judged: Criteria = field(default_factory=Criteria)
    """What stands under Result and Validation."""
    actions: dict[int, str] = field(default_factory=dict)
    """Line and text of each item under Actions."""
    checks: set[int] = field(default_factory=set)
    """Lines of what is only a check, and nothing that a person would judge by."""
    labels: set[int] = field(default_factory=set)
    """Lines of the labels."""


class _Reading:
    """One pass over the blocks of a step: `under` is what the last label announced."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.said = Said()
        self.begin(None)

    def begin(self, under: str | None, rest: str = "", line: int = 0, *, behind: int = 0) -> None:
        self.under = under
        self.behind = behind
        """Where the item that announced it ends; 0 where it was no item."""
        self.waiting = under == "judged" and not rest
        """The label said nothing yet: the next paragraph is what it announced."""
        self.open = under == "judged" and self.add(rest, line)
        """The next line of the paragraph goes on with a criterion."""
        self.level: int | None = None
        """Depth of the outermost items under the label."""

    def block(self, index: int, block: Block) -> None:
        if self.behind and index >= self.behind:
            self.begin(None)
        if block.kind is Kind.HEADING:
            self.begin(*self.label(block.text, block.line) or (None,))
        elif block.kind is Kind.PARA:
            self.open = False
            for offset, text in enumerate(block.lines):
                self.line(text, block.line + offset)
        elif block.kind is Kind.ITEM:
            self.item(index, block)

    def label(self, text: str, line: int) -> tuple[str, str, int] | None:
        """Return what a line announces, what it says behind that, and itself, where it is one of these labels."""
        name, rest = split_label(text) or (text, "")
        under = _LABELS.get(words.normal(name))
        if under is None:
            return None
        self.said.labels.add(line)
        return under, rest, line

    def line(self, text: str, line: int) -> None:
        label = read_label(text)
        if split_label(text) and (found := self.label(text, line)):
            self.begin(*found)
        elif self.open:
            self.said.judged.go_on(text)
        elif label.is_label and (label.concept or self.under != "actions" or self.level is not None):
            self.begin(None)
        elif self.waiting:
            self.open, self.waiting = self.add(text, line), False
        elif self.under == "judged" and self.level is None:
            self.begin(None)

    def item(self, index: int, block: Block) -> None:
        own = self.own_lines(block)
        text = " ".join(line.strip() for line in block.lines[:own])
        if split_label(block.lines[0]) and (found := self.label(block.lines[0], block.line)):
            under, rest, line = found
            text = " ".join([rest, *block.lines[1:own]]).strip()
            self.begin(under, text, line, behind=self.outline.ends[index])
        else:
            self.plain_item(block, text)
        for offset in range(own, len(block.lines)):
            self.line(block.lines[offset], block.line + offset)

    def own_lines(self, block: Block) -> int:
        """Return how many lines are the item's own: a label right below a list, without a blank line, ends it."""
        for offset, text in enumerate(block.lines[1:], 1):
            if (found := split_label(text)) and words.normal(found[0]) in _LABELS:
                return offset
        return len(block.lines)

    def plain_item(self, block: Block, text: str) -> None:
        self.waiting = False
        if self.level is None:
            self.level = block.level
        if self.under == "actions":
            self.said.actions[block.line] = block.text
        elif self.under == "judged" and block.level > self.level:
            self.said.judged.go_on(text)
        elif self.under == "judged":
            self.add(text, block.line)

    def add(self, text: str, line: int) -> bool:
        """Take a criterion, and tell whether it was one."""
        if not text or _COMMAND_ONLY.fullmatch(text):
            self.said.checks.add(line)
            return False
        self.said.judged.add(text, line)
        return True


def said(outline: Outline, start: int, end: int) -> Said:
    """Return what the blocks of a step say under its labels."""
    reading = _Reading(outline)
    for index in range(start, end):
        reading.block(index, outline.blocks[index])
    return reading.said
