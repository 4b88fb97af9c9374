"""Make a unit of one record: its criteria, its fields, and what its dependencies mean: a unit of the document, another id, or prose.

Criteria are strings, objects, blocks of text or Given/When/Then, in many possible fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner import commands, hints, ids, words
from santiago.planner.draft import Dep, DraftCriterion, Hint, Status, Unit, unique
from santiago.planner.hints import behind_files, listed_files
from santiago.planner.structured import record_words
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
    text_lines,
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
    place, status = name.field or title.field, status_of(record)
    return Unit(
        id=member.key or name.text or None,
        title=title.text or name.text or member.key or "",
        line=member.line if member.key is not None or place is None else place.line,
        text=text_of(record, title, taken.union(record_words.CHUNK, record_words.TAGS)),
        status=Status.FUTURE if member.future and status in (Status.OPEN, Status.OPTIONAL) else status,
        chunk=chunk_of(record, record_words.CHUNK),
        tags=tuple(
            as_text(tag) for entry in record.pick(record_words.TAGS) for tag in items(entry.value) if as_text(tag)
        ),
        priority=record.text(*record_words.PRIORITY) or None,
        role="scientist" if record.text(*record_words.ROLE).lower() == "scientist" else "developer",
        criteria=tuple(criteria.found),
        deps=deps,
        covers=tuple(_covers(record, carrier)) if criteria.taken.isdisjoint(record_words.COVERS) else (),
        files=unique((*files, *said_files)),
        verify=unique((*criteria.verify, *verify.taken, *said_commands)),
        unread=unique(verify.left),
    )


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
    priority = fold_key(record.text("priority", "moscow").replace("'", ""))
    if said is Status.DROPPED:
        return said
    if said is Status.FUTURE or priority in record_words.NEVER_WORDS:
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


# Criteria

_MARKS = pattern(r"^\s*(?:[-*•+]\s+)?(?:\\?\[[ xX~\-]?\\?\]\s*)?(?:\d{1,3}[.)]\s+)?")
_BULLET = pattern(r"^\s*(?:[-*•+]\s+|\\?\[[ xX~\-]\\?\]\s|\d{1,3}[.)]\s+)")
_OWN_ID = pattern(r"(?i)^[*_`\[(]*((?:AC|CA|KA|CS|AK)[-_ ]?\d+(?:[.\-]\d+)*)[*_`\])]*\s*[:：.)\-–—]+\s*[*_]*\s*")
_TEXT = record_words.keys(
    "text description criterion criteria statement title name requirement condition expectation assertion scenario"
)
_SILENT = record_words.HOUSEKEEPING.union(
    record_words.keys("id lastRun type priority verified"), record_words.DONE_FLAGS, record_words.STATUS
)
_IDS = ("id", "key", "number", "ref")
_TIERS = tuple(frozenset(tier) for tier in record_words.CRITERIA)
_STATED = _TIERS[0] | _TIERS[1]


@lean()
class Criteria:
    """The criteria of one record, the commands in them, and the names of the fields that they came from."""

    found: list[DraftCriterion] = field(default_factory=list)
    verify: list[Hint] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)


def criteria_of(record: Object, carrier: str) -> Criteria:
    """Return the criteria of a record: those of the first tier of fields that has any, else the record's own Given/When/Then."""
    gathered = Criteria()
    for tier in _TIERS:
        for entry in _entries(record):
            if fold_key(entry.key) in tier:
                _field(entry, carrier, gathered)
        if gathered.found:
            return gathered
    # The id and title belong to the unit, not to the criterion.
    if (own := given_when_then(record, titled=False)) is not None:
        gathered.found.append(own)
        gathered.taken.update(record_words.GIVEN_WHEN_THEN)
    return gathered


def _entries(record: Object) -> Iterator[Field]:
    """Yield the entries of a record, and the entries of objects in it that may hold criteria."""
    for entry in record.fields.values():
        yield entry
        if fold_key(entry.key) in record_words.CRITERIA_INSIDE and isinstance(entry.value, Object):
            yield from entry.value.fields.values()


def has_criteria(record: Object) -> bool:
    """Tell whether a record has a non-empty field of the first two tiers."""
    return any(fold_key(entry.key) in _STATED and items(entry.value) for entry in record.fields.values())


def stated_criteria(record: Object) -> list[DraftCriterion]:
    """Return the criteria in fields of the first two tiers. For a group, the later tiers are its parts."""
    stated = [entry for entry in record.fields.values() if fold_key(entry.key) in _STATED]
    return [each for entry in stated for each in criteria_in(entry.value, entry.line, "").found]


def criteria_in(node: Node, line: int, carrier: str) -> Criteria:
    gathered = Criteria()
    _field(Field("", line, node), carrier, gathered)
    return gathered


def _field(entry: Field, carrier: str, into: Criteria) -> None:
    value, start = entry.value, len(into.found)
    if isinstance(value, Scalar):
        into.found += _from_block(value)
    elif isinstance(value, Array):
        _element(value, carrier, into)
        into.found[start:] = _joined(into.found[start:])
    elif (own := given_when_then(value)) is not None:
        into.found.append(own)
    else:
        for inner in value.fields.values():
            _entry(inner, carrier, into)
    if len(into.found) > start or into.verify:
        into.taken.add(fold_key(entry.key))


