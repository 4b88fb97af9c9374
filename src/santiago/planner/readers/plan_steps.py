"""Plans whose units are headings: `### Task 1:`, `## Step 1:`, `### 1. Title` with boxes; and tickets in other dress.

A checklist that repeats the headings adds its ticks; a numbered list of boxes that holds more than the headings is
itself the list of units, and the headings are their details.
"""

from __future__ import annotations

from dataclasses import replace

from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import Document, Status, Unit
from santiago.planner.findings import note
from santiago.planner.markdown import assemble, boxes, carriers, heads, ordering, substeps, tickets
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source, Zone


def read(source: Source) -> Document | None:
    return (
        tickets.roadmap(source)
        or tickets.issue_table(source)
        or _worded(source)
        or tickets.headings(source)
        or _numbered(source)
    )


def _worded(source: Source) -> Document | None:
    """Read headings `Task N` or `Step N`."""
    found, steps = heads.leaves(source, "task"), _step_heads(source)
    kind = "Task" if found else "Step"
    if not found:
        leaves = set(heads.leaves(source, "step"))
        found = [index for index in steps if index in leaves]
    if not found or (kind == "Step" and not _are_a_plan(source, steps, found)):
        return None
    if listed := _listed(source, found):
        evidence = [f"{len(found)} headings {kind} N", f"{len(listed)} numbered boxes, some of them the same tasks"]
        return _boxes_with_details(source, found, listed, evidence)
    return _steps(source, steps) if kind == "Step" else _with_ticks(source, found, [f"{len(found)} headings {kind} N"])


def _step_heads(source: Source) -> list[int]:
    return [index for index in heads.of_kind(source, "step") if source.zones[index] != Zone.NEVER]


def _are_a_plan(source: Source, steps: list[int], leaves: list[int]) -> bool:
    """Tell whether headings `Step N` are what a document is about, and not a procedure that it tells of."""
    return (
        len(heads.twins(source, leaves)) * 2 >= len(leaves)
        or heads.many_own(source, leaves, heads.STEP_SIGNS)
        or heads.fill_most(source, steps)
        or substeps.are_planned(source, steps)
    )


def _steps(source: Source, found: list[int]) -> Document:
    """Return the document of headings `Step N`, each with its substeps `Step N.M` in it."""
    owners = substeps.parents(source, found)
    inside = sum(owner is not None for owner in owners.values())
    evidence = [f"{len(found) - inside} headings Step N", *([f"{inside} substeps Step N.M"] if inside else [])]
    places, twins = substeps.made(source, found), heads.twins(source, found)
    document = assemble.document(source, "plan-steps", evidence, places, repeated=sorted(twins.values()))
    labels = substeps.labelled(source, places)
    units = {
        index: _ticked(source, substeps.with_labels(unit, said), twins.get(index))
        for index, unit, said in zip(found, document.units, labels, strict=True)
    }
    known = {line for said in labels for line in said.labels}
    document.findings = [one for one in document.findings if one.code != "unknown_label" or one.line not in known]
    document.findings += substeps.orphans(source, owners)
    return ordering.ordered(source, assemble.with_units(document, substeps.merged(units, owners)))


def _numbered(source: Source) -> Document | None:
    """Read headings `1. Title`, at least half of which own boxes, a criteria label or a dependency."""
    levels: dict[int, list[int]] = {}
    for index, block in enumerate(source.outline.blocks):
        if block.kind is Kind.HEADING and heads.is_numbered(source, index) and source.zones[index] != Zone.NEVER:
            levels.setdefault(block.level, []).append(index)
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
    """Numbers are ids only where the document refers to a unit by one; else they merely count."""
    numbers = {unit.id for unit in units}
    referred = any(dep.target in numbers for unit in units for dep in unit.deps if dep.is_declared)
    if referred and len(numbers) == len(units):
        return units
    return [
        unit if "." in (unit.id or "") else replace(unit, id=None, tags=(*unit.tags, unit.id or "")) for unit in units
    ]


def _with_ticks(source: Source, found: list[int], evidence: list[str]) -> Document:
    """Return the document of these headings, with the ticks of a checklist that repeats them."""
    twins = heads.twins(source, found)
    document = assemble.document(
        source, "plan-steps", evidence, heads.made(source, found), repeated=sorted(twins.values())
    )
    units = [_ticked(source, unit, twins.get(index)) for unit, index in zip(document.units, found, strict=True)]
    return ordering.ordered(source, assemble.with_units(document, units))


def _ticked(source: Source, unit: Unit, twin: int | None) -> Unit:
    if twin is None or unit.status is not Status.OPEN:
        return unit
    return replace(unit, status=carriers.box_status(source, source.outline.blocks[twin]))


def _listed(source: Source, found: list[int]) -> list[boxes.Box]:
    """Return the numbered boxes outside the headings, where they hold all of the headings' numbers and more."""
    numbers = {ids.fold(lead.id) for index in found if (lead := source.leads[index])}
    listed = [
        box
        for box in boxes.survey(source).units
        if box.found is not None and box.found.kind in ("number", "task") and source.zones[box.at] != Zone.NEVER
    ]
    return listed if numbers < {ids.fold(box.found.id) for box in listed if box.found} else []


def _boxes_with_details(source: Source, found: list[int], listed: list[boxes.Box], evidence: list[str]) -> Document:
    """The boxes are the units; a heading with the same number adds its criteria, files and commands."""
    details = {ids.fold(made.id or ""): made for made in heads.made(source, found)}
    labels = carriers.section_chunks(source, [box.at for box in listed])
    made = []
    for box, chunk in zip(listed, labels, strict=True):
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
