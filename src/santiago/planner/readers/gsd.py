"""GSD: roadmaps, and plans with `<task>` blocks.

In a roadmap a phase is a chunk. Its plans (`- [ ] 01-01: …`, `- [ ] 01-01-PLAN.md — …`) are the units; a phase without plans is
one unit. The success criteria of a phase are given to its last plan.
In a plan, the tasks are the units. A checkpoint is reported: there a person must look or act, which no agent can do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.planner import commands, ids
from santiago.planner.draft import Dep, Document, DraftCriterion, GroupEdge, Hint, Status, Unit
from santiago.planner.findings import note, warning
from santiago.planner.hints import behind_files
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.harvest import Carrier, Harvester
from santiago.planner.markdown.labels import read_label
from santiago.planner.markdown.outline import Kind
from santiago.planner.readers import issue
from santiago.planner.source import Source, Zone

_PHASE = pattern(r"^[\W_]*Phase\s+(\d{1,4}[A-Za-z]?(?:\.\d{1,4})?)\s*[:：—–-]+\s*(\S.*)$")
_PLAN = pattern(
    r"^[\W_]*(\d{1,4}(?:\.\d{1,4})?[A-Za-z]?(?:-[a-z][a-z-]{0,80})?-\d{1,4}[A-Za-z]?)"
    r"(?:-PLAN)?(?:\.md)?(?![\w-])(?:\]\([^)]*\))?[\s*_`:：—–-]*(.*)$"
)
_PLAN_FILE = pattern(r"\d-PLAN\.md\b")
"""The name of a plan's file, which no other format has."""
_NAMED = pattern(r"(?i)\bphases?\s+((?:\d{1,4}(?:\.\d{1,4})?[A-Z]?(?:\s*(?:,|&|-|–|and|to)\s*(?:phase\s+)?)?)+)")
_NUMBER = pattern(r"\d{1,4}(?:\.\d{1,4})?[A-Za-z]?")


class _Phase(NamedTuple):
    at: int
    number: str
    title: str
    label: str
    plans: dict[int, re.Match[str]]


def roadmap(source: Source) -> Document | None:
    """Read `### Phase 1: Name` with its goal, dependencies, success criteria and plans."""
    phases = _phases(source)
    described = [phase for phase in phases if _is_described(source, phase)]
    if not described or len(described) * 2 < len(phases):
        return None
    harvester = Harvester(source.outline)
    ends = [next(iter(phase.plans), source.outline.ends[phase.at]) for phase in phases]
    places = [Carrier(at=phase.at, end=end, title=phase.title) for phase, end in zip(phases, ends, strict=True)]
    heads = list(map(harvester.unit, places))
    ticks, repeated = _overview(source, phases)
    made = [one for phase in phases for one in _carriers(source, phase, ticks)]
    evidence = [
        f"{count(len(phases), 'heading')} Phase N with their goal and success criteria",
        f"{sum(bool(phase.plans) for phase in phases)} of them with plans",
    ]
    document = assemble.document(source, "gsd-roadmap", evidence, made, repeated=repeated)
    pairs = list(zip(phases, heads, strict=True))
    document.units = _with_phase_fields(document.units, {phase.label: head for phase, head in pairs})
    for phase, head in pairs:
        document.edges += _edges(phase, head, phases)
        if phase.plans and head.criteria:
            message = f'the criteria of "{phase.label}" were attached to its last story, which closes it'
            hint = "Give each story criteria of its own."
            document.findings.append(note("criteria_shared", head.criteria[0].line, message, hint))
    return document


def _phases(source: Source) -> list[_Phase]:
    blocks = source.outline.blocks
    found: dict[str, _Phase] = {}
    for index, block in enumerate(blocks):
        named = _PHASE.match(block.text) if block.kind is Kind.HEADING and source.zones[index] != Zone.NEVER else None
        if named is None:
            continue
        items = [i for i in source.outline.inside(index) if blocks[i].kind is Kind.ITEM]
        plans = {i: match for i in items if (match := _PLAN.match(blocks[i].lines[0]))}
        found.setdefault(named[1], _Phase(index, named[1], named[2], carriers.label(block.text), plans))
    return list(found.values())


