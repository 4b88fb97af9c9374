"""Markdown whose stories are YAML or JSON records in code fences. A heading or list item with the story's id announces each.

Every other reader takes a code fence for an example. Such documents often begin with a template record. It is recognised by
its placeholders, or because a heading announces its id again later.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import field

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner import ids
from santiago.planner.draft import Document, DocumentError, Unit
from santiago.planner.findings import note, warning
from santiago.planner.markdown import carriers
from santiago.planner.markdown.harvest import Harvester
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.readers.records import repaired_lines
from santiago.planner.source import Source, Zone
from santiago.planner.structured import json_tree, yaml_tree
from santiago.planner.structured.record_lists import Candidate, document_of
from santiago.planner.structured.record_units import Group, Member, has_criteria
from santiago.planner.structured.tree import Node, Object, as_text, objects

_RECORD = pattern(r"(?m)^\s*(?:[-\[{,]\s*)*[\"']?id[\"']?\s*:")
_COUNTS = ("number", "dotted", "step")
_LANGUAGES = frozenset({"", "yaml", "yml", "json", "json5", "jsonc"})
_PLACEHOLDER_ID = pattern(r"(?:[A-Za-z]+[-_]?)?(?:[xX]{2,}|[nN#]{2,}|…|\.\.\.|<.*>|\{.*\}|\[.*\])$")
_ELLIPSIS = pattern(r"…|\.\.\.$|^\.\.\.")


@lean()
class _Fence:
    """One record in a fence."""

    record: Object
    id: str
    at: int
    """Index of the fence."""
    announced: int = -1
    """Index of the block with the same id that announces the record, or -1."""


@lean()
class _Reading:
    source: Source
    fences: list[_Fence] = field(default_factory=list)
    repaired: list[int] = field(default_factory=list)
    broken: list[tuple[int, int, DocumentError]] = field(default_factory=list)
    """Index of the fence, index of the block that announces it, and the error."""

    def run(self) -> None:
        """Read every fence that holds records. The last block with an id before a fence may announce it."""
        last = -1
        for index, block in enumerate(self.source.outline.blocks):
            lead = self.source.leads[index]
            is_read = block.kind is Kind.CODE and block.info.split(" ")[0].lower() in _LANGUAGES
            if block.kind in (Kind.HEADING, Kind.ITEM, Kind.PARA) and lead and lead.kind not in _COUNTS:
                last = index
            elif is_read and any(map(_RECORD.match, block.lines[1:])):
                self.fence(index, block, last)

    def fence(self, index: int, block: Block, last: int) -> None:
        try:
            node, repaired = _parse(block)
        except DocumentError as error:
            if last >= 0:
                self.broken.append((index, last, error))
            return
        found = [(each, each.text("id")) for each in objects(node) if each.text("id")]
        lead = self.source.leads[last] if last >= 0 else None
        for record, name in found:
            announced = last if ids.fold(ids.name(lead)) == ids.fold(name) else -1
            self.fences.append(_Fence(record, name, index, announced))
        self.repaired += repaired if found else []


def _parse(block: Block) -> tuple[Node, list[int]]:
    lines = block.lines[1:]
    if lines and re.match(r"\s*(`{3,}|~{3,})\s*$", lines[-1]):
        lines = lines[:-1]
    text = textwrap.dedent("\n".join(lines))
    if text.lstrip()[:1] in ("{", "["):
        return json_tree.parse(text, block.line + 1), []
    return yaml_tree.parse_mended(text, block.line + 1)


def read(source: Source) -> Document | None:
    reading = _Reading(source)
    reading.run()
    templates, stories = _templates_and_stories(reading.fences)
    if not _are_stories(stories):
        return None
    document = _document(source, stories)
    document.units += _unfenced(source, stories, reading)
    document.units.sort(key=lambda unit: unit.line)
    for fence in templates:
        message = f"the record {fence.id} in this code fence is a template, not a story"
        hint = "Nothing to do; fill in its placeholders to plan it."
        document.findings.append(note("fence_not_read", source.outline.blocks[fence.at].line, message, hint))
    for index, announced, error in reading.broken:
        lead = source.leads[announced]
        name = lead.id if lead else "a story"
        message = f"the code fence of {name} cannot be read; its criteria are not in the plan (line {error.line}: {error.message})"
        line = source.outline.blocks[index].line
        document.findings.append(warning("fence_not_read", line, message, error.hint or "Correct it."))
    if reading.repaired:
        document.findings.append(repaired_lines(reading.repaired))
    return document


def _are_stories(stories: list[_Fence]) -> bool:
    """Tell whether the records are stories: announced by a heading or item, or else several with criteria."""
    if announced := [fence for fence in stories if fence.announced >= 0]:
        return any(has_criteria(fence.record) or fence.record.text("title") for fence in announced)
    return sum(has_criteria(fence.record) and bool(ids.prefix_of(fence.id)) for fence in stories) > 1


def _templates_and_stories(fences: list[_Fence]) -> tuple[list[_Fence], list[_Fence]]:
    announced = {ids.fold(fence.id) for fence in fences if fence.announced >= 0}
    templates: list[_Fence] = []
    stories: list[_Fence] = []
    for fence in fences:
        again = fence.announced < 0 and ids.fold(fence.id) in announced
        (templates if again or _is_template(fence.record) else stories).append(fence)
    return templates, stories


def _is_template(record: Object) -> bool:
    """Tell whether a record is a form to fill in: its id is a placeholder, or its texts end in an ellipsis."""
    if _PLACEHOLDER_ID.match(record.text("id")):
        return True
    texts = [as_text(entry.value) for entry in record.fields.values() if as_text(entry.value)]
    open_ = sum(1 for x in texts if _ELLIPSIS.search(x) or re.fullmatch(r"<[^<>]+>|\[[^\[\]]+\]|\{[^{}]+\}", x))
    return open_ >= 2 and 2 * open_ >= len(texts) - 1


def _document(source: Source, stories: list[_Fence]) -> Document:
    candidate = Candidate()
    groups: dict[str, Group] = {}
    blocks = source.outline.blocks
    for fence in stories:
        place = fence.announced if fence.announced >= 0 else fence.at
        label = carriers.chunk_of(source, place)
        group = groups.setdefault(label, Group(label, blocks[place].line)) if label else None
        entry = fence.record.field("id")
        line = blocks[fence.announced].line if fence.announced >= 0 else entry.line if entry else blocks[fence.at].line
        future = source.zones[place] == Zone.EXCLUDED
        candidate.members.append(Member(fence.record, line, fence.id, group, future))
    candidate.groups = list(groups.values())
    judged = sum(1 for fence in stories if has_criteria(fence.record))
    evidence = (f"{count(len(stories), 'record')} in code fences, {judged} with acceptance criteria",)
    document = document_of("fenced-stories", evidence, candidate, "field")
    document.title = source.title
    return document


def _unfenced(source: Source, stories: list[_Fence], reading: _Reading) -> list[Unit]:
    """Return the stories with the same kind of id that have no fence, or one that cannot be read."""
    kinds = {lead.prefix for fence in stories if (lead := ids.lead(fence.id))}
    done = {fence.announced for fence in (*stories, *reading.fences)}
    known = {ids.fold(fence.id) for fence in stories}
    broken = {announced for _, announced, _ in reading.broken}
    alike = [at for at, lead in source.named.items() if lead.prefix in kinds and ids.fold(lead.id) not in known]
    heads = broken.union(carriers.indexes(source, Kind.HEADING))
    starts = [at for at in alike if at in heads and at not in done]
    harvester = Harvester(source.outline)
    return [harvester.unit(carrier) for carrier in carriers.headed(source, sorted(starts))]
