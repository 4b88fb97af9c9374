"""Make a document of carriers: read the unit at each carrier, then report what no unit contains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import commands, ids, plan_spec, words
from santiago.planner.draft import Dep, Document, Hint, Unit, unique
from santiago.planner.findings import left_out, note
from santiago.planner.markdown.carriers import group_names, is_group
from santiago.planner.markdown.harvest import Carrier, Harvester
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unplanned import unplanned
from santiago.planner.source import Source

_OF_EACH = pattern(
    r"\b(?:every|each|all)\s+(?:of the\s+|user\s+)?(?:stor(?:y|ies)|tasks?|requirements?|features?|steps?|units?|tickets?)\b"
    r"|\bjede[rns]?\s+(?:story|aufgabe)\b|\bchaque\s+(?:story|tâche)\b|\bcada\s+(?:historia|história|tarea|tarefa)\b"
    r"|每个(?:用户)?故事|每个任务|すべての(?:ストーリー|タスク)|모든 (?:스토리|작업)",
    re.IGNORECASE,
)
"""Words that make checks those of every unit: `These must pass for every user story`."""
_OF_STATUS = frozenset({"dropped", "out_of_scope", "optional"})


def document(
    source: Source,
    format_: str,
    evidence: Iterable[str],
    carriers: list[Carrier],
    *,
    implicit: bool = True,
    steps: bool = False,
    repeated: Sequence[int] = (),
    known: Sequence[int] = (),
) -> Document:
    """Return the document with the units of these carriers, and a finding for everything that they leave out.

    `repeated` are places that only repeat a unit. `known` are boxes that are no units, such as groups. `implicit` lets plain
    bullets be criteria. `steps` says that the units are steps, which have labels of their own.
    """
    harvester = Harvester(source.outline, implicit=implicit, steps=steps)
    units = _settled([_with_group_names(harvester.unit(carrier)) for carrier in carriers])
    if len(carriers) == 1 and not units[0].criteria:
        units, carriers = _with_document_criteria(source, harvester, units[0], carriers[0])
    found = Document(format=format_, evidence=tuple(evidence), title=source.title, units=units)
    taken = source.outline.cover((carrier.at, carrier.end) for carrier in carriers)
    checks, each = _run_checks(source, taken)
    if each:
        found.units = [replace(unit, verify=unique([*unit.verify, *each])) for unit in units]
    found.run_verify = list(unique([*plan_spec.declared_checks(source), *checks.taken]))
    found.unread = list(unique(checks.left))
    found.findings += [
        *plan_spec.told_id(source),
        *left_out(units),
        *unplanned(source, carriers, taken, repeated=repeated, known=known),
        *_unknown_labels(harvester),
    ]
    return found


def _with_document_criteria(
    source: Source, harvester: Harvester, unit: Unit, carrier: Carrier
) -> tuple[list[Unit], list[Carrier]]:
    """If the document has only this one unit, give it the criteria section of the document."""
    blocks = source.outline.blocks
    at = next((i for i, b in enumerate(blocks) if b.kind is Kind.HEADING and words.concept(b.text) == "criteria"), -1)
    if at < carrier.end:
        return [unit], [carrier]
    section = replace(carrier, at=at, end=source.outline.ends[at])
    read = harvester.unit(section)
    taken = replace(unit, criteria=read.criteria, verify=unique([*unit.verify, *read.verify]))
    return [taken], [carrier, section]


def with_units(document: Document, units: list[Unit]) -> Document:
    """Replace the units of a document, and renew its notes about dropped, deferred and optional units."""
    document.units = units
    others = [finding for finding in document.findings if finding.code not in _OF_STATUS]
    document.findings = [*others, *left_out(units)]
    return document


def _with_group_names(unit: Unit) -> Unit:
    """Let dependencies name the unit's phase by its number: `Phase 2` for `Phase 2: Core`."""
    names = group_names(unit.chunk) if unit.chunk and is_group(unit.chunk) else ()
    return replace(unit, tags=tuple(dict.fromkeys((*unit.tags, *names)))) if names else unit


def _settled(units: list[Unit]) -> list[Unit]:
    """Turn dependencies in brackets that cannot be ids of this document into mere mentions: `(requires OAuth2)`, `(blocked on Q1)`."""
    names = {ids.fold(name) for unit in units for name in (unit.id, *unit.tags) if name}
    prefixes = {ids.prefix_of(unit.id) for unit in units if unit.id}

    def settled(dep: Dep) -> Dep:
        return dep if _is_id(dep, names, prefixes) else replace(dep, carrier="prose")

    def is_doubtful(unit: Unit) -> bool:
        return any(dep.carrier == "inline" for dep in unit.deps)

    return [replace(unit, deps=tuple(map(settled, unit.deps))) if is_doubtful(unit) else unit for unit in units]


def _is_id(dep: Dep, names: set[str], prefixes: set[str]) -> bool:
    if dep.carrier != "inline" or ids.fold(dep.target) in names or " " in dep.target:
        return True
    return ids.prefix_of(dep.target) in prefixes


def _run_checks(source: Source, taken: bytearray) -> tuple[commands.Found, list[Hint]]:
    """Return the commands in sections for checks outside all units, and the commands that every unit must pass."""
    found, of_each = commands.Found([], []), commands.Found([], [])
    active = False
    into = found
    for index, block in enumerate(source.outline.blocks):
        heading = block.kind is Kind.HEADING
        if heading:
            active, into = words.concept(block.text) in ("verify", "gates"), found
        elif taken[index]:
            continue
        if active and (heading or block.kind is Kind.PARA) and _OF_EACH.search(block.text):
            into = of_each
        into.add(_checks_of(block, active=active))
    found.left.extend(of_each.left)
    return found, of_each.taken


def _checks_of(block: Block, *, active: bool) -> commands.Found:
    if block.kind is Kind.CODE and active:
        return commands.in_fence(block.lines, block.line, "section", block.info)
    if block.kind not in (Kind.ITEM, Kind.PARA):
        return commands.Found([], [])
    if active:
        named = split_label(block.text)
        if named is None:
            return commands.under_label(block.text, block.line, "section")
        return commands.behind_label(named[1], block.line, "field")
    label = read_label(block.text)
    told = label.rest if label.concept in ("verify", "gates") else ""
    return commands.behind_label(told, block.line, "field") if told else commands.Found([], [])


def _unknown_labels(harvester: Harvester) -> Iterator[Finding]:
    """Report each unknown label above a list, in units without explicit criteria."""
    lines: dict[str, list[int]] = {}
    for line, text in harvester.unknown_labels:
        lines.setdefault(text, []).append(line)
    for text, found in lines.items():
        message = f'"{text}" above a list ({count(len(found), "time")}) is not a known label; its items were read as plain ones'
        hint = 'If these are acceptance criteria, call them "Acceptance Criteria".'
        yield note("unknown_label", found[0], message, hint)
