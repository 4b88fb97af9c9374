"""The formats house-tasks (`### Task N:` blocks with an `**ID:**` field) and house-criteria (PRDs whose only units are criteria `AC-n`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import Document, DraftCriterion, Unit
from santiago.planner.findings import warning
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Source


def tasks(source: Source) -> Document | None:
    blocks = source.outline.blocks
    leads = {index: lead for index, lead in source.named.items() if lead.kind == "task"}
    heads = [index for index in leads if blocks[index].kind is Kind.HEADING]
    made = carriers.headed(source, heads)
    with_id = {one.at for one in made if any(map(_is_id_field, blocks[one.at + 1 : one.end]))}
    if not with_id:
        return None
    made = [replace(one, id=None, tags=(leads[one.at].id,)) if one.at in with_id else one for one in made]
    evidence = [f"{count(len(with_id), 'block')} Task N with an ID field"]
    document = assemble.document(source, "house-tasks", evidence, made, implicit=False)
    document.findings += [_task_without_id(blocks[start]) for start in heads if start not in with_id]
    return document


def _is_id_field(block: Block) -> bool:
    if block.kind not in (Kind.ITEM, Kind.PARA):
        return False
    return any(
        (label := read_label(line)).concept == "id" and label.is_label and bool(label.rest) for line in block.lines
    )


def _task_without_id(block: Block) -> Finding:
    message = f'"{block.text}" has no ID field, while other tasks of this document have one'
    hint = 'Add "- **ID:** T-001" with a number of its own, so that other tasks can depend on it.'
    return warning("no_id", block.line, message, hint)


_UNITS = ("story", "requirement", "task", "feature")
_KINDS = (Kind.ITEM, Kind.PARA, Kind.ROW, Kind.HEADING)


def criteria_lists(view: View) -> list[UnitList]:
    """Return the criteria with ids as a list, if the document has no other units."""
    source = view.source
    leads = {index: lead for index, lead in source.named.items() if _is_criterion(lead)}
    # Inside a list item the id is only mentioned.
    outer = [at for at in leads if source.outline.blocks[at].parent < 0]
    found = sorted(set(carriers.indexes(source, *_KINDS)).intersection(outer))
    if not found or _repeats(source, found) or _has_units(source):
        return []
    made = [carriers.carrier(source, at, end=end, found=leads[at]) for at, end in carriers.bounded(source, found)]
    keys, name = frozenset({"ac", "criteria"}), "the acceptance criteria"
    build = partial(_criteria, source, found, leads)
    return [UnitList(view, Evidence.CRITERIA, "criteria", name, tuple(made), keys, explicit=True, build=build)]


def _criteria(source: Source, found: list[int], leads: dict[int, ids.Found]) -> Document:
    phases = _phases(source, {ids.fold(lead.id) for lead in leads.values()})
    made = [
        carriers.carrier(source, at, end=end, found=leads[at], chunk=phases.get(ids.fold(leads[at].id)))
        for at, end in carriers.bounded(source, found)
    ]
    evidence = [f"{len(found)} criteria with AC ids and no other unit"]
    document = assemble.document(source, "house-criteria", evidence, made)
    document.units = [_as_criterion(source, unit, index) for unit, index in zip(document.units, found, strict=True)]
    document.findings += _criteria_without_id(source, found)
    return document


def _is_criterion(lead: ids.Found | None) -> bool:
    return lead is not None and lead.kind == "prefix" and lead.prefix in carriers.CRITERION_PREFIXES


def _repeats(source: Source, found: list[int]) -> bool:
    """Tell whether ids repeat or several sections hold criteria: then the criteria belong to several units."""
    names = [ids.fold(lead.id) for index in found if (lead := source.leads[index])]
    blocks = source.outline.blocks
    sections = {
        blocks[i].section
        for i in found
        if blocks[i].section >= 0 and words.concept(blocks[blocks[i].section].text) == "criteria"
    }
    return len(set(names)) < len(names) or len(sections) > 1


def _has_units(source: Source) -> bool:
    """Tell whether the document defines units of another kind."""
    places = carriers.indexes(source, *_KINDS)
    blocks = source.outline.blocks
    if any(blocks[index].kind is not Kind.ROW and words.is_story(blocks[index].text) for index in places):
        return True
    leads = [(blocks[index].kind, source.named[index]) for index in places if index in source.named]
    heads = [lead for kind, lead in leads if kind is Kind.HEADING]
    if any(lead.kind in _UNITS or carriers.is_unit_prefix(lead) for lead in heads):
        return True
    return max(Counter(lead.prefix for _, lead in leads if carriers.is_unit_prefix(lead)).values(), default=0) > 1


def _phases(source: Source, known: set[str]) -> dict[str, str]:
    """Map each criterion to the phase whose bullets name it, if there is exactly one."""
    named: dict[str, set[str]] = {}
    for index, block in enumerate(source.outline.blocks):
        if block.kind is not Kind.ITEM or not (chunk := carriers.chunk_of(source, index)):
            continue
        for name in ids.mentioned(block.text):
            if ids.fold(name) in known:
                named.setdefault(ids.fold(name), set()).add(chunk)
    return {name: next(iter(chunks)) for name, chunks in named.items() if len(chunks) == 1}


def _as_criterion(source: Source, unit: Unit, index: int) -> Unit:
    """Make the unit its own only criterion. What was read as its criteria becomes part of the text."""
    text = " ".join([unit.title, *(part.text for part in unit.criteria)])
    line = source.outline.blocks[index].line
    return replace(unit, criteria=(DraftCriterion(text=text, line=line, id=unit.id),))


def _criteria_without_id(source: Source, found: list[int]) -> list[Finding]:
    """Warn of other bullets in the criteria section: they may be criteria without an id."""
    taken = set(found)
    blocks = source.outline.blocks
    return [
        warning(
            "no_id",
            block.line,
            f'"{block.text[:60]}" is among the acceptance criteria without an AC id; not planned',
            'Begin it with an id of its own, such as "AC-9:".',
        )
        for index, block in enumerate(blocks)
        if block.kind is Kind.ITEM
        and index not in taken
        and block.parent < 0
        and block.section >= 0
        and words.concept(blocks[block.section].text) == "criteria"
    ]
