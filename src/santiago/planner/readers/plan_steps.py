"""Plans whose units are headings: `### Task 1:`, `## Step 1:`, `### DOC-030`, `### 1. Title` with boxes; and tables of issues.

A checklist that repeats the headings gives them its ticks. If a numbered list of boxes holds more than the headings, the
boxes are the units, and the headings are their details.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding, substep_line
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import PLANNED, Dep, Document, Status, Unit, unique
from santiago.planner.findings import error, note
from santiago.planner.markdown import assemble, boxes, carriers, declared_order
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.id_lists import kind_of
from santiago.planner.markdown.labels import cell_of, clean, columns_of, step_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Source, Zone

_TOOL = pattern(r"[*_]*(?:Files?[*_]*:|Step \d+\b)")
_ISSUE = pattern(r"^[*_`\[]*#(\d+)[\]*_`]*(?:\([^)]*\))?$")


class _Plan(NamedTuple):
    starts: list[int]
    name: str
    build: Callable[[], Document]
    repeated: list[int]
    """Rows or boxes that only repeat one of these."""
    sure: bool = True
    """Boxes below the headings are surely parts of them."""


def lists(view: View) -> list[UnitList]:
    """Return the headings, or the rows of issues, that are a plan."""
    source = view.source
    found = _issue_table(source) or _worded(source) or _named(source) or _numbered(source)
    if found is None:
        return []
    made = [carriers.carrier(source, at, end=end) for at, end in carriers.bounded(source, found.starts)]
    keys, again = words.spaced("plan step steps task tasks heading headings"), tuple(found.repeated)
    return [UnitList(view, Evidence.STEPS, "plan", found.name, tuple(made), keys, found.sure, again, build=found.build)]


def _issue_table(source: Source) -> _Plan | None:
    """Read tables with an issue number in the first column and a status column."""
    blocks = source.outline.blocks
    rows = [index for index, block in enumerate(blocks) if _is_issue(block)]
    if len(rows) < 2 or carriers.has_stories(source, len(rows)):
        return None
    kept = sorted({blocks[index].cells[:2]: index for index in reversed(rows)}.values())
    again = sorted(set(rows) - set(kept))
    return _Plan(kept, "the rows with issue numbers", lambda: _issues(source, kept, again), again)


def _issues(source: Source, kept: list[int], again: list[int]) -> Document:
    blocks = source.outline.blocks
    made = [_row(source, index, chunk) for index, _, chunk in carriers.places(source, kept)]
    evidence = [f"{len(kept)} table rows with issue numbers and a status"]
    document = assemble.document(source, "issue-table", evidence, made, repeated=again)
    # An issue number tells when the issue was written, not what comes first.
    document.units = [
        replace(unit, deps=tuple(hints.field_deps(cell_of(row, "depends"), row.line, "table")), rank=place)
        for place, (unit, row) in enumerate(zip(document.units, (blocks[at] for at in kept), strict=True))
    ]
    return document


def _is_issue(block: Block) -> bool:
    return (
        block.kind is Kind.ROW and bool(_ISSUE.match(block.cells[0])) and columns_of(block.header).get("status", 0) > 0
    )


def _row(source: Source, index: int, chunk: str | None) -> Carrier:
    row = source.outline.blocks[index]
    number = _ISSUE.match(row.cells[0])
    title = next(filter(None, row.cells[1:]), "")
    status = status_of(cell_of(row, "status")) or Status.OPEN
    found = carriers.carrier(source, index, title=title, chunk=chunk, status=status)
    return replace(found, id=number[1] if number else None, priority=clean(cell_of(row, "priority")) or found.priority)


def _named(source: Source) -> _Plan | None:
    """Read headings with ids (`DOC-030`) whose boxes are their steps. Boxes outside these headings are units, too."""
    by_prefix: dict[str, list[int]] = {}
    for index in carriers.indexes(source, Kind.HEADING):
        if (lead := source.named.get(index)) and carriers.is_unit_prefix(lead):
            by_prefix.setdefault(lead.prefix, []).append(index)
    found = max(by_prefix.values(), key=len, default=[])
    if len(found) < 2 or any(source.under_criteria) or not carriers.many_own(source, found, frozenset()):
        return None
    sure = kind_of(source.named[found[0]]) in ("story", "requirement", "nfr", "feature", "task")
    name = count(len(found), "heading with an id and a checklist", "headings with ids, each with a checklist")
    within = carriers.inside(source, found)
    loose = [box.at for box in boxes.survey(source).units if not within[box.at] and boxes.is_plain(source, box.at)]
    starts, heads = sorted([*found, *loose]), set(found)

    def build() -> Document:
        made = [
            carriers.carrier(source, at, end=end, found=source.leads[at] if at in heads else None, chunk=chunk)
            for at, end, chunk in carriers.places(source, starts)
        ]
        return assemble.document(source, "plan-steps", [name], made)

    return _Plan(starts, name, build, [], sure)


def _worded(source: Source) -> _Plan | None:
    """Read headings `Task N` or `Step N`."""
    found = carriers.leaves(source, "task")
    steps = [index for index in carriers.of_kind(source, "step") if source.zones[index] != Zone.NEVER]
    kind = "Task" if found else "Step"
    if not found:
        leaves = set(carriers.leaves(source, "step"))
        found = [index for index in steps if index in leaves]
    if not found or (kind == "Step" and not _are_a_plan(source, steps, found)):
        return None
    headings = f"{count(len(found), 'heading')} {kind} N"
    if listed := _listed(source, found):
        evidence = [headings, f"{count(len(listed), 'numbered box', 'numbered boxes')}, some of them the same tasks"]
        boxed = [box.at for box in listed]
        return _Plan(boxed, headings, lambda: _boxes_with_details(source, found, listed, evidence), found)
    if kind == "Step":
        return _Plan(steps, headings, lambda: _steps(source, steps), _again(source, steps))
    return _Plan(found, headings, lambda: _tasks(source, found, headings), _again(source, found))


def _again(source: Source, found: list[int]) -> list[int]:
    return sorted(carriers.boxes_outside(source, found).values())


def _tasks(source: Source, found: list[int], headings: str) -> Document:
    """Return the document of the headings `Task N`. With files or steps below them, tools that plan for agents wrote it."""
    document = _with_ticks(source, found, [headings])
    inside = [source.outline.blocks[start + 1 : end] for start, end in carriers.bounded(source, found)]
    written = sum(any(_TOOL.match(block.text) for block in blocks) for blocks in inside)
    document.known = written * 2 > len(found)
    return document


def _are_a_plan(source: Source, steps: list[int], leaves: list[int]) -> bool:
    """Tell whether the `Step N` headings are the plan, and not a procedure that the document describes."""
    return (
        len(carriers.boxes_outside(source, leaves)) * 2 >= len(leaves)
        or carriers.many_own(source, leaves, carriers.STEP_SIGNS)
        or carriers.fill_most(source, steps)
        or are_planned(source, steps)
    )


def _steps(source: Source, found: list[int]) -> Document:
    """Return the document of the headings `Step N`. Substeps `Step N.M` are merged into their step."""
    owners = parents(source, found)
    inside = sum(owner is not None for owner in owners.values())
    evidence = [f"{count(len(found) - inside, 'heading')} Step N"]
    evidence += [f"{count(inside, 'substep')} Step N.M"] if inside else []
    places, boxes = made(source, found), carriers.boxes_outside(source, found)
    again = sorted(boxes.values())
    document = assemble.document(source, "plan-steps", evidence, places, steps=True, repeated=again)
    pairs = zip(found, document.units, strict=True)
    units = {index: _ticked(source, unit, boxes.get(index)) for index, unit in pairs}
    document.findings += orphans(source, owners)
    return declared_order.ordered(source, assemble.with_units(document, merged(units, owners)))


def _numbered(source: Source) -> _Plan | None:
    """Read headings `1. Title`, at least half of which have boxes, a criteria label or a dependency."""
    levels: dict[int, list[int]] = {}
    for index in carriers.indexes(source, Kind.HEADING):
        if carriers.is_numbered(source, index):
            levels.setdefault(source.outline.blocks[index].level, []).append(index)
    for level in sorted(levels, reverse=True):
        found = levels[level]
        if (
            len(found) > 1
            and not carriers.are_chapters(source, level)
            and carriers.many_own(source, found, carriers.NUMBERED_SIGNS)
            and not carriers.has_stories(source, len(found), kinds=(Kind.HEADING, Kind.ITEM))
        ):
            name = f"{len(found)} numbered headings with boxes, criteria or dependencies"
            build = partial(_numbered_headings, source, found, name)
            return _Plan(found, name, build, _again(source, found), sure=False)
    return None


def _numbered_headings(source: Source, found: list[int], name: str) -> Document:
    document = _with_ticks(source, found, [name])
    document.units = _without_list_numbers(document.units)
    return document


def _without_list_numbers(units: list[Unit]) -> list[Unit]:
    """Drop the numbers as ids, unless some dependency in the document names one."""
    numbers = {unit.id for unit in units}
    targets = {dep.target for unit in units for dep in unit.deps if dep.is_declared}
    if len(numbers) == len(units) and numbers & targets:
        return units
    return [
        unit if "." in (name := unit.id or "") else replace(unit, id=None, tags=(*unit.tags, name)) for unit in units
    ]


def _with_ticks(source: Source, found: list[int], evidence: list[str]) -> Document:
    """Return the document of these headings, with the ticks of a checklist that repeats them."""
    boxes = carriers.boxes_outside(source, found)
    document = assemble.document(
        source, "plan-steps", evidence, carriers.headed(source, found), repeated=sorted(boxes.values())
    )
    units = [_ticked(source, unit, boxes.get(index)) for unit, index in zip(document.units, found, strict=True)]
    return declared_order.ordered(source, assemble.with_units(document, units))


def _ticked(source: Source, unit: Unit, twin: int | None) -> Unit:
    if twin is None or unit.status is not Status.OPEN:
        return unit
    return replace(unit, status=carriers.box_status(source, source.outline.blocks[twin]))


def _listed(source: Source, found: list[int]) -> list[boxes.Box]:
    """Return the numbered boxes if they have all of the headings' numbers and more; else nothing."""
    numbers = {ids.fold(lead.id) for index in found if (lead := source.leads[index])}
    listed = [
        box
        for box in boxes.survey(source).units
        if box.found is not None and box.found.kind in ("number", "task") and source.zones[box.at] != Zone.NEVER
    ]
    return listed if numbers < {ids.fold(box.found.id) for box in listed if box.found} else []


