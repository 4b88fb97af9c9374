"""OpenSpec specifications and deltas: `### Requirement:` headings with `#### Scenario:` blocks, and usually no ids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids
from santiago.planner.draft import Document, Status
from santiago.planner.findings import note
from santiago.planner.markdown import assemble, carriers
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source

_REQUIREMENT = pattern(r"^[`#\s]*Requirement\s*[:：]\s*(?P<name>\S.*?)[`\s]*$", re.IGNORECASE)
_DELTA = pattern(r"^(?P<what>ADDED|MODIFIED|REMOVED|RENAMED)\s+Requirements?\b", re.IGNORECASE)
_RENAME = pattern(r"^(?P<end>FROM|TO)\s*:\s*[`#\s]*(?:Requirement\s*[:：]\s*)?(?P<name>.*?)[`\s]*$", re.IGNORECASE)


def read(source: Source) -> Document | None:
    deltas = _deltas(source)
    blocks = source.outline.blocks
    named = [index for index, block in enumerate(blocks) if _REQUIREMENT.match(block.text)]
    found = [index for index in named if _defines(blocks[index], deltas[index])]
    if not found:
        return None
    heads = [index for index in found if blocks[index].kind is Kind.HEADING]
    evidence = [f'{count(len(heads), "heading")} "Requirement:"']
    evidence += [f"a section of {what} requirements" for what in dict.fromkeys(filter(None, deltas))]
    made = [_carrier(source, index, deltas[index]) for index in found]
    document = assemble.document(source, "openspec-delta", evidence, made)
    document.findings += _renames(source, deltas)
    return document


def _defines(block: Block, delta: str) -> bool:
    return block.kind is Kind.HEADING or (block.kind is Kind.ITEM and block.level == 0 and delta == "REMOVED")


def _deltas(source: Source) -> list[str]:
    """For each block, the kind of delta section that it is in (`ADDED`, `REMOVED`, …), or an empty text."""
    found: list[str] = []
    for block in source.outline.blocks:
        outer = found[block.section] if block.section >= 0 else ""
        own = _DELTA.match(block.text) if block.kind is Kind.HEADING else None
        found.append(own["what"].upper() if own else outer)
    return found


def _carrier(source: Source, index: int, delta: str) -> Carrier:
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
        match = (
            _RENAME.match(block.text) if deltas[index] == "RENAMED" and block.kind in (Kind.ITEM, Kind.PARA) else None
        )
        if match is None:
            continue
        if match["end"].upper() == "FROM":
            before = clean(match["name"])
            continue
        message = f'requirement "{before}" is renamed to "{clean(match["name"])}"; not planned'
        hint = "Put it under MODIFIED Requirements if its behaviour changes as well."
        yield note("renamed", block.line, message, hint)
