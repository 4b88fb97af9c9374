"""Task lists made of boxes: spec-kit's `- [ ] T012 [P] [US1] text`, Kiro's `- [ ] 1.1 text` under `1.`, OpenSpec's under `## 1.`, gsd's.

They differ in their ids, in what is a chunk (the phase, the parent box, the numbered heading), and in the marks in front of
a title. OpenSpec's specifications and deltas are headings `### Requirement:`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import hints, ids
from santiago.planner.draft import Dep, Document, GroupEdge, Status, Unit
from santiago.planner.findings import note, warning
from santiago.planner.markdown import assemble, carriers, declared_order
from santiago.planner.markdown.carriers import Box, Boxes
from santiago.planner.markdown.harvest import Carrier, Harvester
from santiago.planner.markdown.labels import clean, read_label
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source, Zone

_TASK = pattern(r"T-?\d{2,6}[A-Za-z]?(?:\.\d+)?$")
_MARK = pattern(r"^[\s*_`]*[\[(](?P<mark>P|US-?\d+(?:\s*,\s*US-?\d+)*|Story\s*\d+|[A-Z]{2,6}\d*)[\])][\s*_`]*")
_STORY = pattern(r"(?i)\b(?:User Story|US|Story)\s*-?(?P<number>\d+)\b")
_BEFORE = pattern(
    r"(?i)[(\[]\s*(?:place |must (?:come|run|finish) |do (?:this )?|complete )?(?:before|blocks|precedes)\s*:?\s*(?P<names>[^)\]]+)[)\]]",
)
_GSD = pattern(r"\s*`(?:est|risk|depends):[^`]*`")
_STARRED = pattern(r"\S*\d\.?\*(?:\s|$)")
_PARALLEL = pattern(r"^\((?:P|parallel)\)\s*")


def gsd(source: Source) -> Document | None:
    """Read gsd-2 lines: `- [ ] **S01: Title** `risk:high` `depends:[S01]``."""
    blocks = source.outline.blocks
    leads = {i: lead for i, lead in enumerate(source.leads) if lead is not None and lead.kind == "prefix"}
    found = [index for index in leads if blocks[index].box is not None and _GSD.search(blocks[index].text)]
    if not found:
        return None
    made = [
        carriers.carrier(source, at, end=end, found=leads[at], title=_GSD.sub("", leads[at].rest), chunk=chunk)
        for at, end, chunk in carriers.places(source, found)
    ]
    return assemble.document(source, "gsd-roadmap", [f"{count(len(found), 'box', 'boxes')} with gsd marks"], made)


def speckit(source: Source) -> Document | None:
    """Read boxes with T ids under phases."""
    tasks = _tasks(source)
    if not tasks:
        return None
    made = [_speckit_carrier(source, *place) for place in carriers.places(source, tasks)]
    named = [lead for index in tasks if (lead := source.leads[index]) is not None and _is_task(lead)]
    evidence = [f"{count(len(named), 'box', 'boxes')} with ids such as {named[0].id}"]
    document = assemble.document(source, "spec-kit-tasks", evidence, made)
    document.units = _with_before(source, tasks, document.units)
    return declared_order.ordered(source, document)


def kiro(source: Source) -> Document | None:
    """Read `- [ ] 1. Parent` with children `1.1`. The children are the units, the parent is their chunk."""
    found = carriers.boxes_of(source)
    evidence = _kiro_evidence(source, found)
    if not evidence:
        return None
    document = _numbered(source, "kiro-tasks", evidence, found, by_heading=False)
    document.findings += _partial_groups(source, found)
    document.edges += _group_edges(source, found)
    return declared_order.ordered(source, document)


def openspec(source: Source) -> Document | None:
    """Read `- [ ] 1.1 text` under `## 1. Group`. The boxes are the units, the headings their chunks."""
    found = carriers.boxes_of(source)
    dotted = [box for box in found.units if box.found is not None and box.found.kind == "dotted"]
    grouped = any(carriers.chunk_of(source, box.at, numbered=True) for box in dotted[:1])
    if not dotted or (len(dotted) < 2 and not grouped) or _details_of_stories(source, dotted):
        return None
    evidence = [f"{count(len(dotted), 'box', 'boxes')} with ids such as {ids.name(dotted[0].found)}"]
    return declared_order.ordered(source, _numbered(source, "openspec-tasks", evidence, found, by_heading=True))


def _numbered(source: Source, format_: str, evidence: list[str], found: Boxes, *, by_heading: bool) -> Document:
    """Return the document of boxes with numbers. A box that repeats another is left out."""
    units, repeated = carriers.merged(source, found.units, found.groups)
    box_at = {box.at: box for box in units}
    made = []
    for at, end, section in carriers.places(source, list(box_at), numbered=by_heading):
        box = box_at[at]
        chunk = section
        if not by_heading:  # the parent box; a top-level box without children is its own chunk, which keeps the order
            alone = found.groups and box.found is not None and _is_top(box.found)
            parent = box.group if box.group >= 0 else box.at if alone else -1
            chunk = carriers.label(source.outline.blocks[parent].text) if parent >= 0 else section
        carrier = carriers.carrier(source, at, end=end, found=box.found, chunk=chunk)
        made.append(_marked(source, box, carrier))
    again = [box.at for box in repeated]
    return assemble.document(source, format_, evidence, made, repeated=again, known=list(found.groups))


# spec-kit


def _tasks(source: Source) -> list[int]:
    """Return the boxes with a T id, and the boxes without one in the same sections or in a phase."""
    blocks = source.outline.blocks
    named = [index for index, lead in source.named.items() if _is_task(lead)]
    boxed = [index for index in named if blocks[index].box is not None]
    rows = sum(blocks[index].kind is Kind.ROW for index in named)
    if rows > len(boxed) or (len(boxed) < 2 and not any(carriers.chunk_of(source, index) for index in boxed)):
        return []  # more table rows than boxes have T ids: the table defines the tasks
    plain = {ids.fold(source.named[i].id) for i in boxed if source.zones[i] != Zone.NEVER}
    sections = {blocks[i].section for i in boxed}
    return [box.at for box in carriers.boxes_of(source).units if _is_wanted(source, box, plain, sections)]


def _is_wanted(source: Source, box: Box, plain: set[str], sections: set[int]) -> bool:
    """Tell whether a box is a task. In a section such as sign-off it is one only if its id is defined nowhere else."""
    if _is_task(box.found):
        return source.zones[box.at] != Zone.NEVER or ids.fold(ids.name(box.found)) not in plain
    section = source.outline.blocks[box.at].section
    in_phase = section >= 0 and carriers.is_group(source.outline.blocks[section].text)
    return (section in sections or in_phase) and carriers.is_plain(source, box.at)


def _is_task(lead: ids.Found | None) -> bool:
    return lead is not None and lead.kind == "prefix" and bool(_TASK.match(lead.id))


def _speckit_carrier(source: Source, index: int, end: int, chunk: str | None) -> Carrier:
    lead = source.leads[index]
    named = lead if _is_task(lead) else None
    title, tags = _marks(named.rest if named else source.outline.blocks[index].text)
    if chunk and (story := _STORY.search(chunk)) and f"US{story['number']}" not in tags:
        tags.append(f"US{story['number']}")
    given = {"found": named._replace(rest=title)} if named else {"title": title}
    found = carriers.carrier(source, index, end=end, chunk=chunk, tags=tags, **given)
    return replace(found, priority=found.priority or carriers.priority_in(chunk or ""))


def _marks(text: str) -> tuple[str, list[str]]:
    """Return a title without the marks in front of it, and the marks as tags."""
    tags: list[str] = []
    while mark := _MARK.match(text):
        text = text[mark.end() :]
        stories = [f"US{found['number']}" for found in _STORY.finditer(mark["mark"])]
        tags += stories or ["[P]" if mark["mark"] == "P" else mark["mark"]]
    return text, tags


def _with_before(source: Source, tasks: list[int], units: list[Unit]) -> list[Unit]:
    """Turn `(place before T023..T025)` into dependencies of those tasks on this one."""
    extra: dict[str, list[Dep]] = {}
    for index in tasks:
        block = source.outline.blocks[index]
        for match in _BEFORE.finditer(block.text):
            names, sure = hints.targets(match["names"])
            dep = Dep(target=ids.name(source.leads[index]), line=block.line, carrier="inline")
            for name in names if sure else []:
                extra.setdefault(ids.fold(name), []).append(dep)
    return [replace(unit, deps=(*unit.deps, *extra.get(ids.fold(unit.id or ""), ()))) for unit in units]


# Kiro


def _kiro_evidence(source: Source, found: Boxes) -> list[str]:
    parents = [number for number in found.groups.values() if number is not None and _is_top(number)]
    evidence = []
    if parents:
        evidence.append(
            f"{count(len(parents), 'numbered box that groups', 'numbered boxes that group')} others, such as {parents[0].id}"
        )
    kinds = [box.found.kind for box in found.units if box.found is not None]
    if parents or kinds.count("number") + kinds.count("task") > 1:
        lines = [block.lines[0] for block in source.outline.blocks if block.kind is Kind.ITEM]
        marked = [read_label(line) for line in lines if line.lstrip().startswith(("_", "*"))]
        mapped = sum(label.concept == "covers" and bool(label.rest) for label in marked)
        evidence += [count(mapped, "line that names requirements", "lines that name requirements")] if mapped else []
    return evidence


def _is_top(number: ids.Found) -> bool:
    return number.kind in ("number", "task") or (number.kind == "dotted" and number.id.endswith(".0"))


def _marked(source: Source, box: Box, carrier: Carrier) -> Carrier:
    """Read the mark `(P)` for parallel, and `*` for optional."""
    blocks, status = source.outline.blocks, carrier.status
    text = blocks[box.at].text
    starred = bool(_STARRED.match(text)) or (box.group >= 0 and blocks[box.group].starred)
    if status is Status.OPEN and starred:
        status = Status.OPTIONAL
    tags = (*carrier.tags, "[P]") if _PARALLEL.match(box.found.rest if box.found else text) else carrier.tags
    return replace(carrier, title=_PARALLEL.sub("", carrier.title), status=status, tags=tags)


def _partial_groups(source: Source, found: Boxes) -> Iterator[Finding]:
    """Warn of parents that are ticked although a child is open."""
    blocks = source.outline.blocks
    grouped = [box for box in found.units if box.group >= 0 and blocks[box.group].box in ("x", "X")]
    still_open = Counter(box.group for box in grouped if blocks[box.at].box not in ("x", "X"))
    for group, number in still_open.items():
        message = f'"{carriers.label(blocks[group].text)}" is ticked, but {number} of its parts {"is" if number == 1 else "are"} open; read as open'
        yield warning("partly_done", blocks[group].line, message, "Tick the parts that are done, or untick the parent.")


def _group_edges(source: Source, found: Boxes) -> list[GroupEdge]:
    """Make all children of a box wait for what the box depends on."""
    first_child = {box.group: box.at for box in reversed(found.units) if box.group >= 0}
    harvester = Harvester(source.outline)
    edges = []
    for group, child in sorted(first_child.items()):
        end = max(group + 1, min(child, source.outline.ends[group]))
        own = harvester.unit(Carrier(at=group, end=end, title=""))
        label = carriers.label(source.outline.blocks[group].text)
        edges += [GroupEdge(group=label, target=dep.target, line=dep.line) for dep in own.deps if dep.is_declared]
    return edges


# OpenSpec


def _details_of_stories(source: Source, dotted: list[Box]) -> bool:
    """Tell whether most of these boxes are under headings that are units themselves, such as `### Story 1.1`."""
    leads = [[source.named.get(heading) for heading in source.outline.path(box.at)] for box in dotted]
    kinds = ("story", "requirement", "feature")
    inside = [any(lead and (lead.kind in kinds or carriers.is_unit_prefix(lead)) for lead in above) for above in leads]
    return 2 * sum(inside) > len(dotted)


_REQUIREMENT = pattern(r"(?i)^[`#\s]*Requirement\s*[:：]\s*(?P<name>\S.*?)[`\s]*$")
_DELTA = pattern(r"(?i)^(?P<what>ADDED|MODIFIED|REMOVED|RENAMED)\s+Requirements?\b")
_RENAME = pattern(r"(?i)^(?P<end>FROM|TO)\s*:\s*[`#\s]*(?:Requirement\s*[:：]\s*)?(?P<name>.*?)[`\s]*$")


def openspec_delta(source: Source) -> Document | None:
    """Read OpenSpec specifications and deltas: `### Requirement:` headings with `#### Scenario:` blocks, and usually no ids."""
    deltas = _deltas(source)
    blocks = source.outline.blocks
    named = [index for index, block in enumerate(blocks) if _REQUIREMENT.match(block.text)]
    removed = {at for at in named if deltas[at] == "REMOVED" and blocks[at].marker and blocks[at].level == 0}
    found = [at for at in named if blocks[at].kind is Kind.HEADING or at in removed]
    if not found:
        return None
    heads = sum(blocks[index].kind is Kind.HEADING for index in found)
    evidence = [f'{count(heads, "heading")} "Requirement:"']
    evidence += [f"a section of {what} requirements" for what in dict.fromkeys(filter(None, deltas))]
    made = [_delta_carrier(source, index, deltas[index]) for index in found]
    document = assemble.document(source, "openspec-delta", evidence, made)
    document.findings += _renames(source, deltas)
    return document


def _deltas(source: Source) -> list[str]:
    """For each block, the kind of delta section that it is in (`ADDED`, `REMOVED`, …), or an empty text."""
    found: list[str] = []
    for block in source.outline.blocks:
        outer = found[block.section] if block.section >= 0 else ""
        own = _DELTA.match(block.text) if block.kind is Kind.HEADING else None
        found.append(own["what"].upper() if own else outer)
    return found


def _delta_carrier(source: Source, index: int, delta: str) -> Carrier:
    match = _REQUIREMENT.match(source.outline.blocks[index].text)
    name = clean(match["name"]) if match else ""
    lead = ids.lead(name)
    status = Status.DROPPED if delta == "REMOVED" else None
    if lead is not None and lead.kind == "prefix" and lead.rest:
        return carriers.carrier(source, index, found=lead, status=status)
    return carriers.carrier(source, index, title=name, status=status)


def _renames(source: Source, deltas: list[str]) -> Iterator[Finding]:
    """Report renamed requirements. A new name is no work to plan."""
    before = ""
    for index, block in enumerate(source.outline.blocks):
        told = deltas[index] == "RENAMED" and block.kind in (Kind.ITEM, Kind.PARA)
        match = _RENAME.match(block.text) if told else None
        if match and match["end"].upper() == "FROM":
            before = clean(match["name"])
        elif match:
            message = f'requirement "{before}" is renamed to "{clean(match["name"])}"; not planned'
            hint = "Put it under MODIFIED Requirements if its behaviour changes as well."
            yield note("renamed", block.line, message, hint)
