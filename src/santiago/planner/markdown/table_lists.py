"""Requirement tables: rows with ids, rows of features with a priority, and rows that form an As-a sentence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace

from santiago.contract.lazy_regex import pattern
from santiago.planner import hints, ids, words
from santiago.planner.choosing import Evidence
from santiago.planner.draft import DraftCriterion, Status, Unit
from santiago.planner.markdown import labels
from santiago.planner.markdown.carriers import carrier
from santiago.planner.markdown.harvest import Carrier, status_of
from santiago.planner.markdown.id_lists import grouped, is_listlike, kind_of
from santiago.planner.markdown.labels import cell_of, clean, columns_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.markdown.unit_list import UnitList, View
from santiago.planner.source import Zone

_BRACKETED = pattern(r"[(\[][^()\[\]]*[)\]]")
_BREAKS = pattern(r"<br\s*/?>|;|；|•|\n")


def table_lists(view: View) -> list[UnitList]:
    """Return the tables whose rows are units, one list per kind."""
    found: dict[str, list[Carrier]] = defaultdict(list)
    explicit: Counter[str] = Counter()
    repeated: dict[str, list[int]] = defaultdict(list)
    for rows in _tables(view):
        columns = columns_of(view.blocks[rows[0]].header)
        kind = _kind(view, rows, columns)
        if kind is None:
            continue
        made = list(filter(None, (_carrier(view, index, columns) for index in rows)))
        kind = "story" if kind == "other" and view.tells_stories(made) else kind
        again = _repeated_rows(made, found[kind])
        made = [one for one in made if one.at not in again]
        repeated[kind] += again
        found[kind] += made
        explicit[kind] += len(made) if "criteria" in columns else 0
    return [
        _as_list(view, kind, carriers, explicit=explicit[kind] * 2 >= len(carriers), repeated=repeated[kind])
        for kind, carriers in found.items()
    ]


def _repeated_rows(made: list[Carrier], found: list[Carrier]) -> list[int]:
    """Return the rows that repeat units, if most rows do: then the table is about the list, such as its progress."""
    known = {ids.fold(one.id) for one in found if one.id}
    again = [one.at for one in made if one.id and ids.fold(one.id) in known]
    return again if len(again) * 2 > len(made) else []


def _as_list(view: View, kind: str, carriers: list[Carrier], *, explicit: bool, repeated: list[int]) -> UnitList:
    named = kind not in ("table", "status") and carriers[0].id
    prefixes = {ids.prefix_of(made.id).lower() for made in carriers if made.id} - {""}
    evidence = Evidence.PROGRESS_ROWS if kind == "status" else Evidence.ROWS
    name = f"{carriers[0].id} to {carriers[-1].id}" if named else "table rows"
    made, keys = tuple(grouped(view, carriers)), frozenset({"table", "row", kind, *prefixes})
    kind = "table" if kind == "status" else kind
    return UnitList(view, evidence, kind, name, made, keys, explicit, tuple(repeated))


def _tables(view: View) -> list[list[int]]:
    """Return the rows of each table, except in sections that never hold units."""
    tables: list[list[int]] = []
    for index, block in enumerate(view.blocks):
        if block.kind is not Kind.ROW or block.cells == block.header:
            continue
        last = view.blocks[tables[-1][-1]] if tables else None
        if last is not None and last.header is block.header and tables[-1][-1] == index - 1:
            tables[-1].append(index)
        else:
            tables.append([index])
    return [rows for rows in tables if view.source.zones[rows[0]] != Zone.NEVER]


def _kind(view: View, rows: list[int], columns: dict[str, int]) -> str | None:
    """Return the kind of list that a table is, or None if its rows are no units."""
    names = {words.normal(cell) for cell in view.blocks[rows[0]].header}
    if names & words.OTHER_COLUMNS:
        return None
    weighed = not columns.keys().isdisjoint(("priority", "criteria"))
    says_what = bool(names & (words.NAME_COLUMNS - words.VAGUE_COLUMNS))
    leads = [lead for index in rows if (lead := view.source.named.get(index)) and lead.kind == "prefix"]
    if leads:
        return _kind_by_ids(view, rows, columns, leads, sure=says_what and weighed)
    if {"role", "title"} <= columns.keys():
        return "table"
    kept = "table" if weighed else "status" if names & words.STATE_COLUMNS else None
    return kept if "title" in columns and says_what and len(rows) > 1 else None


def _kind_by_ids(
    view: View, rows: list[int], columns: dict[str, int], leads: list[ids.Found], *, sure: bool
) -> str | None:
    """Return the kind of most ids. If `sure`, the header says that the rows are units, so even an `SC` is one."""
    same = {None: None, "nfr": "requirement", "side": "other" if sure else None}
    kinds = [same.get(kind, kind) for kind in map(kind_of, leads)]
    named = list(filter(None, kinds))
    if len(named) * 2 < len(rows) or _only_refers(view, rows):
        return None
    kind = max(sorted(set(named)), key=named.count)
    counted = (
        not columns.keys().isdisjoint(("id", "title")) and len(rows) > 1 and is_listlike([lead.id for lead in leads])
    )
    return kind if kind != "other" or counted else None


def _only_refers(view: View, rows: list[int]) -> bool:
    """Tell whether this is a traceability table: its other cells hold only ids and ticks."""
    texts = [[cell for cell in view.blocks[i].cells[1:] if cell.strip(" -–—✓✔✅❌xX")] for i in rows]
    return sum(all(hints.targets(cell)[1] for cell in cells) for cells in texts) * 2 > len(rows)


def _carrier(view: View, index: int, columns: dict[str, int]) -> Carrier | None:
    block = view.blocks[index]
    lead = view.source.leads[index]
    named = lead if lead is not None and lead.kind == "prefix" and kind_of(lead) is not None else None
    title = _title(block, columns, named)
    if not title:
        return None
    made = carrier(view.source, index, end=index + 1, found=named, title=title)
    if named is None and (number := clean(cell_of(block, "id"))):
        made = replace(made, id=number if re.fullmatch(r"[\d.]+[A-Za-z]?", number) else None)
    return made if made.status is not Status.OPEN else replace(made, status=_status(block) or Status.OPEN)


def _status(row: Block) -> Status | None:
    return status_of(cell_of(row, "status").lstrip("-* "))


def _title(block: Block, columns: dict[str, int], lead: ids.Found | None) -> str:
    if {"role", "title"} <= columns.keys():
        who, what = (f"{block.header[columns[m]].strip(' .…')} {cell_of(block, m)}" for m in ("role", "title"))
        return f"{who}, {what}"
    first = 0 if lead is None and "id" not in columns else 1
    named = cell_of(block, "title") if columns.get("title", -1) >= first else ""
    rest = lead.rest if lead and _BRACKETED.sub("", lead.rest).strip() else ""
    return next(filter(None, (named, rest, *_other_cells(block, first), *block.cells[first:])), "")


def _other_cells(block: Block, first: int) -> list[str]:
    """Return the cells from this column on whose header is a title or unknown."""
    at = labels.id_column(block.header)
    cells = list(enumerate(zip(block.cells, block.header, strict=False)))[first:]
    return [cell for place, (cell, name) in cells if place != at and labels.column(name) in (None, "title")]


def with_columns(view: View, units: list[Unit], carriers: tuple[Carrier, ...]) -> list[Unit]:
    """Return the units with what the columns of their rows say: criteria, dependencies, priority, status."""
    rows = [view.blocks[made.at] for made in carriers]
    return [_with_cells(unit, row) if row.kind is Kind.ROW else unit for unit, row in zip(units, rows, strict=True)]


def _with_cells(unit: Unit, row: Block) -> Unit:
    declares = "depends" in columns_of(row.header)
    deps = hints.field_deps(cell_of(row, "depends"), row.line, "table") if declares else unit.deps
    others = [
        f"{name}: {cell}"
        for name, cell in zip(row.header, row.cells, strict=False)
        if cell and clean(cell) not in (unit.title, unit.id)
    ]
    return replace(
        unit,
        criteria=tuple(_criteria(cell_of(row, "criteria"), row.line)),
        deps=tuple(deps),
        status=(_status(row) or unit.status) if unit.status is Status.OPEN else unit.status,
        priority=clean(cell_of(row, "priority")) or unit.priority,
        text="\n".join(others),
    )


def _criteria(cell: str, line: int) -> list[DraftCriterion]:
    parts = [part.strip().lstrip("-*•– ").strip() for part in _BREAKS.split(cell)]
    return [DraftCriterion(text=clean(part), line=line) for part in parts if part.strip("-–— ")]
