"""Documents whose units are no stories: plain check lists, `### Task N:` blocks with an `**ID:**` field, and criteria `AC-n` alone.

In a check list every top-level box is a unit, except under criteria, metrics, sign-off and Definition of Done. The meaning of
a section depends on the other sections. A Backlog beside other open lists was put off; alone it is the list. A task that is
also listed under Completed is one unit, and done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import Document, DraftCriterion, Status
from santiago.planner.findings import warning
from santiago.planner.markdown import assemble, boxes, carriers
from santiago.planner.markdown.boxes import Box
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Source

_PUNCTUATION = pattern(r"[\W_]+")
_OPENING = 3
"""Two titles of the same task share at least this many words at their beginning."""
_LONGEST = 60
_SHORT = 60
"""In a document of at most this many lines, a single box is a list."""


def box_lists(view: View) -> list[UnitList]:
    source = view.source
    found = [box for box in boxes.survey(source).units if boxes.is_plain(source, box.at)]
    if len(found) < (1 if source.outline.line_count <= _SHORT else 2):
        return []
    heads = list(dict.fromkeys(view.blocks[box.at].section for box in found))
    where = carriers.label(view.blocks[heads[0]].text) if heads[0] >= 0 else ""
    name = f"the boxes under {where}{' and others' if heads[1:] else ''}" if where else "the boxes"
    made, keys = tuple(_carriers(source, found)), frozenset({"box", "boxes", "task", "tasks"})
    return [UnitList(view, Evidence.BOXES, "box", name, made, keys, build=lambda: _checklist(source, found))]


def _checklist(source: Source, found: list[Box]) -> Document:
    sections = _Sections(source, found)
    kept, repeated = sections.merged([sections.with_section_status(made) for made in _carriers(source, found)])
    evidence = [f"{len(found)} check boxes outside criteria and sign-off"]
    return assemble.document(source, "checklist", evidence, kept, repeated=repeated)


def _carriers(source: Source, found: list[Box]) -> Iterator[Carrier]:
    places = carriers.places(source, [box.at for box in found], numbered=True)
    for box, (at, end, section) in zip(found, places, strict=True):
        chunk = carriers.label(source.outline.blocks[box.group].text) if box.group >= 0 else section
        made = carriers.carrier(source, at, end=end, found=box.found, chunk=chunk)
        is_count = box.found is not None and box.found.kind == "number"
        yield replace(made, id=None, tags=(made.id or "",)) if is_count else made


class _Sections:
    """What the sections of this document mean, in view of each other."""

    def __init__(self, source: Source, found: list[Box]) -> None:
        self.source = source
        blocks = source.outline.blocks
        one_of_each = {blocks[box.at].section: box.at for box in found}
        by_section = {section: self.name_of(at) for section, at in one_of_each.items()}
        self.names = {box.at: by_section[blocks[box.at].section] for box in found}
        self.has_others = any(
            name not in words.DONE_SECTIONS | words.BACKLOG_SECTIONS
            and carriers.box_status(source, source.outline.blocks[at]) is Status.OPEN
            for at, name in self.names.items()
        )
        """A section that is neither Completed nor Backlog has an open box."""

    def name_of(self, index: int) -> str:
        """Return the name of the nearest section around a box that is Completed, Backlog or Optional; else nothing."""
        outline = self.source.outline
        known = words.DONE_SECTIONS | words.BACKLOG_SECTIONS | words.OPTIONAL_SECTIONS
        names = (words.section_name(outline.blocks[at].text, known) for at in reversed(outline.path(index)))
        return next(filter(None, names), "")

    def with_section_status(self, carrier: Carrier) -> Carrier:
        """Return the carrier with the status that its section gives it."""
        name = self.names[carrier.at]
        if carrier.status is not Status.OPEN:
            return carrier
        if name in words.BACKLOG_SECTIONS and self.has_others:
            return replace(carrier, status=Status.FUTURE)
        return replace(carrier, status=Status.OPTIONAL) if name in words.OPTIONAL_SECTIONS else carrier

    def merged(self, made: list[Carrier]) -> tuple[list[Carrier], list[int]]:
        """Return the carriers without those that a Completed section repeats, and the places of the repetitions."""
        done = [carrier for carrier in made if self.is_done(carrier)]
        names = set(map(_comparable_title, done))
        again, ticked = _same_tasks(
            names, {_comparable_title(carrier) for carrier in made if not self.is_done(carrier)}
        )
        gone = {carrier.at: carrier for carrier in done if _comparable_title(carrier) in again}
        kept = [carrier for carrier in made if carrier.at not in gone]
        return [self.ticked(carrier, ticked) for carrier in kept], list(gone)

    def ticked(self, carrier: Carrier, names: set[str]) -> Carrier:
        counts = _comparable_title(carrier) in names and not self.is_done(carrier) and carrier.status is Status.OPEN
        return replace(carrier, status=Status.DONE) if counts else carrier

    def is_done(self, carrier: Carrier) -> bool:
        return self.names[carrier.at] in words.DONE_SECTIONS


def _same_tasks(done: set[str], others: set[str]) -> tuple[set[str], set[str]]:
    """Compare two sets of titles. Return, for each set, the titles whose task is also in the other set."""
    twins = [(opening, name) for name in others for opening in _openings(name, done)]
    twins += [(name, opening) for name in done for opening in _openings(name, others)]
    return {name for name, _ in twins}, {name for _, name in twins}


def _comparable_title(carrier: Carrier) -> str:
    return _PUNCTUATION.sub(" ", carrier.title).strip().lower()


def _openings(name: str, names: set[str]) -> list[str]:
    """Return the names that equal this name or its first words: `Write tests for X` for `Write tests for X (41 tests)`."""
    parts = name.split()
    openings = (" ".join(parts[:size]) for size in range(_OPENING, min(len(parts), _LONGEST)))
    return [opening for opening in (name, *openings) if opening in names]


def tasks(source: Source) -> Document | None:
    blocks = source.outline.blocks
    leads = {index: lead for index, lead in source.named.items() if lead.kind == "task"}
    heads = [index for index in leads if blocks[index].kind is Kind.HEADING]
    made = carriers.headed(source, heads)
    with_id = {one.at for one in made if _has_id_field(blocks[one.at + 1 : one.end])}
    if not with_id:
        return None
    made = [replace(one, id=None, tags=(leads[one.at].id,)) if one.at in with_id else one for one in made]
    evidence = [f"{count(len(with_id), 'block')} Task N with an ID field"]
    document = assemble.document(source, "house-tasks", evidence, made, implicit=False)
    hint = 'Add "- **ID:** T-001" with a number of its own, so that other tasks can depend on it.'
    for block in (blocks[start] for start in heads if start not in with_id):
        message = f'"{block.text}" has no ID field, while other tasks of this document have one'
        document.findings.append(warning("no_id", block.line, message, hint))
    return document


def _has_id_field(blocks: list[Block]) -> bool:
    lines = [line for block in blocks if block.kind in (Kind.ITEM, Kind.PARA) for line in block.lines]
    return any(label.is_label and label.concept == "id" and label.rest for label in map(read_label, lines))


_UNITS = ("story", "requirement", "task", "feature")
_KINDS = (Kind.ITEM, Kind.PARA, Kind.ROW, Kind.HEADING)


def criteria_lists(view: View) -> list[UnitList]:
    """Return the criteria with ids as a list, if the document has no other units."""
    source = view.source
    prefixes = carriers.CRITERION_PREFIXES
    leads = {at: lead for at, lead in source.named.items() if lead.kind == "prefix" and lead.prefix in prefixes}
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
    for place, (unit, index) in enumerate(zip(document.units, found, strict=True)):  # each is its own only criterion
        text = " ".join([unit.title, *(part.text for part in unit.criteria)])
        own = DraftCriterion(text=text, line=source.outline.blocks[index].line, id=unit.id)
        document.units[place] = replace(unit, criteria=(own,))
    document.findings += _criteria_without_id(source, found)
    return document


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