def _is_described(source: Source, phase: _Phase) -> bool:
    """Tell whether a phase has the fields of a roadmap: dependencies and success criteria, or a goal beside files of plans."""
    blocks = [source.outline.blocks[index] for index in source.outline.inside(phase.at)]
    said = {read_label(line).concept for block in blocks if block.box is None for line in block.lines}
    has_plans = _PLAN_FILE.search(source.text) is not None
    is_described = {"depends", "success"} <= said or ("description" in said and has_plans)
    return is_described and (bool(phase.plans) or all(block.box is None for block in blocks))


def _overview(source: Source, phases: list[_Phase]) -> tuple[dict[str, Status], list[int]]:
    """Return the status that the list of all phases gives to each phase, and the places of its lines."""
    numbers = {phase.number for phase in phases}
    boxes = {index: block for index, block in enumerate(source.outline.blocks) if block.box is not None}
    named = {index: match[1] for index, block in boxes.items() if (match := _PHASE.match(block.lines[0]))}
    places = [index for index, number in named.items() if number in numbers]
    return {named[index]: carriers.box_status(source, boxes[index]) for index in places}, places


def _carriers(source: Source, phase: _Phase, ticks: dict[str, Status]) -> list[Carrier]:
    if not phase.plans:
        found = ids.Found(f"Phase {phase.number}", "phase", phase.title)
        return [carriers.carrier(source, phase.at, found=found, chunk=phase.label, status=ticks.get(phase.number))]
    named = [(index, ids.Found(match[1], "plan", match[2])) for index, match in phase.plans.items()]
    return [carriers.carrier(source, index, found=found, chunk=phase.label) for index, found in named]


def _with_phase_fields(units: list[Unit], heads: dict[str, Unit]) -> list[Unit]:
    """Give each plan the requirements that its phase covers, and the last plan of a phase the criteria of the phase."""
    last = {unit.chunk: position for position, unit in enumerate(units) if unit.status is not Status.DROPPED}
    made = []
    for position, unit in enumerate(units):
        head, closes = heads[unit.chunk or ""], last.get(unit.chunk) == position
        more = head.criteria if closes and not (unit.id or "").startswith("Phase") else ()
        deps = tuple(dep for dep in unit.deps if not _NAMED.search(dep.target) and dep.carrier != "unclear")
        own = replace(unit, text=unit.text or head.text, covers=unit.covers or head.covers, deps=deps)
        # Plans are listed in the order in which they run, whatever their numbers are.
        made.append(replace(own, criteria=(*unit.criteria, *more), rank=position))
    return made


def _edges(phase: _Phase, head: Unit, phases: list[_Phase]) -> list[GroupEdge]:
    numbers = [other.number for other in phases]
    wanted: dict[str, int] = {}
    for dep in head.deps:
        for named in _NAMED.finditer(dep.target if "hase" in dep.target else f"phase {dep.target}"):
            wanted |= dict.fromkeys(_NUMBER.findall(named[1]), dep.line)
    return [
        GroupEdge(group=phase.label, target=phases[numbers.index(number)].label, line=line)
        for number, line in wanted.items()
        if number in numbers and number != phase.number
    ]