def _entry(entry: Field, carrier: str, into: Criteria) -> None:
    """Read one entry of an object of criteria: `AC-1: text`, or a group of further criteria."""
    if isinstance(entry.value, Scalar):
        text = as_text(entry.value)
        if not text or entry.value.kind == "bool":
            text = entry.key
        own = bool(re.match(r"[A-Za-z]{0,4}[-_ ]?\d+(?:[.\-]\d+)*$", entry.key))
        shown = text if own or text == entry.key else f"{entry.key}: {text}"
        into.found.append(_criterion(shown, entry.line, entry.key if own else None))
    else:
        for node in items(entry.value):
            _element(node, carrier, into)


def _element(node: Node, carrier: str, into: Criteria) -> None:
    """Read one element of a list of criteria. Nested lists are read element by element."""
    if isinstance(node, Array):
        for each in node.items:
            _element(each, carrier, into)
    elif isinstance(node, Object):
        _object(node, carrier, into)
    elif text := as_text(node):
        into.found.append(_criterion(text, node.line))


def _object(node: Object, carrier: str, into: Criteria) -> None:
    """Read one criterion that is an object: `{id, text, testCommand}`, `{given, when, then}`, `{AC-1: text}`."""
    run = _commands(node, carrier)
    into.verify += run
    if (own := given_when_then(node)) is not None:
        into.found.append(own)
        return
    said, name = node.said(_TEXT), node.said(_IDS)
    if len(node.fields) == 1 and not (said or name or run):
        _entry(next(iter(node.fields.values())), carrier, into)
        return
    text = _object_text(node, said) or "; ".join(f"{node.text('type') or 'run'}: {hint.value}" for hint in run)
    shown = node.text(*_IDS)
    if text or shown:
        into.found.append(_criterion(text or shown, (name or said or node).line, shown or None))


def _commands(node: Object, carrier: str) -> list[Hint]:
    tests = node.text("type") == "test_passes"
    known, every = record_words.COMMANDS, node.fields.values()
    named = [entry for entry in every if fold_key(entry.key) in known or (tests and entry.key != "type")]
    each = [(as_text(each), each.line) for entry in named for each in items(entry.value)]
    return [Hint(value=text, line=line, carrier=carrier) for text, line in each if text]


def _object_text(node: Object, said: Field | None) -> str:
    """Return the text of a criterion that is an object, with its further fields in brackets."""
    silent = _SILENT | set(record_words.COMMANDS)
    more = [
        f"{entry.key}: {' '.join(shown.split())}"
        for entry in node.fields.values()
        if entry is not said and fold_key(entry.key) not in silent and (shown := flat(entry.value))
    ]
    if said is None:
        kind = node.text("type")
        return ": ".join(filter(None, (kind, "; ".join(more)))) if more else ""
    return as_text(said.value) + (f" ({'; '.join(more)})" if more else "")


def given_when_then(node: Object, *, titled: bool = True) -> DraftCriterion | None:
    """Return the criterion of an object with at least two of given, when and then; else None."""
    parts = [(key, entry) for key in record_words.GIVEN_WHEN_THEN if (entry := node.field(key)) and items(entry.value)]
    if len(parts) < 2:
        return None
    texts = [[" ".join(flat(each).split()) for each in items(entry.value)] for _, entry in parts]
    told = [", and ".join(filter(None, each)) for each in texts]
    said = " ".join(f"{key.capitalize()} {text}" for (key, _), text in zip(parts, told, strict=True))
    if not titled:
        return DraftCriterion(text=said, line=parts[0][1].line)
    title, place = node.text("scenario", "title", "name"), node.field("id") or parts[0][1]
    return DraftCriterion(text=f"{title}: {said}" if title else said, line=place.line, id=node.text("id") or None)


def _from_block(node: Scalar) -> list[DraftCriterion]:
    """Read a text of criteria: one per bullet, else one per line; a single line is split at semicolons."""
    lines = [(text, line) for text, line in text_lines(node) if text.strip()]
    if not lines or node.kind == "null":
        return []
    if len(lines) == 1:
        text, line = lines[0]
        return [_criterion(part, line) for part in text.split(";") if part.strip(" .")]
    return _joined(_by_line(lines))


def _by_line(lines: list[tuple[str, int]]) -> list[DraftCriterion]:
    bulleted = any(_BULLET.match(text) for text, _ in lines)
    found: list[DraftCriterion] = []
    for text, line in lines:
        if bulleted and found and not _BULLET.match(text):
            found[-1] = replace(found[-1], text=f"{found[-1].text} {text.strip()}")
        else:
            found.append(_criterion(text, line))
    return found


def _joined(found: list[DraftCriterion]) -> list[DraftCriterion]:
    """Join Given, When and Then if each is an element of its own."""
    joined: list[DraftCriterion] = []
    open_ = False
    for criterion in found:
        text = criterion.text
        if open_ and (words.THEN.match(text) or (words.WHEN.match(text) and not words.OUTCOME.search(joined[-1].text))):
            joined[-1] = replace(joined[-1], text=f"{joined[-1].text} {text}")
        else:
            joined.append(criterion)
            open_ = bool(words.GIVEN.match(text)) and not words.OUTCOME.search(text)
    return joined


def _criterion(raw: str, line: int, name: str | None = None) -> DraftCriterion:
    text = " ".join(_MARKS.sub("", raw, count=1).split())
    if name is None and (own := _OWN_ID.match(text)) and len(text) > own.end():
        name, text = own[1], text[own.end() :]
    return DraftCriterion(text=text, line=line, id=name)
