"""Make a document of carriers: read the unit at each carrier, then report what no unit contains."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import commands, ids, words
from santiago.planner.draft import Dep, Document, Hint, Unit, by_key, unique
from santiago.planner.findings import left_out, note, of_no_story, warning
from santiago.planner.markdown.carriers import group_names, is_group
from santiago.planner.markdown.harvest import Carrier, Harvester
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source, Zone, entries_of, plan_id

_OF_EACH = pattern(
    r"(?i)\b(?:every|each|all)\s+(?:of the\s+|user\s+)?(?:stor(?:y|ies)|tasks?|requirements?|features?|steps?|units?|tickets?)\b"
    r"|\bjede[rns]?\s+(?:story|aufgabe)\b|\bchaque\s+(?:story|tâche)\b|\bcada\s+(?:historia|história|tarea|tarefa)\b"
    r"|每个(?:用户)?故事|每个任务|すべての(?:ストーリー|タスク)|모든 (?:스토리|작업)",
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
    units = []
    for carrier in carriers:  # dependencies may name the unit's phase by its number: `Phase 2` for `Phase 2: Core`
        unit = harvester.unit(carrier)
        names = group_names(unit.chunk) if unit.chunk and is_group(unit.chunk) else ()
        units.append(replace(unit, tags=tuple(dict.fromkeys((*unit.tags, *names)))) if names else unit)
    units = _settled(units)
    if len(carriers) == 1 and not units[0].criteria:
        units, carriers = _with_document_criteria(source, harvester, units[0], carriers[0])
    found = Document(format=format_, evidence=tuple(evidence), title=source.title, units=units)
    taken = source.outline.cover((carrier.at, carrier.end) for carrier in carriers)
    checks, each = _run_checks(source, taken)
    if each:
        found.units = [replace(unit, verify=unique([*unit.verify, *each])) for unit in units]
    found.run_verify = list(unique([*declared_checks(source), *checks.taken]))
    found.unread = list(unique(checks.left))
    found.findings += [
        *told_id(source),
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


def _settled(units: list[Unit]) -> list[Unit]:
    """Turn dependencies in brackets that cannot be ids of this document into mere mentions: `(requires OAuth2)`, `(blocked on Q1)`."""
    names = {ids.fold(name) for unit in units for name in (unit.id, *unit.tags) if name}
    prefixes = {ids.prefix_of(unit.id) for unit in units if unit.id}

    def settled(dep: Dep) -> Dep:
        is_id = ids.fold(dep.target) in names or " " in dep.target or ids.prefix_of(dep.target) in prefixes
        return dep if dep.carrier != "inline" or is_id else replace(dep, carrier="prose")

    doubtful = [any(dep.carrier == "inline" for dep in unit.deps) for unit in units]
    pairs = zip(units, doubtful, strict=True)
    return [replace(unit, deps=tuple(map(settled, unit.deps))) if doubt else unit for unit, doubt in pairs]


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
    for text, found in by_key((text, line) for line, text in harvester.unknown_labels).items():
        message = f'"{text}" above a list ({count(len(found), "time")}) is not a known label; its items were read as plain ones'
        hint = 'If these are acceptance criteria, call them "Acceptance Criteria".'
        yield note("unknown_label", found[0], message, hint)


def unplanned(
    source: Source,
    carriers: Sequence[Carrier],
    taken: bytearray,
    *,
    repeated: Sequence[int] = (),
    known: Collection[int] = (),
) -> list[Finding]:
    """Return the findings. `carriers` define the units, and `taken` tells for each block whether a unit contains it."""
    known, says = {*repeated, *known}, "the document asks for a clarification here"
    asked = [line for line, text in enumerate(source.text.split("\n"), 1) if "NEEDS CLARIFICATION" in text]
    free = [
        block
        for index, block in enumerate(source.outline.blocks)
        if not taken[index] and index not in known and source.zones[index] != Zone.EXCLUDED
    ]
    return [
        *_repetitions(source, repeated),
        *_odd_boxes(source, carriers),
        *_plain_heads(source, carriers),
        *_free_criteria(source, taken),
        *_explained_ids(carriers, free),
        *(
            warning("needs_clarification", line, says, "Answer it in the document before agents guess.")
            for line in asked
        ),
    ]


def _repetitions(source: Source, places: Sequence[int]) -> list[Finding]:
    """Report places that only repeat a unit, such as a summary list."""
    if not places:
        return []
    lines = sorted(source.outline.blocks[index].line for index in places)
    listed = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    many = count(len(lines), "line repeats", "lines repeat")
    message = f"{many} units that are defined elsewhere and were read as the same (line {listed})"
    return [note("merged", lines[0], message, "Nothing to do, if they are the same.")]


def _odd_boxes(source: Source, carriers: Sequence[Carrier]) -> Iterator[Finding]:
    for block in (source.outline.blocks[carrier.at] for carrier in carriers if carrier.at >= 0):
        if block.box is not None and block.box not in " xX~-" and block.box not in source.underway:
            message = f"the box [{block.box}] is not one of [ ] [x] [~] [-]; read as open"
            yield warning("unknown_box", block.line, message, "Use [ ] for open, [x] for done, [~] or [-] for dropped.")


def _plain_heads(source: Source, carriers: Sequence[Carrier]) -> Iterator[Finding]:
    """Report plain lines that begin with an id of the units' prefix and are followed by a list: they may be meant as headings."""
    leads = [source.named[carrier.at] for carrier in carriers if carrier.at in source.named]
    defined, prefixes = {lead.id for lead in leads}, {lead.prefix for lead in leads if lead.kind == "prefix"}
    alike = {at: lead for at, lead in source.named.items() if lead.prefix in prefixes and lead.id not in defined}
    for at, lead in alike.items():
        kinds = [block.kind for block in source.outline.blocks[at : at + 2]]
        if kinds == [Kind.PARA, Kind.ITEM] and len(source.outline.blocks[at].lines) == 1:
            message = f"this line begins like a story of its own, {lead.id}, but was read as part of the text above it"
            hint = f"Make it a heading: `### {lead.id}: {lead.rest.strip(' -–—:')}`"
            yield warning("plain_head", source.outline.blocks[at].line, message, hint)


