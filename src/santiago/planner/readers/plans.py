"""Documents whose units are no stories: check lists, headings `Task N` and `Step N`, tables of issues, and criteria `AC-n` alone.

In a check list every top-level box is a unit, except under criteria, metrics, sign-off and Definition of Done. The meaning of
a section depends on the other sections. A Backlog beside other open lists was put off; alone it is the list. A task that is
also listed under Completed is one unit, and done.
A checklist that repeats headings gives them its ticks. If a numbered list of boxes holds more than the headings, the boxes are
the units, and the headings are their details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding, substep_line
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import PLANNED, Dep, Document, DraftCriterion, Status, Unit, by_key, unique
from santiago.planner.findings import error, note, warning
from santiago.planner.markdown import assemble, carriers, declared_order
from santiago.planner.markdown.carriers import Box
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.id_lists import UnitList, View, kind_of
from santiago.planner.markdown.labels import cell_of, clean, columns_of, read_label, step_label
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source, Zone

_PUNCTUATION = pattern(r"[\W_]+")
_OPENING = 3
"""Two titles of the same task share at least this many words at their beginning."""
_LONGEST = 60
_SHORT = 60
"""In a document of at most this many lines, a single box is a list."""


def box_lists(view: View) -> list[UnitList]:
    source = view.source
    found = [box for box in carriers.boxes_of(source).units if carriers.is_plain(source, box.at)]
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
        parts = (part for at in reversed(outline.path(index)) for part in words.parts(outline.blocks[at].text))
        return next((part for part in parts if part in known), "")

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
        others = {_comparable_title(carrier) for carrier in made if not self.is_done(carrier)}
        twins = [(opening, name) for name in others for opening in _openings(name, names)]
        twins += [(name, opening) for name in names for opening in _openings(name, others)]
        again, ticked = {name for name, _ in twins}, {name for _, name in twins}
        gone = {carrier.at: carrier for carrier in done if _comparable_title(carrier) in again}
        kept = [carrier for carrier in made if carrier.at not in gone]
        return [self.ticked(carrier, ticked) for carrier in kept], list(gone)

    def ticked(self, carrier: Carrier, names: set[str]) -> Carrier:
        counts = _comparable_title(carrier) in names and not self.is_done(carrier) and carrier.status is Status.OPEN
        return replace(carrier, status=Status.DONE) if counts else carrier

    def is_done(self, carrier: Carrier) -> bool:
        return self.names[carrier.at] in words.DONE_SECTIONS


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
    inside = [(one.at, b) for one in made for b in blocks[one.at + 1 : one.end] if b.kind in (Kind.ITEM, Kind.PARA)]
    labels = [(at, read_label(line)) for at, block in inside for line in block.lines]
    with_id = {at for at, label in labels if label.concept == "id" and label.rest}
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
    build = partial(_criteria, source, made)
    return [UnitList(view, Evidence.CRITERIA, "criteria", name, tuple(made), keys, explicit=True, build=build)]


def _criteria(source: Source, found: list[Carrier]) -> Document:
    phases = _phases(source)
    made = [replace(one, chunk=phases.get(ids.fold(one.id or ""))) for one in found]
    evidence = [f"{len(found)} criteria with AC ids and no other unit"]
    document = assemble.document(source, "house-criteria", evidence, made)
    for place, (unit, one) in enumerate(zip(document.units, found, strict=True)):  # each is its own only criterion
        text = " ".join([unit.title, *(part.text for part in unit.criteria)])
        own = DraftCriterion(text=text, line=source.outline.blocks[one.at].line, id=unit.id)
        document.units[place] = replace(unit, criteria=(own,))
    document.findings += _criteria_without_id(source, {one.at for one in found})
    return document


def _repeats(source: Source, found: list[int]) -> bool:
    """Tell whether ids repeat or several sections hold criteria: then the criteria belong to several units."""
    names = [ids.fold(lead.id) for index in found if (lead := source.leads[index])]
    blocks = source.outline.blocks
    around = {blocks[index].section for index in found} - {-1}
    return len(set(names)) < len(names) or sum(words.concept(blocks[at].text) == "criteria" for at in around) > 1


def _has_units(source: Source) -> bool:
    """Tell whether the document defines units of another kind."""
    places = carriers.indexes(source, *_KINDS)
    blocks = source.outline.blocks
    told = (blocks[index].text for index in places if blocks[index].kind is not Kind.ROW)
    leads = [(blocks[index].kind, source.named[index]) for index in places if index in source.named]
    heads = [lead for kind, lead in leads if kind is Kind.HEADING]
    if any(lead.kind in _UNITS or carriers.is_unit_prefix(lead) for lead in heads) or any(map(words.is_story, told)):
        return True
    named = (lead for _, lead in leads if lead.kind in _UNITS or carriers.is_unit_prefix(lead))
    return max(Counter(lead.prefix or lead.kind for lead in named).values(), default=0) > 1


def _phases(source: Source) -> dict[str, str]:
    """Map each id to the phase whose bullets name it, if there is exactly one."""
    blocks = enumerate(source.outline.blocks)
    items = [(carriers.chunk_of(source, index), block) for index, block in blocks if block.kind is Kind.ITEM]
    named = by_key((ids.fold(name), chunk) for chunk, block in items if chunk for name in ids.mentioned(block.text))
    return {name: chunks[0] for name, chunks in named.items() if len(set(chunks)) == 1}


def _criteria_without_id(source: Source, taken: set[int]) -> Iterator[Finding]:
    """Warn of other bullets in the criteria section: they may be criteria without an id."""
    blocks = source.outline.blocks
    hint = 'Begin it with an id of its own, such as "AC-9:".'
    items = [
        block for at, block in enumerate(blocks) if block.kind is Kind.ITEM and block.parent < 0 and at not in taken
    ]
    for block in items:
        if block.section >= 0 and words.concept(blocks[block.section].text) == "criteria":
            message = f'"{block.text[:60]}" is among the acceptance criteria without an AC id; not planned'
            yield warning("no_id", block.line, message, hint)


# Headings, and tables of issues

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
    rows = [index for index, block in enumerate(blocks) if block.kind is Kind.ROW and _ISSUE.match(block.cells[0])]
    rows = [index for index in rows if columns_of(blocks[index].header).get("status", 0) > 0]
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


def _row(source: Source, index: int, chunk: str | None) -> Carrier:
    row = source.outline.blocks[index]
    number = _ISSUE.match(row.cells[0])
    title = next(filter(None, row.cells[1:]), "")
    status = status_of(cell_of(row, "status")) or Status.OPEN
    found = carriers.carrier(source, index, title=title, chunk=chunk, status=status)
    return replace(found, id=number[1] if number else None, priority=clean(cell_of(row, "priority")) or found.priority)


def _named(source: Source) -> _Plan | None:
    """Read headings with ids (`DOC-030`) whose boxes are their steps. Boxes outside these headings are units, too."""
    heads = set(carriers.indexes(source, Kind.HEADING))
    units = by_key(
        (lead.prefix, at) for at, lead in source.named.items() if at in heads and carriers.is_unit_prefix(lead)
    )
    found = max(units.values(), key=len, default=[])
    if len(found) < 2 or any(source.under_criteria) or not carriers.many_own(source, found, frozenset()):
        return None
    sure = kind_of(source.named[found[0]]) in ("story", "requirement", "nfr", "feature", "task")
    name = count(len(found), "heading with an id and a checklist", "headings with ids, each with a checklist")
    within = source.outline.cover(carriers.bounded(source, found))
    loose = [b.at for b in carriers.boxes_of(source).units if not within[b.at] and carriers.is_plain(source, b.at)]
    starts, named = sorted([*found, *loose]), set(found)

    def build() -> Document:
        made = [
            carriers.carrier(source, at, end=end, found=source.leads[at] if at in named else None, chunk=chunk)
            for at, end, chunk in carriers.places(source, starts)
        ]
        return assemble.document(source, "plan-steps", [name], made)

    return _Plan(starts, name, build, [], sure)


def _worded(source: Source) -> _Plan | None:
    """Read headings `Task N` or `Step N`. Steps must be the plan, and no procedure that the document describes."""
    found = carriers.leaves(source, "task")
    steps = [index for index in carriers.of_kind(source, "step") if source.zones[index] != Zone.NEVER]
    kind = "Task" if found else "Step"
    found = found or [index for index in carriers.leaves(source, "step") if source.zones[index] != Zone.NEVER]
    if not found:
        return None
    is_plan = (
        kind == "Task"
        or len(carriers.boxes_outside(source, found)) * 2 >= len(found)
        or carriers.many_own(source, found, carriers.STEP_SIGNS)
        or sum(end - start for start, end in carriers.bounded(source, steps)) * 2 >= len(source.outline.blocks)
        or are_planned(source, steps)
    )
    if not is_plan:
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
    document = _with_ticks(source, carriers.headed(source, found), [headings])
    inside = [source.outline.blocks[start + 1 : end] for start, end in carriers.bounded(source, found)]
    written = sum(any(_TOOL.match(block.text) for block in blocks) for blocks in inside)
    document.known = written * 2 > len(found)
    return document


def _steps(source: Source, found: list[int]) -> Document:
    """Return the document of the headings `Step N`. Substeps `Step N.M` are merged into their step."""
    owners = parents(source, found)
    inside = sum(owner is not None for owner in owners.values())
    evidence = [f"{count(len(found) - inside, 'heading')} Step N"]
    evidence += [f"{count(inside, 'substep')} Step N.M"] if inside else []
    return _with_ticks(source, made(source, found), evidence, owners)


def _numbered(source: Source) -> _Plan | None:
    """Read headings `1. Title`, at least half of which have boxes, a criteria label or a dependency."""
    heads = [index for index in carriers.indexes(source, Kind.HEADING) if carriers.is_numbered(source, index)]
    levels = by_key((source.outline.blocks[index].level, index) for index in heads)
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
    """Return the document of these headings. Their numbers are no ids, unless some dependency names one."""
    document = _with_ticks(source, carriers.headed(source, found), [name])
    numbers = {unit.id for unit in document.units}
    targets = {dep.target for unit in document.units for dep in unit.deps if dep.is_declared}
    if len(numbers) < len(document.units) or not numbers & targets:
        document.units = [
            unit if "." in (own := unit.id or "") else replace(unit, id=None, tags=(*unit.tags, own))
            for unit in document.units
        ]
    return document


def _with_ticks(
    source: Source, heads: list[Carrier], evidence: list[str], owners: Mapping[int, int | None] | None = None
) -> Document:
    """Return the document of these headings, with the ticks of a checklist that repeats them.

    `owners`, of steps only, says which of them are merged into which.
    """
    boxes = carriers.boxes_outside(source, [head.at for head in heads])
    again, steps = sorted(boxes.values()), owners is not None
    document = assemble.document(source, "plan-steps", evidence, heads, steps=steps, repeated=again)
    units = {head.at: unit for head, unit in zip(heads, document.units, strict=True)}
    for at in (at for at in boxes if units[at].status is Status.OPEN):
        units[at] = replace(units[at], status=carriers.box_status(source, source.outline.blocks[boxes[at]]))
    document.findings += orphans(source, owners or {})
    return declared_order.ordered(source, assemble.with_units(document, merged(units, owners or {})))


def _listed(source: Source, found: list[int]) -> list[Box]:
    """Return the numbered boxes if they have all of the headings' numbers and more; else nothing."""
    numbers = {ids.fold(lead.id) for index in found if (lead := source.leads[index])}
    listed = [
        box
        for box in carriers.boxes_of(source).units
        if box.found is not None and box.found.kind in ("number", "task") and source.zones[box.at] != Zone.NEVER
    ]
    return listed if numbers < {ids.fold(box.found.id) for box in listed if box.found} else []


