"""Kiro and cc-sdd task lists: `- [ ] 1. Parent` with `1.1` children; the leaves are the units, the parent is the chunk."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import Document, GroupEdge, Status
from santiago.planner.findings import warning
from santiago.planner.markdown import assemble, boxes, carriers, ordering
from santiago.planner.markdown.harvest import Carrier, Harvester, label_of
from santiago.planner.markdown.outline import Kind

if TYPE_CHECKING:
    from santiago.planner.markdown.boxes import Box, Boxes
    from santiago.planner.source import Source

_STARRED = pattern(r"\S*\d\.?\*(?:\s|$)")
_PARALLEL = pattern(r"^\((?:P|parallel)\)\s*")
_PARTIAL = pattern(
    r"\bpartial(?:ly)?\b|\(\s*\d{1,2}\s*%|部分的?完了|部分完成|부분 완료|частично|parcial", re.IGNORECASE
)


def read(source: Source) -> Document | None:
    found = boxes.survey(source)
    evidence = _evidence(source, found)
    if not evidence:
        return None
    units, repeated = boxes.merged(source, found.units, found.groups)
    again = [box.at for box in repeated]
    made = _carriers(source, units, found)
    document = assemble.document(source, "kiro-tasks", evidence, made, repeated=again, known=list(found.groups))
    document.findings += _partial_groups(source, found)
    document.edges += _group_edges(source, found)
    return ordering.ordered(source, document)


def _evidence(source: Source, found: Boxes) -> list[str]:
    parents = [number for number in found.groups.values() if number is not None and _is_top(number)]
    evidence = []
    if parents:
        evidence.append(f"{len(parents)} numbered boxes such as {parents[0].id} that group others")
    numbered = found.counted("number") + found.counted("task")
    if parents or numbered > 1:
        mapped = sum(1 for block in source.outline.blocks if block.kind is Kind.ITEM and _is_mapping(block.lines[0]))
        if mapped:
            evidence.append(f"{mapped} lines that name requirements")
    return evidence


def _is_top(number: ids.Found) -> bool:
    """Tell whether a number is one of the first level: 1, Task 1, or 1.0."""
    return number.kind in ("number", "task") or (number.kind == "dotted" and number.id.endswith(".0"))


def _is_mapping(text: str) -> bool:
    concept, rest, is_label = label_of(text)
    return is_label and concept == "covers" and bool(rest) and text.lstrip().startswith(("_", "*"))


def _carriers(source: Source, units: list[Box], found: Boxes) -> list[Carrier]:
    ends = carriers.bounded(source, [box.at for box in units])
    labels = carriers.section_chunks(source, [box.at for box in units])
    made = []
    for box, (_, end), section in zip(units, ends, labels, strict=True):
        block = source.outline.blocks[box.at]
        carrier = carriers.carrier(source, box.at, end=end, found=box.found, chunk=_chunk(source, box, found, section))
        carrier = replace(carrier, title=_PARALLEL.sub("", carrier.title), status=_status(source, box, carrier.status))
        if _PARALLEL.match(box.found.rest if box.found else block.text):
            carrier = replace(carrier, tags=(*carrier.tags, "[P]"))
        made.append(carrier)
    return made


def _chunk(source: Source, box: Box, found: Boxes, section: str | None) -> str | None:
    """The parent is the chunk; a parent without children is one of its own, so that chunks stay in document order."""
    if box.group >= 0:
        return carriers.label(source.outline.blocks[box.group].text)
    if found.groups and box.found is not None and _is_top(box.found):
        return carriers.label(source.outline.blocks[box.at].text)
    return section


def _status(source: Source, box: Box, status: Status) -> Status:
    blocks = source.outline.blocks
    text = blocks[box.at].text
    starred = bool(_STARRED.match(text)) or (box.group >= 0 and blocks[box.group].starred)
    if status is Status.OPEN and starred:
        return Status.OPTIONAL
    if status is Status.DONE and _PARTIAL.search(text):
        return Status.OPEN
    return status


def _partial_groups(source: Source, found: Boxes) -> list[Finding]:
    """Report parents that are ticked while a child is open."""
    blocks = source.outline.blocks
    still_open: dict[int, int] = {}
    for box in found.units:
        if box.group >= 0 and blocks[box.group].box in ("x", "X") and blocks[box.at].box not in ("x", "X"):
            still_open[box.group] = still_open.get(box.group, 0) + 1
    return [
        warning(
            "partly_done",
            blocks[group].line,
            f'"{carriers.label(blocks[group].text)}" is ticked, but {count} of its parts are open; read as open',
            "Tick the parts that are done, or untick the parent.",
        )
        for group, count in still_open.items()
    ]


def _group_edges(source: Source, found: Boxes) -> list[GroupEdge]:
    """Lift what a parent depends on to all of its children."""
    first_child: dict[int, int] = {}
    for box in found.units:
        if box.group >= 0:
            first_child.setdefault(box.group, box.at)
    harvester = Harvester(source.outline)
    edges = []
    for group, child in first_child.items():
        end = max(group + 1, min(child, source.outline.ends[group]))
        own = harvester.unit(Carrier(at=group, end=end, title=""))
        label = carriers.label(source.outline.blocks[group].text)
        edges += [GroupEdge(group=label, target=dep.target, line=dep.line) for dep in own.deps if dep.is_declared]
    return edges