def _free_criteria(source: Source, taken: bytearray) -> Iterator[Finding]:
    """Report criteria sections of the whole document, which belong to no unit."""
    blocks = source.outline.blocks
    for index, block in enumerate(blocks):
        if taken[index] or block.kind is not Kind.HEADING or words.concept(block.text) != "criteria":
            continue
        inside = [blocks[i] for i in source.outline.inside(index) if not taken[i]]
        if items := sum(each.kind is Kind.ITEM and each.parent < 0 for each in inside):
            yield of_no_story(items, block.text, block.line)


_MOST = 2_000
"""Only the first characters of a block are searched, up to this many."""


def _explained_ids(carriers: Sequence[Carrier], free: list[Block]) -> Iterator[Finding]:
    """Report ids that have a prefix of the units and are explained outside all units: `also FR-4: …`."""
    defined = {ids.fold(made.id) for made in carriers if made.id}
    prefixes = sorted({ids.prefix_of(made.id) for made in carriers if made.id and made.id[0].isalpha()} - {""})
    if not prefixes:
        return
    explained = re.compile(
        rf"(?<![\w/-])((?:{'|'.join(map(re.escape, prefixes[:40]))})[-_ ]?\d[\w.]{{0,12}})[*_`]{{0,2}}\s?[:：—–]\s?\S"
    )
    told = [block for block in free if block.kind in (Kind.PARA, Kind.ITEM, Kind.ROW)]
    for line, text in ((line, text) for block in told for line, text in enumerate(block.lines, block.line)):
        names = [name for name in explained.findall(text[:_MOST]) if ids.fold(name) not in defined]
        if names:
            defined |= set(map(ids.fold, names))
            message = f"{', '.join(names)} is explained here and was not taken as a story"
            hint = "Give it a line of its own that begins with the id, if it is one."
            yield warning("looks_like_a_unit", line, message, hint)


_PLAN_SPEC = frozenset({"planspec", "planspec v2", "plan spec", "plan spec v2"})
_CHECK_KEYS = ("verify_commands", "verify-commands", "verifycommands")


def declared_checks(source: Source) -> list[Hint]:
    """Return the `verify_commands` of the front matter, or of the code fence under the heading PlanSpec."""
    found = dict(source.front_matter)
    for block in source.outline.blocks:
        if block.kind is Kind.CODE and block.section >= 0 and _is_plan_spec(source.outline.blocks[block.section]):
            found.update(entries_of(block.lines[1:], block.line + 1))
    return [
        Hint(value=value, line=line, carrier="front-matter")
        for key in _CHECK_KEYS
        if key in found
        for value, line in found[key].items or ((found[key].value, found[key].line),)
        if value
    ]


def told_id(source: Source) -> list[Finding]:
    """Return a note with the id of a PlanSpec, since a plan has no field for it."""
    if not any(block.kind is Kind.HEADING and _is_plan_spec(block) for block in source.outline.blocks[:20]):
        return []
    message = f"the id of this plan is {plan_id(source.text, source.name)}"
    return [note("plan_id", 0, message, "Nothing to do; the board knows the plan by it.")]


def _is_plan_spec(block: Block) -> bool:
    return words.normal(block.text) in _PLAN_SPEC
