"""Make a unit of one record."""

from __future__ import annotations

from dataclasses import replace

from santiago.planner import hints, ids
from santiago.planner.draft import Hint, Status, Unit, unique
from santiago.planner.structured.records import fields, vocabulary
from santiago.planner.structured.records.criteria import Criteria, criteria_in, criteria_of
from santiago.planner.structured.records.deps import mentions_of
from santiago.planner.structured.records.lists import Member
from santiago.planner.structured.tree import Object, as_text, flat, items, objects


def gather(member: Member, carrier: str) -> Unit:
    """Return the unit that one element of a list defines. Its dependencies are still as written."""
    if isinstance(member.node, Object):
        return _record(member, member.node, carrier)
    text = flat(member.node)
    lead = ids.lead(text) if member.key is None else None
    name, title = (lead.id, lead.rest) if lead and lead.kind == "prefix" and lead.rest else (member.key, text)
    files = tuple(Hint(value=path, line=member.line, carrier="text") for path in hints.files_in(text))
    return Unit(
        id=name,
        title=" ".join(title.split()) or name or "",
        line=member.line,
        status=Status.FUTURE if member.future else Status.OPEN,
        files=files,
    )


def _record(member: Member, record: Object, carrier: str) -> Unit:
    name, title = fields.id_of(record), fields.title_of(record)
    criteria = _criteria(record, carrier)
    deps = mentions_of(record, carrier)
    taken = criteria.taken.union(vocabulary.DEPENDS if deps else ())
    files = fields.files_of(record, carrier, taken)
    verify = fields.commands_of(record, carrier, taken)
    for child in _children(record):
        files += fields.files_of(child, carrier, set())
        verify.add(fields.commands_of(child, carrier, set()))
    said_files, said_commands = fields.text_hints(record)
    place = name.field or title.field
    return Unit(
        id=member.key or name.text or None,
        title=title.text or name.text or member.key or "",
        line=member.line if member.key is not None or place is None else place.line,
        text=fields.text_of(record, title, taken.union(vocabulary.CHUNK, vocabulary.TAGS)),
        status=_status(member, record),
        chunk=fields.chunk_of(record, vocabulary.CHUNK),
        tags=tuple(fields.tags_of(record)),
        priority=record.text(*vocabulary.PRIORITY) or None,
        role="scientist" if record.text(*vocabulary.ROLE).lower() == "scientist" else "developer",
        criteria=tuple(criteria.found),
        deps=deps,
        covers=tuple(_covers(record, carrier)) if criteria.taken.isdisjoint(vocabulary.COVERS) else (),
        files=unique((*files, *said_files)),
        verify=unique((*criteria.verify, *verify.taken, *said_commands)),
        unread=unique(verify.left),
    )


def _status(member: Member, record: Object) -> Status:
    status = fields.status_of(record)
    return Status.FUTURE if member.future and status in (Status.OPEN, Status.OPTIONAL) else status


def _criteria(record: Object, carrier: str) -> Criteria:
    """Return the record's own criteria, else those of its parts, else the sentences under `requirements`."""
    found = criteria_of(record, carrier)
    if found.found:
        return found
    for child in _children(record):
        inner = criteria_of(child, carrier)
        found.found += inner.found
        found.verify += inner.verify
    if found.found:
        return found
    entry = record.field("requirements")
    if entry is not None and not _covers(record, carrier):
        inner = criteria_in(entry.value, entry.line, carrier)
        return replace(inner, taken={"requirements"}) if inner.found else found
    return found


def _children(record: Object) -> list[Object]:
    return [each for entry in record.pick(vocabulary.CHILDREN) for each in objects(entry.value)]


def _covers(record: Object, carrier: str) -> list[Hint]:
    """Return the requirements that a record says it covers: ids, not sentences."""
    named = [(as_text(each), each.line) for entry in record.pick(vocabulary.COVERS) for each in items(entry.value)]
    found = [(text, line) for text, line in named if len(text.split()) == 1 and any(map(str.isdigit, text))]
    return [Hint(value=text, line=line, carrier=carrier) for text, line in found]
