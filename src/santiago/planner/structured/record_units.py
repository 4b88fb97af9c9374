"""Make a unit of one record, and decide what its dependencies mean: a unit of the document, another id, or prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner import commands, hints, ids
from santiago.planner.draft import Dep, Hint, Status, Unit, unique
from santiago.planner.hints import behind_files, listed_files
from santiago.planner.structured import record_words
from santiago.planner.structured.record_criteria import Criteria, criteria_in, criteria_of
from santiago.planner.structured.tree import (
    Array,
    Field,
    Node,
    Object,
    Scalar,
    as_bool,
    as_text,
    flat,
    fold_key,
    items,
    objects,
    spoken,
)


@lean(eq=False)
class Group:
    """A phase, epic or other group of units."""

    label: str
    line: int
    names: tuple[str, ...] = ()
    """The names that a dependency may use for it."""
    node: Object | None = None
    parent: Group | None = None
    is_chunk: bool = True
    """False for a parent story or feature: its parts belong together but are no stage of the plan."""


@lean()
class Member:
    """One element of a list of units."""

    node: Node
    line: int
    key: str | None = None
    """Its key, if the units are entries of an object."""
    group: Group | None = None
    future: bool = False

    @property
    def last_line(self) -> int:
        """The last line on which one of its values begins."""
        inner = self.node.fields.values() if isinstance(self.node, Object) else ()
        return max([self.line, *(max(entry.line, entry.value.line) for entry in inner)])


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
    name, title = id_of(record), title_of(record)
    criteria = _criteria(record, carrier)
    deps = mentions_of(record, carrier)
    taken = criteria.taken.union(record_words.DEPENDS if deps else ())
    files = files_of(record, carrier, taken)
    verify = commands_of(record, carrier, taken)
    for child in _children(record):
        files += files_of(child, carrier, set())
        verify.add(commands_of(child, carrier, set()))
    said_files, said_commands = text_hints(record)
    place = name.field or title.field
    return Unit(
        id=member.key or name.text or None,
        title=title.text or name.text or member.key or "",
        line=member.line if member.key is not None or place is None else place.line,
        text=text_of(record, title, taken.union(record_words.CHUNK, record_words.TAGS)),
        status=_status(member, record),
        chunk=chunk_of(record, record_words.CHUNK),
        tags=tuple(tags_of(record)),
        priority=record.text(*record_words.PRIORITY) or None,
        role="scientist" if record.text(*record_words.ROLE).lower() == "scientist" else "developer",
        criteria=tuple(criteria.found),
        deps=deps,
        covers=tuple(_covers(record, carrier)) if criteria.taken.isdisjoint(record_words.COVERS) else (),
        files=unique((*files, *said_files)),
        verify=unique((*criteria.verify, *verify.taken, *said_commands)),
        unread=unique(verify.left),
    )


def _status(member: Member, record: Object) -> Status:
    status = status_of(record)
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
    return [each for entry in record.pick(record_words.CHILDREN) for each in objects(entry.value)]


def _covers(record: Object, carrier: str) -> list[Hint]:
    """Return the requirements that a record says it covers: ids, not sentences."""
    named = [(as_text(each), each.line) for entry in record.pick(record_words.COVERS) for each in items(entry.value)]
    found = [(text, line) for text, line in named if len(text.split()) == 1 and any(map(str.isdigit, text))]
    return [Hint(value=text, line=line, carrier=carrier) for text, line in found]


_TARGET = ("dependsOnId", "depends_on_id", "id", "task", "taskId", "story", "storyId", "target", "ref", "name", "title")
_NOT_BLOCKING = frozenset(
    record_words.keys(
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
        kind = fold_key(each.text("type", "kind", "relation")) if isinstance(each, Object) else ""
        if text and kind not in _NOT_BLOCKING:
            found.setdefault(text, Dep(target=text, line=each.line, carrier=carrier))
    return tuple(found.values())


def _named(record: Object) -> Iterator[Node]:
    for entry in record.fields.values():
        if fold_key(entry.key) not in record_words.DEPENDS:
            continue
        if isinstance(entry.value, Object) and not any(map(entry.value.text, _TARGET)):
            for inner in entry.value.fields.values():
                if fold_key(inner.key) in record_words.DEPENDS_INSIDE:
                    yield from items(inner.value)
        else:
            yield from items(entry.value)


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


TITLE_LENGTH = 160
"""A title made of a longer text is cut to this many characters."""

WEAK_ID_LENGTH = 40
"""The most characters of an id in a field that is not called `id`, such as `key`."""

_PLAIN_TEXT = frozenset({"description", "desc", "details", "text", "body", "story", "userstory"})
_NO_TEXT = record_words.HOUSEKEEPING.union(
    record_words.ID,
    record_words.DONE_FLAGS,
    record_words.STATUS,
    record_words.PRIORITY,
    record_words.ORDER,
    record_words.OPTIONAL,
)
_SHAPED = frozenset((*record_words.COMMANDS_IF_SHAPED, "command", "commands", "run", "qualitygates"))
_COMMANDS = frozenset(record_words.COMMANDS) - _SHAPED
_FILES = frozenset(record_words.FILES)
_INSIDE = frozenset(record_words.CRITERIA_INSIDE)
_ORDERING = (*record_words.ORDER, *record_words.PRIORITY)
_NO_SENTENCES = _NO_TEXT | _COMMANDS | _INSIDE


class Said(NamedTuple):
    """A text of a record, and the field that it comes from."""

    text: str
    field: Field | None


def id_of(record: Object) -> Said:
    """Return the id as written. A `number` or `key` counts only if there is no `id`."""
    if entry := record.said(record_words.ID):
        return Said(as_text(entry.value), entry)
    for entry in record.pick(record_words.WEAK_ID):
        text = as_text(entry.value)
        if len(text.split()) == 1 and len(text) <= WEAK_ID_LENGTH:
            return Said(text, entry)
    return Said("", None)


def title_of(record: Object) -> Said:
    """Return the title, else the first line of the text that tells most about the unit."""
    if entry := record.said(record_words.TITLE):
        return Said(" ".join(as_text(entry.value).split()), entry)
    for entry in record.pick(record_words.WEAK_TITLE):
        if text := as_text(entry.value):
            return Said(_cut(text), entry)
    return Said("", None)


def _cut(text: str) -> str:
    """Return the first line; a long one is cut after a sentence or between words."""
    line = next((part.strip() for part in text.split("\n") if part.strip()), "")
    if len(line) <= TITLE_LENGTH:
        return line
    sentence = line.find(". ")
    if 20 < sentence <= TITLE_LENGTH:
        return line[:sentence]
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0] + " …"


def status_of(record: Object) -> Status:
    """Return the status that a record claims. A flag `done: false` outweighs the word `done`."""
    flags = [flag for entry in record.pick(record_words.DONE_FLAGS) if (flag := as_bool(entry.value)) is not None]
    said = status_of_word(record.text(*record_words.STATUS))
    if said is Status.DROPPED:
        return said
    if (
        said is Status.FUTURE
        or fold_key(record.text("priority", "moscow").replace("'", "")) in record_words.NEVER_WORDS
    ):
        return Status.FUTURE
    if any(flags) or (said is Status.DONE and not flags):
        return Status.DONE
    return Status.OPTIONAL if as_bool(record.get(*record_words.OPTIONAL)) else Status.OPEN


def status_of_word(word: str) -> Status | None:
    """Return the status that a word claims, or None."""
    folded = fold_key(word.strip("✅☑✔️ ").replace("'", "").replace("’", ""))
    return next((status for status, known in record_words.STATUS_WORDS.items() if folded in known), None)


def order_of(record: Object) -> float | None:
    """Return the number that gives the record its place in the order, or None."""
    for entry in record.pick(_ORDERING):
        text = as_text(entry.value)
        if text.removeprefix("-").replace(".", "", 1).isdecimal() and len(text) < 16:
            return float(text)
    return None


def chunk_of(record: Object, keys: tuple[str, ...]) -> str | None:
    """Return the label of the group that a record names: a text, a number (`Phase 2`), or the title of an object."""
    for entry in record.pick(keys):
        value = entry.value
        text = value.text("title", "name", "id") if isinstance(value, Object) else as_text(value)
        if text:
            return f"{spoken(entry.key).capitalize()} {text}" if text.isdecimal() else " ".join(text.split())
    return None


def files_of(record: Object, carrier: str, taken: set[str]) -> list[Hint]:
    """Return the files in fields for files. Fields that hold nothing else are added to `taken`."""
    found: list[Hint] = []
    for entry in record.fields.values():
        key = fold_key(entry.key)
        if key not in _FILES:
            continue
        scalars = _scalars(entry.value)
        read = (lambda text: behind_files(text).paths) if "file" in key else listed_files
        named = [(path, node.line) for node in scalars for path in read(node.text)]
        found += [Hint(value=path, line=line, carrier=carrier) for path, line in named]
        if len(named) >= len(scalars):
            taken.add(key)
    return found


def commands_of(record: Object, carrier: str, taken: set[str]) -> commands.Found:
    """Return the commands in fields for commands. A field that often holds prose counts only if it is plainly a command."""
    found = commands.Found([], [])
    for entry in record.fields.values():
        key, value, inner = fold_key(entry.key), entry.value, list[Node]()
        if key in _INSIDE and isinstance(value, Object):
            inner = [each.value for each in value.fields.values() if fold_key(each.key) in record_words.COMMANDS]
        elif key in _COMMANDS:
            inner = [value]
            taken.add(key)
        elif key in _SHAPED:
            for hint in _hints(value, carrier):
                found.add(commands.in_prose_field(hint.value, hint.line, carrier))
        for hint in (hint for node in inner for hint in _hints(node, carrier)):
            (found.left if commands.proves_nothing(hint.value) else found.taken).append(hint)
    return found


def _hints(node: Node, carrier: str) -> list[Hint]:
    return [Hint(value=text, line=each.line, carrier=carrier) for each in _scalars(node) if (text := as_text(each))]


def _scalars(node: Node) -> list[Scalar]:
    """Return the texts inside a value, in order. Of an object only its path or command counts, if it has one."""
    found: list[Scalar] = []
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, Scalar):
            if as_text(each):
                found.append(each)
        elif isinstance(each, Array):
            stack += reversed(each.items)
        else:
            named = each.get("path", "file", "command", "run", "cmd")
            stack += [named] if named is not None else [entry.value for entry in reversed(each.fields.values())]
    return found


def text_of(record: Object, title: Said, taken: set[str]) -> str:
    """Return what the record says besides the fields in `taken`: first its description, then the other fields with their names."""
    told = title.field.key if title.field and title.text == as_text(title.field.value) else ""
    silent = taken | _NO_TEXT
    left = [entry for key, entry in record.fields.items() if key != told and fold_key(key) not in silent]
    plain, named = [], []
    for entry in left:
        shown = flat(entry.value)
        scalar = isinstance(entry.value, Scalar)
        if scalar and fold_key(entry.key) in _PLAIN_TEXT:
            plain.append(shown)
        elif shown:
            glue = " " if scalar and "\n" not in shown else "\n"
            named.append(f"{spoken(entry.key).capitalize()}:{glue}{shown}")
    return "\n".join((*filter(None, plain), *named))


def text_hints(record: Object) -> tuple[list[Hint], list[Hint]]:
    """Return the files and the commands that the sentences of a record name."""
    files: list[Hint] = []
    said: list[Hint] = []
    for entry in record.fields.values():
        if fold_key(entry.key) in _NO_SENTENCES:
            continue
        for node in _scalars(entry.value):
            files += [Hint(value=path, line=node.line, carrier="text") for path in hints.files_in(node.text)]
            said += commands.commands_in(node.text, node.line)
    return files, said


def tags_of(record: Object) -> list[str]:
    entries = record.pick(record_words.TAGS)
    return [text for entry in entries for each in items(entry.value) if (text := as_text(each))]