def _boxes_with_details(source: Source, found: list[int], listed: list[boxes.Box], evidence: list[str]) -> Document:
    """Return the document of these boxes. A heading with the same number adds its criteria, files and commands."""
    details = {ids.fold(made.id or ""): made for made in carriers.headed(source, found)}
    made = []
    for box, (_, _, chunk) in zip(listed, carriers.places(source, [box.at for box in listed]), strict=True):
        own = carriers.carrier(source, box.at, found=box.found, chunk=chunk)
        detail = details.get(ids.fold(own.id or ""))
        line = source.outline.blocks[box.at].line
        made.append(replace(detail, chunk=chunk, line=line, status=own.status, title=own.title) if detail else own)
    document = assemble.document(source, "plan-steps", evidence, made, known=[box.at for box in listed])
    for block in (source.outline.blocks[index] for index in found):
        message = f'"{block.text}" was read as the details of the box with the same number'
        document.findings.append(note("merged", block.line, message, "Nothing to do, if they are the same."))
    return document


_SUBSTEP = pattern(r"(\d+)(?:\.\d+)+")


def parents(source: Source, found: Sequence[int]) -> dict[int, int | None]:
    """Map each substep heading to the heading of its step, or to None if there is no such step.

    The nearest step above with that number counts. If the document has no whole steps at all, the first number is that of the
    section, as in `Step 1.2` under `Phase 1`; then these are steps and no substeps.
    """
    whole: dict[str, int] = {}
    owners: dict[int, int | None] = {}
    for index in found:
        number = _number(source, index)
        if (sub := _SUBSTEP.fullmatch(number)) is None:
            whole[ids.fold(number)] = index
        else:
            owners[index] = whole.get(sub[1])
    if whole:
        return owners
    orphans = []
    for index in owners:
        first = _number(source, index).partition(".")[0]
        above = [source.leads[outer] for outer in source.outline.path(index)]
        if carriers.chunk_of(source, index) is None and not any(lead and lead.id == first for lead in above):
            orphans.append(index)
    return dict.fromkeys(orphans)


