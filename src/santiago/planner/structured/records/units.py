"""Make a unit of one record, and decide what its dependencies mean: a unit of the document, another id, or prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from santiago.contract.patterns import pattern
from santiago.planner import hints, ids
from santiago.planner.draft import Dep, Hint, Status, Unit, unique
from santiago.planner.structured.records import fields, vocabulary
from santiago.planner.structured.records.criteria import Criteria, criteria_in, criteria_of
from santiago.planner.structured.records.lists import Member
from santiago.planner.structured.tree import Node, Object, as_text, flat, fold_key, items, objects


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


_TARGET = ("dependsOnId", "depends_on_id", "id", "task", "taskId", "story", "storyId", "target", "ref", "name", "title")
_NOT_BLOCKING = frozenset(
    vocabulary.keys(
        "related relatesTo discoveredFrom duplicates supersedes repliesTo tracks validates causedBy until approvedBy"
        " optional soft parentChild"
    )
)
"""Types of links that do not make one unit wait for the other."""
_TOKEN = pattern(r"#?\w[\w.\-~]*$")
_JOINED = pattern(r"[A-Za-z]+[-_.]\d|^#?\d|[A-Z]+\d")
_PLACEHOLDER = pattern(r"[A-Z]{1,6}-?[xX]{2,}$")


def mentions_of(record: Object, carrier: str) -> tuple[Dep, ...]:
    """Return what a record's dependency fields name, as written. `Resolver` decides later what each name means."""
    found: dict[str, Dep] = {}
    for each in _named(record):
        text = each.text(*_TARGET) if isinstance(each, Object) else as_text(each)
        if text and not _is_not_blocking(each):
            found.setdefault(text, Dep(target=text, line=each.line, carrier=carrier))
    return tuple(found.values())


def _named(record: Object) -> Iterator[Node]:
    for entry in record.fields.values():
        if fold_key(entry.key) not in vocabulary.DEPENDS:
            continue
        if isinstance(entry.value, Object) and not any(map(entry.value.text, _TARGET)):
            for inner in entry.value.fields.values():
                if fold_key(inner.key) in vocabulary.DEPENDS_INSIDE:
                    yield from items(inner.value)
        else:
            yield from items(entry.value)


def _is_not_blocking(node: Node) -> bool:
    return isinstance(node, Object) and fold_key(node.text("type", "kind", "relation")) in _NOT_BLOCKING


class Resolver:
    """Decides whether a name is a unit of this document, an id of another document, or a library or prose."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names: dict[str, str] = {}
        self.prefixes: set[str] = set()
        for spelling, target in names:
            self.names.setdefault(ids.fold(spelling), target)
            self.prefixes.add(_letters(target))

    def deps(self, mention: Dep) -> tuple[list[Dep], bool]:
        """Return the dependencies that a name declares, and whether all of it was understood."""
        text = mention.target
        if hints.says_nothing(text):
            return [], True
        if (known := self.names.get(ids.fold(text))) is not None:
            return [replace(mention, target=known)], True
        if _TOKEN.match(text):
            is_id = self.is_id(text)
            return [mention] if is_id else [], is_id
        names, sure = hints.targets(text)
        sure = sure or self.names.keys() >= set(map(ids.fold, names))
        found = [self.names.get(ids.fold(name), name) for name in names]
        mention = mention if sure else replace(mention, carrier="prose")
        return [replace(mention, target=name) for name in found], sure and bool(found)

    def is_id(self, token: str) -> bool:
        if _PLACEHOLDER.match(token):
            return True
        prefix = _letters(token)
        if prefix.upper() in ids.DENIED or not any(char.isdigit() for char in token):
            return False
        return prefix in self.prefixes or bool(_JOINED.search(token))


def _letters(identifier: str) -> str:
    found = re.match(r"[A-Za-z]*", identifier)
    return found[0].lower() if found else ""
