"""Exports of issue trackers: `gh issue list --json`, one issue as JSON, and the CSV of Jira, Linear and others.

Each ticket is a unit. Its body is read as Markdown, for criteria, files and checks. Columns are recognised by their names.
Tickets keep the order of the file: a number tells when a ticket was written, not what comes first.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner import hints, ids
from santiago.planner.draft import Dep, Document, DocumentError, Status, Unit, by_key
from santiago.planner.findings import left_out, note
from santiago.planner.markdown.harvest import Carrier, Harvester
from santiago.planner.order import looks_ahead
from santiago.planner.sniff import columns_of, means
from santiago.planner.source import Source
from santiago.planner.structured.record_units import status_of_word
from santiago.planner.structured.tree import Object, as_text, items, objects

_BLOCKED = pattern(
    r"(?im)^[\W_]{0,8}(?:is )?(?:blocked by|depends on|depends|dependent on|requires|after)[\s:*_]{1,6}(\S.{0,300})$"
)
_NUMBER = pattern(r"#(\d{1,9})")
_DIGITS = pattern(r"\d")
_WIKI_HEAD = pattern(r"(?m)^h([1-6])\.[ \t]+")
_WIKI_ITEM = pattern(r"(?m)^#[ \t]+")
_EPICS = frozenset({"epic", "initiative", "milestone", "project"})


class Ticket(NamedTuple):
    """One ticket from any export."""

    line: int
    said: dict[str, str]
    """Texts by the meanings of columns; several texts of one meaning are joined."""

    def get(self, meaning: str) -> str:
        return self.said.get(meaning, "").strip()


def read(source: Source) -> Document | None:
    if source.looks_like == "csv":
        return _document(source, "tickets", "rows of CSV, by the names of their columns", _rows(source.text))
    records = objects(source.tree)
    named = all(each.text("number") and each.text("title") for each in records)
    if not named or not any(each.field("body", "state") for each in records):
        return None
    return _document(source, "issues", "issues with a number, a title and a body", map(_of_json, records))


def _rows(text: str) -> Iterator[Ticket]:
    separator, headers = columns_of(text) or (",", [])
    meanings = [means(header) for header in headers]
    rows = csv.reader((f"{row}\n" for row in text.lstrip("\n").split("\n")), delimiter=separator)
    line = 1 + len(text) - len(text.lstrip("\n"))
    before = 0
    try:
        for number, cells in enumerate(rows):
            at, before = line + before, rows.line_num
            if number and any(cell.strip() for cell in cells):
                yield Ticket(at, _joined(zip(meanings, cells, strict=False)))
    except csv.Error as error:
        raise DocumentError(rows.line_num, f"not readable as CSV: {error}", "Export the tickets again.") from None


def _joined(found: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    said = by_key((meaning, text) for meaning, text in found if meaning and text.strip())
    said |= {meaning: texts[:1] for meaning, texts in said.items() if meaning in ("id", "title")}
    return {meaning: ("\n\n" if meaning == "body" else ", ").join(texts) for meaning, texts in said.items()}


def _of_json(record: Object) -> Ticket:
    milestone = record.get("milestone")
    said = {
        "id": record.text("number"),
        "title": record.text("title"),
        "body": record.text("body"),
        "status": record.text("stateReason", "state_reason") or record.text("state", "status"),
        "chunk": milestone.text("title") if isinstance(milestone, Object) else "",
        "labels": ", ".join(
            each.text("name") if isinstance(each, Object) else as_text(each) for each in items(record.get("labels"))
        ),
    }
    entry = record.field("number")
    return Ticket(entry.line if entry else record.line, said)


def _document(source: Source, format_: str, evidence: str, tickets: Iterable[Ticket]) -> Document:
    found = list(tickets)
    held = {ids.fold(ticket.get("parent")) for ticket in found if ticket.get("parent")}
    epics = [ticket for ticket in found if ticket.get("kind").lower() in _EPICS]
    epics = [epic for epic in epics if not held.isdisjoint(map(ids.fold, (epic.get("id"), epic.get("title"))))]
    groups = {ids.fold(epic.get("id")): epic for epic in epics}
    work = [ticket for ticket in found if ids.fold(ticket.get("id")) not in groups]
    units = [replace(_unit(ticket, groups), rank=place) for place, ticket in enumerate(work)]
    if all(_DIGITS.search(unit.chunk or "") for unit in units):  # numbered milestones
        units.sort(key=lambda unit: ids.natural(unit.chunk or ""))
    if looks_ahead(units, [unit.chunk for unit in units]):
        units = [replace(unit, chunk=None) for unit in units]
    document = Document(format=format_, evidence=(f"{len(found)} {evidence}",), title=source.name, units=units)
    document.findings = list(left_out(units))
    for ticket in groups.values():
        says = f"{ticket.get('id')} {ticket.get('title')} holds other tickets, so it becomes a chunk and not a story"
        document.findings.append(note("context_list", ticket.line, says, "Nothing to do."))
    return document


def _unit(ticket: Ticket, groups: dict[str, Ticket]) -> Unit:
    body = ticket.get("body")
    if _WIKI_HEAD.search(body):
        body = _WIKI_ITEM.sub("1. ", _WIKI_HEAD.sub(lambda head: "#" * int(head[1]) + " ", body))
    read = _unit_from_body(ticket, body)
    labels = filter(None, map(str.strip, ticket.get("labels").split(",")))
    parent = groups.get(ids.fold(ticket.get("parent")))  # its epic; else its milestone or sprint is the chunk
    deps = {dep.target.lstrip("#"): dep for dep in (*_declared_deps(ticket), *read.deps) if dep.is_declared}
    return replace(
        read,
        id=ticket.get("id") or None,
        text=body,
        status=(status_of_word(said) or Status.OPEN) if (said := ticket.get("status")) else read.status,
        chunk=(parent.get("title") if parent else "") or ticket.get("chunk").partition(",")[0] or None,
        tags=tuple(labels),
        priority=ticket.get("priority") or read.priority,
        deps=tuple(deps.values()),
    )


def _unit_from_body(ticket: Ticket, body: str) -> Unit:
    """Return the unit that the body describes. All its lines are that of the ticket."""
    outline = Source(body).outline
    title = ticket.get("title") or ticket.get("id")
    read = Harvester(outline).unit(Carrier(at=-1, end=len(outline.blocks), title=title, line=ticket.line))
    placed: dict[str, Any] = {
        name: tuple(replace(one, line=ticket.line) for one in getattr(read, name))
        for name in ("criteria", "files", "verify", "unread", "deps")
    }
    return replace(read, covers=(), **placed)


def _declared_deps(ticket: Ticket) -> Iterator[Dep]:
    for name, sure in hints.named(ticket.get("depends")):
        yield Dep(target=name, line=ticket.line, carrier="table" if sure else "prose")
    for sentence in _BLOCKED.findall(ticket.get("body")):
        for number in _NUMBER.findall(sentence):
            yield Dep(target=number, line=ticket.line, carrier="field")