def _number(source: Source, index: int) -> str:
    lead = source.leads[index]
    return lead.id if lead else ""


def made(source: Source, found: Sequence[int]) -> list[Carrier]:
    """Return the carrier of each step and substep. Blocks that follow a substep inside a step's section belong to the substep."""
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
    """Tell whether at least half of these sections have a list of actions and a result."""
    planned = 0
    for start, end in carriers.bounded(source, list(found)):
        lines = [line for block in source.outline.blocks[start + 1 : end] for line in block.lines]
        labels = filter(None, map(step_label, lines))
        planned += {"actions", "judged"} <= {at.concept for at in labels if at.concept == "judged" or not at.rest}
    return planned * 2 >= len(found)


def merged(units: Mapping[int, Unit], owners: Mapping[int, int | None]) -> list[Unit]:
    """Return the steps with their substeps merged in. A substep that is dropped or out of scope stays separate, to be reported."""
    inside = {at: owner for at, owner in owners.items() if owner is not None and units[at].status in PLANNED}
    parts: dict[int, list[Unit]] = {}
    for index, owner in inside.items():
        parts.setdefault(owner, []).append(units[index])
    return [_with_parts(unit, parts.get(index, [])) for index, unit in units.items() if index not in inside]


def _with_parts(step: Unit, parts: list[Unit]) -> Unit:
    if not parts:
        return step
    names = (*step.tags, *filter(None, (part.id for part in parts)))
    own = set(map(ids.fold, (step.id or "", *names)))
    every = [step, *parts]
    begins = [substep_line(part.id or "", part.title, done=part.status is Status.DONE) for part in parts]
    text = [step.text, *(f"{line}\n{part.text}".strip() for line, part in zip(begins, parts, strict=True))]
    deps: dict[str, Dep] = {}
    for dep in (dep for dep in _all(every, "deps") if ids.fold(dep.target) not in own):  # on other steps
        deps.setdefault(ids.fold(dep.target), dep)
    is_open = step.status is Status.DONE and {part.status for part in parts} != {Status.DONE}
    return replace(
        step,
        end=max(unit.end for unit in every) if step.end else 0,
        text="\n".join(filter(None, text)),
        status=Status.OPEN if is_open else step.status,
        tags=names,
        criteria=tuple(_all(every, "criteria")),
        deps=tuple(deps.values()),
        covers=unique(_all(every, "covers")),
        files=unique(_all(every, "files")),
        verify=unique(_all(every, "verify")),
        unread=unique(_all(every, "unread")),
    )


def _all(units: list[Unit], field: str) -> list[Any]:
    return [each for unit in units for each in getattr(unit, field)]


def orphans(source: Source, owners: Mapping[int, int | None]) -> Iterator[Finding]:
    """Report each substep without a step."""
    for index in (index for index, owner in owners.items() if owner is None):
        number = _number(source, index)
        message = f"Step {number} is a substep of Step {number.partition('.')[0]}, but there is no such step before it"
        hint = f'Write "Step {number.partition(".")[0]}: …" above it, or give it a number of its own.'
        yield error("substep_without_step", source.outline.blocks[index].line, message, hint)