def _boxes_with_details(source: Source, found: list[int], listed: list[Box], evidence: list[str]) -> Document:
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

    The nearest step above with that number counts. If the document has no whole steps at all, the first number counts sections,
    as in `Step 1.2` under `Phase 1`; then these are steps and no substeps.
    """
    whole: dict[str, int] = {}
    owners: dict[int, int | None] = {}
    for index in found:
        number = ids.name(source.leads[index])
        if (sub := _SUBSTEP.fullmatch(number)) is None:
            whole[ids.fold(number)] = index
        else:
            owners[index] = whole.get(sub[1])
    return owners if whole else {}


def made(source: Source, found: Sequence[int]) -> list[Carrier]:
    """Return the carrier of each step and substep. Blocks that follow a substep inside a step's section belong to the substep."""
    ends, steps = source.outline.ends, set(found)
    made = []
    for start, after in zip(found, [*found[1:], len(source.outline.blocks)], strict=True):
        around = (outer for outer in source.outline.path(start) if outer in steps)
        end = min(max(ends[start], *(ends[outer] for outer in around), 0), after)
        chunk = carriers.chunk_of(source, start)
        made.append(carriers.carrier(source, start, end=end, found=source.leads[start], chunk=chunk))
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
    parts = by_key((owner, units[index]) for index, owner in inside.items())
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
        number = ids.name(source.leads[index])
        message = f"Step {number} is a substep of Step {number.partition('.')[0]}, but there is no such step before it"
        hint = f'Write "Step {number.partition(".")[0]}: …" above it, or give it a number of its own.'
        yield error("substep_without_step", source.outline.blocks[index].line, message, hint)
