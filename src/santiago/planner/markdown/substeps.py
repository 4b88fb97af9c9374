"""Steps: what each says under Actions, Result and Validation, and its substeps, whose text and criteria it adds to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.draft import PLANNED, Status
from santiago.planner.findings import error
from santiago.planner.markdown import carriers
from santiago.planner.markdown.gathered import Criteria
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.structured.records.units import unique

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from santiago.planner.draft import Dep, Unit
    from santiago.planner.markdown.harvest import Carrier
    from santiago.planner.markdown.outline import Outline
    from santiago.planner.source import Source


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
        elif label.is_label and (label.concept or self.under != "actions"):
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


_SUBSTEP = pattern(r"(\d+)(?:\.\d+)+")


def parents(source: Source, found: Sequence[int]) -> dict[int, int | None]:
    """Return for each heading of a substep the heading of its step; None where there is no such step.

    The nearest step before it with that number counts. Where a document has no whole steps at all, the first part of
    a number counts the section that it stands in, as in `Step 1.2` under `Phase 1`, and these are steps.
    """
    whole: dict[str, int] = {}
    owners: dict[int, int | None] = {}
    for index in found:
        number = _number(source, index)
        if (sub := _SUBSTEP.fullmatch(number)) is None:
            whole[ids.fold(number)] = index
        else:
            owners[index] = whole.get(sub[1])
    if not whole:
        return {index: None for index in owners if not _in_section(source, index)}
    return owners


def _number(source: Source, index: int) -> str:
    lead = source.leads[index]
    return lead.id if lead else ""


def _in_section(source: Source, index: int) -> bool:
    first = _number(source, index).partition(".")[0]
    above = [source.leads[outer] for outer in source.outline.path(index)]
    return carriers.chunk_of(source, index) is not None or any(lead and lead.id == first for lead in above)


def made(source: Source, found: Sequence[int]) -> list[Carrier]:
    """Return the place of each step and substep; what follows a substep inside a step's section goes with it."""
    ends, steps = source.outline.ends, set(found)
    made = []
    for start, after in zip(found, [*found[1:], len(source.outline.blocks)], strict=True):
        around = (outer for outer in source.outline.path(start) if outer in steps)
        end = min(max(ends[start], *(ends[outer] for outer in around), 0), after)
        made.append(
            carriers.carrier(source, start, end=end, found=source.leads[start], chunk=carriers.chunk_of(source, start))
        )
    return made


def are_planned(source: Source, found: Sequence[int]) -> bool:
    """Tell whether at least half of these sections say both what to do and what comes of it."""
    told = [said(source.outline, start + 1, end) for start, end in carriers.bounded(source, list(found))]
    return sum(bool(one.judged and one.actions) for one in told) * 2 >= len(told)


def labelled(source: Source, places: Sequence[Carrier]) -> list[Said]:
    """Return what each of these places says under the labels of a step."""
    return [said(source.outline, place.at + 1, place.end) for place in places]


def with_labels(unit: Unit, labels: Said) -> Unit:
    """Return a step with what stands under Result and Validation as criteria, and without what stands under Actions."""
    judged = labels.judged.done()
    told = {*labels.actions, *labels.checks, *(criterion.line for criterion in judged)}
    kept = [one for one in unit.criteria if one.line not in told]
    there = set(unit.text.split("\n"))
    left = [text for text in labels.actions.values() if text not in there]  # boxes are no text of a unit otherwise
    return replace(
        unit,
        criteria=tuple(sorted([*kept, *judged], key=lambda one: one.line)),
        text="\n".join([*filter(None, [unit.text]), *left]),
    )


def merged(units: Mapping[int, Unit], owners: Mapping[int, int | None]) -> list[Unit]:
    """Return the steps with their substeps in them; a substep that its author left out stays by itself, to be reported."""
    parts: dict[int, list[Unit]] = {}
    for index, owner in owners.items():
        if owner is not None and units[index].status in PLANNED:
            parts.setdefault(owner, []).append(units[index])
    inside = {index for index, owner in owners.items() if owner is not None and units[index].status in PLANNED}
    return [_whole(unit, parts.get(index, [])) for index, unit in units.items() if index not in inside]


def _whole(step: Unit, parts: list[Unit]) -> Unit:
    if not parts:
        return step
    names = (*step.tags, *filter(None, (part.id for part in parts)))
    own = set(map(ids.fold, (step.id or "", *names)))
    every = [step, *parts]
    text = [step.text, *(f"Step {part.id}: {part.title}\n{part.text}".strip() for part in parts)]
    is_open = step.status is Status.DONE and {part.status for part in parts} != {Status.DONE}
    return replace(
        step,
        text="\n".join(filter(None, text)),
        status=Status.OPEN if is_open else step.status,
        tags=names,
        criteria=tuple(_all(every, "criteria")),
        deps=_outward(_all(every, "deps"), own),
        covers=unique(_all(every, "covers")),
        files=unique(_all(every, "files")),
        verify=unique(_all(every, "verify")),
        unread=unique(_all(every, "unread")),
    )


def _all(units: list[Unit], field: str) -> list[Any]:
    return [each for unit in units for each in getattr(unit, field)]


def _outward(deps: list[Dep], own: set[str]) -> tuple[Dep, ...]:
    """Return the dependencies on other steps; those between parts of one are the order that they stand in."""
    first: dict[str, Dep] = {}
    for dep in deps:
        if ids.fold(dep.target) not in own:
            first.setdefault(ids.fold(dep.target), dep)
    return tuple(first.values())


def orphans(source: Source, owners: Mapping[int, int | None]) -> list[Finding]:
    """Report each substep whose step is not there."""
    found = []
    for index in (index for index, owner in owners.items() if owner is None):
        number = _number(source, index)
        message = f"Step {number} is a substep of Step {number.partition('.')[0]}, which is not there before it"
        found.append(
            error(
                "substep_without_step",
                source.outline.blocks[index].line,
                message,
                f'Write "Step {number.partition(".")[0]}: …" above it, or give it a number of its own.',
            )
        )
    return found
