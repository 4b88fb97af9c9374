"""The lists with ids, criteria or the like that a document offers, and the document of the one that is chosen."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import choosing, ids
from santiago.planner.choosing import Evidence
from santiago.planner.draft import Document, Unit
from santiago.planner.findings import note
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import is_group
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.lists.model import UnitList, View, view_of
from santiago.planner.markdown.lists.named import named_lists
from santiago.planner.markdown.lists.tables import table_lists, with_columns
from santiago.planner.markdown.lists.unnamed import as_a_lists, chain_lists, numbered_lists, requirement_lists
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Source

MAX_TITLE = 120
"""A title made of a sentence is cut to this many characters."""

_IMPROVED = pattern(
    r"(?:improved|revised|rewritten|corrected|better|final)(?: requirement| version| wording| statement)?\s*[:：]\s*(.+)",
    re.IGNORECASE,
)
_OTHER_LABEL = pattern(r"^(?:original requirement|user story|story|description|requirement)\s*[:：]\s*", re.IGNORECASE)


def document(taken: UnitList, format_: str) -> Document:
    """Return the document of a list."""
    view = taken.view
    evidence = (f"{count(len(taken.carriers), 'unit')}: {taken.name}",)
    found = assemble.document(view.source, format_, evidence, list(taken.carriers), repeated=taken.repeated)
    found.units = [titled(unit) for unit in with_columns(view, found.units, taken.carriers)]
    found.units, joined = _without_sections(found.units)
    found.findings += joined
    return found


def titled(unit: Unit) -> Unit:
    """Give a unit that has only an id a title: its improved wording if it has one, else its first line."""
    if unit.title != unit.id:
        return unit
    lines = [clean(line) for line in unit.text.split("\n") if line.strip()]
    improved = next((found[1] for line in lines if (found := _IMPROVED.match(line))), None)
    title = improved or (_OTHER_LABEL.sub("", lines[0]) if lines else "")
    if len(title) > MAX_TITLE:
        title = title[: MAX_TITLE - 1].rstrip() + "…"
    return replace(unit, title=title) if title else unit


def _without_sections(units: list[Unit]) -> tuple[list[Unit], list[Finding]]:
    """If a unit depends on a unit of a later section, use only phases and epics as chunks, and no mere sections."""
    place = {chunk: number for number, chunk in enumerate(dict.fromkeys(unit.chunk for unit in units))}
    chunk_of = {ids.fold(unit.id): unit.chunk for unit in units if unit.id}
    for unit, dep in [(one, dep) for one in units for dep in one.deps if dep.is_declared]:
        chunks = [unit.chunk, chunk_of.get(ids.fold(dep.target), unit.chunk)]
        if place[chunks[1]] > place[chunks[0]] and not all(map(_is_stage, chunks)):
            message = f"{unit.id or unit.title} depends on {dep.target} of a later section; so sections are not used as chunks"
            hint = "Put the sections into the order of their dependencies, or call them phases, if they are stages."
            joined = note("chunks_joined", dep.line, message, hint)
            return [replace(u, chunk=u.chunk if _is_stage(u.chunk) else None) for u in units], [joined]
    return units, []


def _is_stage(chunk: str | None) -> bool:
    return is_group(chunk or "")


@lru_cache(maxsize=1)
def offers(view: View) -> list[UnitList]:
    """Return every list that could be the document's units, without tables that repeat another list."""
    found = [
        *named_lists(view),
        *numbered_lists(view),
        *table_lists(view),
        *chain_lists(view),
        *as_a_lists(view),
        *requirement_lists(view),
    ]
    return _joined(view, [offer for offer in found if not _is_title(view, offer)])


def _is_title(view: View, offer: UnitList) -> bool:
    """Tell whether the only unit of a list is a heading of the first level, which names the document."""
    first = view.blocks[offer.carriers[0].at]
    return len(offer.carriers) == 1 and first.kind is Kind.HEADING and first.level == 1


@lru_cache(maxsize=1)
def choose(source: Source) -> UnitList | None:
    """Return the list with ids, criteria or the like to plan: the one that the user asked for, else the strongest."""
    found = choosing.choose(offers(view_of(source)), source.options.units)
    return as_one(found) if found else None


def as_one(found: list[UnitList]) -> UnitList:
    """Return several lists as one."""
    if len(found) == 1:
        return found[0]
    carriers = sorted((made for offer in found for made in offer.carriers), key=lambda made: made.at)
    return replace(
        found[0],
        evidence=max(offer.evidence for offer in found),
        name=", ".join(offer.name for offer in found),
        carriers=tuple(carriers),
        repeated=tuple(sorted(place for offer in found for place in offer.repeated)),
        build=None,
    )


def _joined(view: View, lists: list[UnitList]) -> list[UnitList]:
    """Leave out tables that repeat a list by id. Rows that only the table has are added to that list."""
    named = {offer.kind: offer for offer in lists if offer.evidence >= Evidence.NAMED_ITEMS}
    kept: list[UnitList] = []
    for offer in lists:
        whole = named.get(offer.kind)
        if offer.evidence is not Evidence.ROWS or whole is None:
            kept.append(offer)
            continue
        inside = whole.cover
        rows = _new_rows(view, offer, {ids.fold(made.id or "") for made in whole.carriers} | whole.headings)
        outside = [made for made in rows if not inside[made.at]]
        if len(outside) * 2 < len(rows):
            kept.append(replace(offer, carriers=tuple(rows)))
        elif outside:
            more = sorted([*whole.carriers, *outside], key=lambda made: made.at)
            joined = replace(whole, carriers=tuple(more))
            kept[kept.index(whole)] = named[offer.kind] = joined
    return kept


def _new_rows(view: View, offer: UnitList, known: set[str]) -> list[Carrier]:
    """Return the rows whose ids are not known yet. Rows without an id count unless most rows of their table have known ids."""
    tables: dict[int, list[Carrier]] = {}
    for made in offer.carriers:
        tables.setdefault(id(view.blocks[made.at].header), []).append(made)
    rows = []
    for members in tables.values():
        new = [made for made in members if ids.fold(made.id or "") not in known]
        about = len(new) * 2 < len(members)
        rows += [made for made in new if made.id or not about]
    return rows
