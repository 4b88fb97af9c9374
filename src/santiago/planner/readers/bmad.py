"""BMAD's PRD and epics: `Epic 1` around `Story 1.1`, as headings, bold paragraphs or list items."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.planner import hints, ids
from santiago.planner.draft import GroupEdge
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import carrier, label
from santiago.planner.markdown.labels import read_label, split_label
from santiago.planner.markdown.lists.choice import choose
from santiago.planner.markdown.lists.extent import group_names
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Zone

if TYPE_CHECKING:
    from santiago.planner.draft import Document, Unit
    from santiago.planner.markdown.harvest import Carrier
    from santiago.planner.source import Source

_EPIC = pattern(
    r"^[\W_]*(?:epic|épica|épico|epos|эпик|епік|エピック|史诗|史詩|에픽)\s*[#№]?\s*([A-Za-z]{0,3}\d+(?:\.\d+)*)(?!\w)",
    re.IGNORECASE,
)
_STORIES = frozenset(
    {"stories", "user stories", "historias", "histórias", "истории", "ストーリー", "用户故事", "스토리"}
)
_ESTIMATE = pattern(r"^\([^()]{1,20}\)\s*[-–—:]\s*")
_SLUG = pattern(r"^[*_]*`([\w./-]+)`[*_]*")


def read(source: Source) -> Document | None:
    epics = _epics(source)
    choice = choose(source)
    if choice is not None and choice.taken.kind == "story":
        dotted = sum("." in (made.id or "") for made in choice.taken.carriers)
        if not epics and dotted * 2 <= len(choice.taken.carriers):
            return None
        document = choice.document("bmad")
        document.evidence = (f"{len(document.units)} stories: {choice.taken.name}", f"{len(epics)} epics")
        document.units = [_in_epic(unit, epics) for unit in document.units]
    elif choice is None and len(epics) > 0 and (starts := _listed_stories(source)):
        carriers = [_listed(source, at, epics) for at in starts]
        document = assemble.document(
            source, "bmad", (f"{len(starts)} items under a Stories label", f"{len(epics)} epics"), carriers
        )
    else:
        return None
    document.edges += _epic_edges(source, epics, {unit.chunk for unit in document.units})
    return document


def _epics(source: Source) -> dict[str, str]:
    """Return the label of each epic by its id; where an epic is named twice (list and body) the heading counts."""
    found: dict[str, str] = {}
    headings: set[str] = set()
    for block in source.outline.blocks:
        if block.kind not in (Kind.HEADING, Kind.PARA, Kind.ITEM) or not (match := _EPIC.match(block.lines[0])):
            continue
        heading = block.kind is Kind.HEADING
        if heading or (
            match[1] not in headings and match[1] not in found and block.lines[0].lstrip("-*0123456789. ")[:1] != ""
        ):
            found[match[1]] = label(block.lines[0])
        if heading:
            headings.add(match[1])
    return found


def _in_epic(unit: Unit, epics: dict[str, str]) -> Unit:
    """Return the unit in the epic that it stands in, else in the one that its number names: 2.3.1 is in 2.3, not 2."""
    if unit.chunk is not None and _EPIC.match(unit.chunk):
        return unit
    number = unit.id or ""
    while "." in number:
        number = number.rpartition(".")[0]
        if number in epics:
            return replace(unit, chunk=epics[number], tags=(*unit.tags, *group_names(epics[number])))
    return unit


def _listed_stories(source: Source) -> list[int]:
    """Return the items under a Stories label inside an epic: `- **Stories:**` or `**Stories:**` and a list."""
    found, active = [], False
    for index, block in enumerate(source.outline.blocks):
        if block.kind is Kind.HEADING:
            active = _is_stories(block.text)
        elif block.kind is Kind.PARA and block.parent < 0:
            active = _is_stories(block.lines[-1])
        elif block.kind is Kind.ITEM and active and block.level == 0 and source.zones[index] != Zone.NEVER:
            found.append(index)
    return [index for index in found if _epic_of(source, index)]


def _is_stories(text: str) -> bool:
    parts = split_label(text)
    name = parts[0] if parts is not None and not parts[1] else text
    return re.sub(r"\W+", " ", name).strip().lower() in _STORIES


def _epic_of(source: Source, index: int) -> str | None:
    for heading in reversed(source.outline.path(index)):
        if found := _EPIC.match(source.outline.blocks[heading].text):
            return found[1]
    return None


def _listed(source: Source, index: int, epics: dict[str, str]) -> Carrier:
    block = source.outline.blocks[index]
    slug = _SLUG.match(block.lines[0])
    epic = epics.get(_epic_of(source, index) or "")
    made = carrier(source, index, chunk=epic, tags=group_names(epic or ""))
    if slug is None:
        return made
    title = _ESTIMATE.sub("", block.text[slug.end() :].strip(" -–—:*"))
    return replace(made, id=slug[1], title=title or slug[1])


def _epic_edges(source: Source, epics: dict[str, str], chunks: set[str | None]) -> list[GroupEdge]:
    """Return the dependencies that an epic declares right under its heading."""
    found: list[GroupEdge] = []
    for block in source.outline.blocks:
        if block.kind not in (Kind.PARA, Kind.ITEM) or block.parent >= 0 or block.section < 0:
            continue
        own = _EPIC.match(source.outline.blocks[block.section].text)
        if own is None or epics.get(own[1]) not in chunks:
            continue
        for offset, line in enumerate(block.lines):
            field = read_label(line)
            if field.concept == "depends" and re.search(r"\bepics?\b", field.rest, re.IGNORECASE):
                names = [name.split()[-1] for name in hints.targets(re.sub(r"\([^()]*\)", " ", field.rest))[0]]
                found += [
                    GroupEdge(group=epics[own[1]], target=epics[name], line=block.line + offset)
                    for name in names
                    if name in epics and ids.fold(name) != ids.fold(own[1]) and epics[name] in chunks
                ]
    return found
