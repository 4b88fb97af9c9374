"""Plans whose units are headings: `### Task 1:`, `## Step 1:`, `### DOC-030`, `### 1. Title` with boxes; and tables of issues.

A checklist that repeats the headings gives them its ticks. If a numbered list of boxes holds more than the headings, the
boxes are the units, and the headings are their details.
"""

from __future__ import annotations

from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import hints, ids
from santiago.planner.draft import Document, Status, Unit
from santiago.planner.findings import note
from santiago.planner.markdown import assemble, boxes, carriers, heads, ordering, substeps
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.table_heads import cell_of, columns_of
from santiago.planner.source import Source, Zone

_ISSUE = pattern(r"^[*_`\[]*#(\d+)[\]*_`]*(?:\([^)]*\))?$")


def read(source: Source) -> Document | None:
    return _issue_table(source) or _worded(source) or _named(source) or _numbered(source)


def _issue_table(source: Source) -> Document | None:
    """Read tables with an issue number in the first column and a status column."""
    blocks = source.outline.blocks
    rows = [index for index, block in enumerate(blocks) if _is_issue(block)]
    if len(rows) < 2 or heads.has_stories(source, len(rows)):
        return None
    kept = sorted({blocks[index].cells[:2]: index for index in reversed(rows)}.values())
    made = [_row(source, index, chunk) for index, _, chunk in carriers.places(source, kept)]
    evidence = [f"{len(kept)} table rows with issue numbers and a status"]
    again = sorted(set(rows) - set(kept))
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


def _named(source: Source) -> Document | None:
    """Read headings with ids (`DOC-030`) whose boxes are their steps. Boxes outside these headings are units, too."""
    by_prefix: dict[str, list[int]] = {}
    for index in carriers.indexes(source, Kind.HEADING):
        if (lead := source.named.get(index)) and carriers.is_unit_prefix(lead):
            by_prefix.setdefault(lead.prefix, []).append(index)
    found = max(by_prefix.values(), key=len, default=[])
    if len(found) < 2 or any(source.under_criteria) or not heads.many_own(source, found, frozenset()):
        return None
    within = heads.inside(source, found)
    loose = [box.at for box in boxes.survey(source).units if not within[box.at] and boxes.is_plain(source, box.at)]
    leads = {start: source.leads[start] for start in found}
    made = [
        carriers.carrier(source, start, end=end, found=leads.get(start), chunk=chunk)
        for start, end, chunk in carriers.places(source, sorted([*found, *loose]))
    ]
    return assemble.document(
        source,
        "plan-steps",
        [count(len(found), "heading with an id and a checklist", "headings with ids, each with a checklist")],
        made,
    )


def _worded(source: Source) -> Document | None:
    """Read headings `Task N` or `Step N`."""
    found = heads.leaves(source, "task")
    steps = [index for index in heads.of_kind(source, "step") if source.zones[index] != Zone.NEVER]
    kind = "Task" if found else "Step"
    if not found:
        leaves = set(heads.leaves(source, "step"))
        found = [index for index in steps if index in leaves]
    if not found or (kind == "Step" and not _are_a_plan(source, steps, found)):
        return None
    headings = f"{count(len(found), 'heading')} {kind} N"
    if listed := _listed(source, found):
        evidence = [headings, f"{count(len(listed), 'numbered box', 'numbered boxes')}, some of them the same tasks"]
        return _boxes_with_details(source, found, listed, evidence)
    return _steps(source, steps) if kind == "Step" else _with_ticks(source, found, [headings])


def _are_a_plan(source: Source, steps: list[int], leaves: list[int]) -> bool:
    """Tell whether the `Step N` headings are the plan, and not a procedure that the document describes."""
    return (
        len(heads.boxes_outside(source, leaves)) * 2 >= len(leaves)
        or heads.many_own(source, leaves, heads.STEP_SIGNS)
        or heads.fill_most(source, steps)
        or substeps.are_planned(source, steps)
    )


def _steps(source: Source, found: list[int]) -> Document:
    """Return the document of the headings `Step N`. Substeps `Step N.M` are merged into their step."""
    owners = substeps.parents(source, found)
    inside = sum(owner is not None for owner in owners.values())
    evidence = [f"{count(len(found) - inside, 'heading')} Step N"]
    evidence += [f"{count(inside, 'substep')} Step N.M"] if inside else []
    places, boxes = substeps.made(source, found), heads.boxes_outside(source, found)
    again = sorted(boxes.values())
    document = assemble.document(source, "plan-steps", evidence, places, steps=True, repeated=again)
    pairs = zip(found, document.units, strict=True)
    units = {index: _ticked(source, unit, boxes.get(index)) for index, unit in pairs}
    document.findings += substeps.orphans(source, owners)
    return ordering.ordered(source, assemble.with_units(document, substeps.merged(units, owners)))


def _numbered(source: Source) -> Document | None:
    """Read headings `1. Title`, at least half of which have boxes, a criteria label or a dependency."""
    levels: dict[int, list[int]] = {}
    for index in carriers.indexes(source, Kind.HEADING):
        if heads.is_numbered(source, index):
            levels.setdefault(source.outline.blocks[index].level, []).append(index)
    for level in sorted(levels, reverse=True):
        found = levels[level]
        if (
            len(found) > 1
            and not heads.are_chapters(source, level)
            and heads.many_own(source, found, heads.NUMBERED_SIGNS)
            and not heads.has_stories(source, len(found), kinds=(Kind.HEADING, Kind.ITEM))
        ):
            document = _with_ticks(
                source, found, [f"{len(found)} numbered headings with boxes, criteria or dependencies"]
            )
            document.units = _without_list_numbers(document.units)
            return document
    return None


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
    boxes = heads.boxes_outside(source, found)
    document = assemble.document(
        source, "plan-steps", evidence, carriers.headed(source, found), repeated=sorted(boxes.values())
    )
    units = [_ticked(source, unit, boxes.get(index)) for unit, index in zip(document.units, found, strict=True)]
    return ordering.ordered(source, assemble.with_units(document, units))


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
    document.findings += [_detailed(source, index) for index in found]
    return document


def _detailed(source: Source, index: int) -> Finding:
    block = source.outline.blocks[index]
    message = f'"{block.text}" was read as the details of the box with the same number'
    return note("merged", block.line, message, "Nothing to do, if they are the same.")
