"""Choose one of the lists that a document offers, and report the others."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from santiago.contract.counting import count
from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding, Level
from santiago.contract.record import record
from santiago.planner import choosing, ids
from santiago.planner.choosing import Evidence
from santiago.planner.draft import Document, Unit
from santiago.planner.findings import note
from santiago.planner.markdown import assemble
from santiago.planner.markdown.carriers import is_group
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.lists.definitions import Definition, side_lists, span_of
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


@record
class Choice:
    taken: UnitList
    others: tuple[UnitList, ...]
    """Lists that were not taken, without what the taken list contains."""

    def document(self, format_: str) -> Document:
        """Return the document of the taken list, with a finding for every other list."""
        view = self.taken.view
        source = view.source
        evidence = (f"{count(len(self.taken.carriers), 'unit')}: {self.taken.name}",)
        carriers = list(self.taken.carriers)
        beside = [made.at for other in self.others for made in other.carriers]
        found = assemble.document(source, format_, evidence, carriers, repeated=self.taken.repeated, known=beside)
        found.units = [titled(unit) for unit in with_columns(view, found.units, self.taken.carriers)]
        found.units, joined = _without_sections(found.units)
        found.findings += [*joined, *self.beside()]
        return found

    def beside(self) -> list[Finding]:
        """Return one finding for each list that was not taken, so that nothing is left out silently."""
        view, inside = self.taken.view, self.taken.cover
        found = [_not_taken(view, other, self.taken) for other in self.others]
        for prefix, members in side_lists(view).items():
            outside = [member for member in members if not inside[member.at]]
            if outside:
                found.append(_never_units(view, prefix, outside))
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
def choose(source: Source) -> Choice | None:
    """Return the list with ids, criteria or the like to plan: the one that the user asked for, else the strongest."""
    lists = offers(view_of(source))
    found = choosing.choose(lists, source.options.units)
    return chosen(found, lists) if found else None


def chosen(found: list[UnitList], lists: list[UnitList]) -> Choice:
    """Return the choice of these lists, as one."""
    taken = found[0] if len(found) == 1 else _as_one(found)
    return Choice(
        taken=taken, others=tuple(filter(None, (_without_taken(each, taken) for each in lists if each not in found)))
    )


def _as_one(found: list[UnitList]) -> UnitList:
    carriers = sorted((made for offer in found for made in offer.carriers), key=lambda made: made.at)
    return replace(
        found[0],
        evidence=max(offer.evidence for offer in found),
        name=", ".join(offer.name for offer in found),
        carriers=tuple(carriers),
        repeated=tuple(sorted(place for offer in found for place in offer.repeated)),
    )


def _without_taken(offer: UnitList, taken: UnitList) -> UnitList | None:
    """Return another list without what the taken list contains, or None if nothing remains or it contains the taken list."""
    if taken.is_inside(offer):
        return None
    cover = taken.cover
    outside = tuple(made for made in offer.carriers if not cover[made.at])
    return replace(offer, carriers=outside) if outside else None


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


def _not_taken(view: View, other: UnitList, taken: UnitList) -> Finding:
    line = view.blocks[other.carriers[0].at].line
    name = min(other.keys, key=lambda key: (len(key), key))
    hint = f"Plan from it instead with --units {name}."
    if other.kind == "as-a":
        message = f"{other.name} ({len(other.carriers)} from line {line} on) are context of {taken.name}; not planned"
        return note("context_list", line, message, hint)
    level: Level = "warning" if other.evidence >= Evidence.ROWS and view.source.options.units is None else "note"
    message = f"{other.name} ({len(other.carriers)} from line {line} on) are not planned; {taken.name} are"
    return Finding(level=level, code="side_list", line=line, message=message, hint=hint)


def _never_units(view: View, prefix: str, found: list[Definition]) -> Finding:
    line = view.blocks[found[0].at].line
    message = f"{span_of(found)} ({len(found)} from line {line} on) are goals, metrics, decisions, rules or the like; not planned"
    return note("side_list", line, message, f"Give them another prefix than {prefix} if they are requirements.")
