"""spec-kit task lists: `- [ ] T012 [P] [US1] text` under phases; order between phases and stories in a section of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import ids
from santiago.planner.draft import Dep, Document, Unit
from santiago.planner.markdown import assemble, boxes, carriers, ordering
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.tickets import ROADMAP
from santiago.planner.source import Source, Zone

if TYPE_CHECKING:
    from santiago.planner.markdown.boxes import Box
    from santiago.planner.markdown.harvest import Carrier

_TASK = pattern(r"T-?\d{2,6}[A-Za-z]?(?:\.\d+)?$")
_MARK = pattern(r"^[\s*_`]*[\[(](?P<mark>P|US-?\d+(?:\s*,\s*US-?\d+)*|Story\s*\d+|[A-Z]{2,6}\d*)[\])][\s*_`]*")
_STORY = pattern(r"\b(?:User Story|US|Story)\s*-?(?P<number>\d+)\b", re.IGNORECASE)
_REVERSE = pattern(
    r"[(\[]\s*(?:place |must (?:come|run|finish) |do (?:this )?|complete )?(?:before|blocks|precedes)\s*:?\s*(?P<names>[^)\]]+)[)\]]",
    re.IGNORECASE,
)


def read(source: Source) -> Document | None:
    tasks = _tasks(source)
    if not tasks:
        return None
    document = assemble.document(source, "spec-kit-tasks", _evidence(source, tasks), _carriers(source, tasks))
    document.units = _with_reverse(source, tasks, document.units)
    return ordering.ordered(source, document)


def _tasks(source: Source) -> list[int]:
    """Return the boxes that carry a T id, and those without one that stand in the same sections or in a phase."""
    blocks = source.outline.blocks
    boxed = [i for i, b in enumerate(blocks) if b.kind is Kind.ITEM and b.box is not None and _is_task(source.leads[i])]
    rows = sum(b.kind is Kind.ROW and _is_task(source.leads[i]) for i, b in enumerate(blocks))
    if rows > len(boxed) or (len(boxed) < 2 and not (boxed and carriers.chunk_of(source, boxed[0]))):
        return []  # a table that defines the tasks says more than boxes that mention one
    if any(ROADMAP.search(blocks[i].text) for i in boxed[:3]):
        return []
    plain = {ids.fold(_id(source, i)) for i in boxed if source.zones[i] != Zone.NEVER}
    sections = {blocks[i].section for i in boxed}
    return [box.at for box in boxes.survey(source).units if _is_wanted(source, box, plain, sections)]


def _is_wanted(source: Source, box: Box, plain: set[str], sections: set[int]) -> bool:
    """Tell whether a box is a task; in a side section only where no other place defines its id."""
    if _is_task(box.found):
        return source.zones[box.at] != Zone.NEVER or ids.fold(_id(source, box.at)) not in plain
    section = source.outline.blocks[box.at].section
    in_phase = section >= 0 and carriers.is_group(source.outline.blocks[section].text)
    return (section in sections or in_phase) and boxes.is_plain(source, box.at)


def _is_task(lead: ids.Found | None) -> bool:
    return lead is not None and lead.kind == "prefix" and bool(_TASK.match(lead.id))


def _id(source: Source, index: int) -> str:
    lead = source.leads[index]
    return lead.id if lead else ""


def _evidence(source: Source, tasks: list[int]) -> list[str]:
    named = [index for index in tasks if _is_task(source.leads[index])]
    marks = sum(1 for index in named if (lead := source.leads[index]) and _MARK.match(lead.rest))
    evidence = [f"{len(named)} boxes with ids such as {_id(source, named[0])}"]
    return [*evidence, f"{marks} of them marked [P] or with a story"] if marks else evidence


def _carriers(source: Source, tasks: list[int]) -> list[Carrier]:
    ends = carriers.bounded(source, tasks)
    labels = carriers.section_chunks(source, tasks)
    made = []
    for (index, end), chunk in zip(ends, labels, strict=True):
        lead = source.leads[index]
        named = lead if _is_task(lead) else None
        title, tags = _marks(named.rest if named else source.outline.blocks[index].text)
        if chunk and (story := _STORY.search(chunk)) and f"US{story['number']}" not in tags:
            tags.append(f"US{story['number']}")
        named = named._replace(rest=title) if named else None
        found = carriers.carrier(
            source, index, end=end, found=named, title=None if named else title, chunk=chunk, tags=tags
        )
        made.append(replace(found, priority=found.priority or (carriers.priority_in(chunk) if chunk else None)))
    return made


def _marks(text: str) -> tuple[str, list[str]]:
    """Return a title without its leading marks, and the marks as tags."""
    tags: list[str] = []
    while mark := _MARK.match(text):
        text = text[mark.end() :]
        name = mark["mark"]
        if name == "P":
            tags.append("[P]")
            continue
        stories = [f"US{found['number']}" for found in _STORY.finditer(name)]
        tags += stories or [name]
    return text, tags


def _with_reverse(source: Source, tasks: list[int], units: list[Unit]) -> list[Unit]:
    """Turn `(place before T023..T025)` into dependencies of those tasks on this one."""
    known = {ids.fold(unit.id): unit.id for unit in units if unit.id}
    extra: dict[str, list[Dep]] = {}
    for index in tasks:
        block: Block = source.outline.blocks[index]
        for match in _REVERSE.finditer(block.text):
            extra_names, sure = ordering.targets(match["names"])
            for name in extra_names if sure else []:
                if ids.fold(name) in known:
                    dep = Dep(target=_id(source, index), line=block.line, carrier="inline")
                    extra.setdefault(ids.fold(name), []).append(dep)
    return [
        replace(u, deps=(*u.deps, *extra[ids.fold(u.id)])) if u.id and ids.fold(u.id) in extra else u for u in units
    ]