_OPEN = pattern(r"^\s*<task\b([^>]*)>")
_CLOSE = pattern(r"^\s*</task>")
_FIELD = pattern(
    r"<(/?)(name|files|read_first|action|verify|automated|done|acceptance_criteria|what-built|how-to-verify|behavior)>"
)
_NUMBERED = pattern(r"^Task\s+(\d{1,4}[A-Za-z]?)\s*[:.—–-]*\s*")
_BULLET = pattern(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


class _Line(NamedTuple):
    text: str
    number: int


class _Task(NamedTuple):
    line: int
    kind: str
    fields: dict[str, list[_Line]]

    def text(self, *names: str) -> str:
        return "\n".join(line.text for name in names for line in self.fields.get(name, ())).strip()


def plan(source: Source) -> Document | None:
    """Read the `<task>` blocks of a file whose front matter has `phase:` and `plan:`."""
    front = source.front_matter
    if "phase" not in front or "plan" not in front:
        return None
    tasks = list(_tasks(source.text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").split("\n")))
    if not tasks:
        return None
    work = [task for task in tasks if not task.kind.startswith("checkpoint") or "name" in task.fields]
    # Each task of a plan builds on the tasks above it.
    units = [replace(_unit(task, number), rank=number) for number, task in enumerate(work, 1)]
    named = [*issue.values(front.get("depends_on")), *issue.values(front.get("depends"))]
    deps = tuple(Dep(target=name, line=line, carrier="front-matter") for name, line in named)
    if units:
        units[0] = replace(units[0], deps=deps)
    evidence = f"{count(len(tasks), 'block')} <task> of plan {front['plan'].value} in phase {front['phase'].value}"
    title = source.title or f"{front['phase'].value} plan {front['plan'].value}"
    document = Document(format="gsd-plan", evidence=(evidence,), title=title, units=units)
    for task in (task for task in tasks if task not in work):
        built = task.text("what-built", "how-to-verify").replace("\n", " ")[:100]
        message = f"a person must look or act here ({task.kind}): {built}; not planned"
        hint = "Do it yourself after the run, or write a check that proves it."
        document.findings.append(warning("checkpoint", task.line, message, hint))
    return document


def _tasks(lines: list[str]) -> Iterator[_Task]:
    task: _Task | None = None
    names: list[str] = []
    for number, raw in enumerate(lines, 1):
        if opened := _OPEN.match(raw):
            kind = opened[1].partition('type="')[2].partition('"')[0]
            task, names = _Task(number, kind, {}), []
        if task is None:
            continue
        _take(raw[opened.end() :] if opened else raw, number, task, names)
        if _CLOSE.match(raw):
            yield task
            task = None


def _take(raw: str, number: int, task: _Task, names: list[str]) -> None:
    """Add each part of a line to the innermost field that is open there."""
    at = 0
    for tag in (*_FIELD.finditer(raw), None):
        part = raw[at : tag.start() if tag else len(raw)]
        if names and part.strip() and not _CLOSE.match(part):
            task.fields.setdefault(names[-1], []).append(_Line(part.strip() if at else part.rstrip(), number))
        if tag is None:
            return
        at = tag.end()
        if not tag[1]:
            names.append(tag[2])
            task.fields.setdefault(tag[2], [])
        elif tag[2] in names:
            del names[names.index(tag[2]) :]


def _unit(task: _Task, number: int) -> Unit:
    name = task.text("name").partition("\n")[0]
    numbered = _NUMBERED.match(name)
    verify = commands.Found([], [])
    for line in task.fields.get("automated", ()):
        taken = commands.has_the_form(line.text)  # else the field says that there is no test yet
        (verify.taken if taken else verify.left).append(_hint(line.text.strip(" `"), line))
    for line in task.fields.get("verify", ()):
        verify.add(commands.behind_label(_BULLET.sub("", line.text).strip(), line.number, "field"))
    return Unit(
        id=numbered[1] if numbered else str(number),
        title=(name[numbered.end() :] if numbered else name) or f"Task {number}",
        line=task.line,
        text=task.text("behavior", "action", "what-built", "how-to-verify"),
        criteria=tuple(_criteria(task)),
        files=tuple(
            _hint(path, line) for line in task.fields.get("files", ()) for path in behind_files(line.text).paths
        ),
        verify=tuple(dict.fromkeys(verify.taken)),
        unread=tuple(dict.fromkeys(verify.left)),
    )


def _hint(value: str, line: _Line) -> Hint:
    return Hint(value=value, line=line.number, carrier="field")


def _criteria(task: _Task) -> Iterator[DraftCriterion]:
    """Yield one criterion per bullet, or the whole paragraph as one."""
    for name in ("acceptance_criteria", "done"):
        lines = task.fields.get(name, [])
        bullets = [line for line in lines if _BULLET.match(line.text)]
        if bullets:
            yield from (DraftCriterion(text=_BULLET.sub("", line.text).strip(), line=line.number) for line in bullets)
        elif text := " ".join(line.text.strip() for line in lines):
            yield DraftCriterion(text=text, line=lines[0].number)
