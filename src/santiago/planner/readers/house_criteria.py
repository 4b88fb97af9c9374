"""PRDs whose only units are acceptance criteria: each `AC-n` is a unit with itself as its one criterion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.draft import Document, DraftCriterion, Unit
from santiago.planner.findings import warning
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source, Zone

_UNITS = ("story", "requirement", "task", "feature")
_KINDS = (Kind.ITEM, Kind.PARA, Kind.ROW, Kind.HEADING)


def read(source: Source) -> Document | None:
    blocks = source.outline.blocks
    found = [
        i for i, b in enumerate(blocks) if b.kind in _KINDS and _is_criterion(source.leads[i]) and _is_new(source, i)
    ]
    if not found or _repeats(source, found) or _has_units(source):
        return None
    phases = _phases(source, {ids.fold(lead.id) for i in found if (lead := source.leads[i])})
    made = []
    for start, end in carriers.bounded(source, found):
        lead = source.leads[start]
        made.append(
            carriers.carrier(source, start, end=end, found=lead, chunk=phases.get(ids.fold(lead.id)) if lead else None)
        )
    document = assemble.document(
        source, "house-criteria", [f"{len(found)} criteria with AC ids and no other unit"], made
    )
    document.units = [_as_criterion(source, unit, index) for unit, index in zip(document.units, found, strict=True)]
    document.findings += _without_id(source, found)
    return document


def _is_criterion(lead: ids.Found | None) -> bool:
    return lead is not None and lead.kind == "prefix" and lead.prefix in carriers.CRITERION_PREFIXES


def _is_new(source: Source, index: int) -> bool:
    """A criterion inside another item is a mention, such as in a phase's bullet."""
    return source.zones[index] != Zone.NEVER and source.outline.blocks[index].parent < 0


def _repeats(source: Source, found: list[int]) -> bool:
    """Tell whether ids or sections of criteria repeat: then they are the criteria of several units."""
    names = [ids.fold(lead.id) for index in found if (lead := source.leads[index])]
    blocks = source.outline.blocks
    sections = {
        blocks[i].section
        for i in found
        if blocks[i].section >= 0 and words.concept(blocks[blocks[i].section].text) == "criteria"
    }
    return len(set(names)) < len(names) or len(sections) > 1


def _has_units(source: Source) -> bool:
    """Tell whether the document defines anything else that a reader would take for a unit."""
    prefixes: Counter[str] = Counter()
    for index, block in enumerate(source.outline.blocks):
        lead = source.leads[index]
        if source.zones[index] == Zone.NEVER:
            continue
        if block.kind in (Kind.HEADING, Kind.ITEM, Kind.PARA) and words.is_story(block.text):
            return True
        if lead is None:
            continue
        if block.kind is Kind.HEADING and (lead.kind in _UNITS or carriers.is_unit_prefix(lead)):
            return True
        if carriers.is_unit_prefix(lead):
            prefixes[lead.prefix] += 1
    return any(count > 1 for count in prefixes.values())


def _phases(source: Source, known: set[str]) -> dict[str, str]:
    """Map each criterion to the one phase whose bullets name it."""
    named: dict[str, set[str]] = {}
    for index, block in enumerate(source.outline.blocks):
        if block.kind is not Kind.ITEM or not (chunk := carriers.chunk_of(source, index)):
            continue
        for name in ids.mentioned(block.text):
            if ids.fold(name) in known:
                named.setdefault(ids.fold(name), set()).add(chunk)
    return {name: next(iter(chunks)) for name, chunks in named.items() if len(chunks) == 1}


def _as_criterion(source: Source, unit: Unit, index: int) -> Unit:
    """The unit itself is what is checked; what stands under it belongs to its text."""
    text = " ".join([unit.title, *(part.text for part in unit.criteria)])
    line = source.outline.blocks[index].line
    return replace(unit, criteria=(DraftCriterion(text=text, line=line, id=unit.id),))


def _without_id(source: Source, found: list[int]) -> list[Finding]:
    """Report other bullets of a criteria section: they may be criteria that lack their id."""
    taken = set(found)
    blocks = source.outline.blocks
    return [
        warning(
            "no_id",
            block.line,
            f'"{block.text[:60]}" stands among the acceptance criteria without an AC id; not planned',
            'Begin it with an id of its own, such as "AC-9:".',
        )
        for index, block in enumerate(blocks)
        if block.kind is Kind.ITEM
        and index not in taken
        and block.parent < 0
        and block.section >= 0
        and words.concept(blocks[block.section].text) == "criteria"
    ]
