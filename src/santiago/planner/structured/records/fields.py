"""The plain fields of a record: id, title, status, order, files, commands, and the remaining text."""

from __future__ import annotations

from typing import NamedTuple

from santiago.planner import commands, hints
from santiago.planner.draft import Hint, Status
from santiago.planner.hints import behind_files, listed_files
from santiago.planner.structured.records import vocabulary
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
    spoken,
)

TITLE_LENGTH = 160
"""A title made of a longer text is cut to this many characters."""

WEAK_ID_LENGTH = 40
"""The most characters of an id in a field that is not called `id`, such as `key`."""

_PLAIN_TEXT = frozenset({"description", "desc", "details", "text", "body", "story", "userstory"})
_NO_TEXT = vocabulary.HOUSEKEEPING.union(
    vocabulary.ID, vocabulary.DONE_FLAGS, vocabulary.STATUS, vocabulary.PRIORITY, vocabulary.ORDER, vocabulary.OPTIONAL
)
_SHAPED = frozenset((*vocabulary.COMMANDS_IF_SHAPED, "command", "commands", "run", "qualitygates"))
_COMMANDS = frozenset(vocabulary.COMMANDS) - _SHAPED
_FILES = frozenset(vocabulary.FILES)
_INSIDE = frozenset(vocabulary.CRITERIA_INSIDE)
_ORDERING = (*vocabulary.ORDER, *vocabulary.PRIORITY)
_NO_SENTENCES = _NO_TEXT | _COMMANDS | _INSIDE


class Said(NamedTuple):
    """A text of a record, and the field that it comes from."""

    text: str
    field: Field | None


def id_of(record: Object) -> Said:
    """Return the id as written. A `number` or `key` counts only if there is no `id`."""
    if entry := record.said(vocabulary.ID):
        return Said(as_text(entry.value), entry)
    for entry in record.pick(vocabulary.WEAK_ID):
        text = as_text(entry.value)
        if len(text.split()) == 1 and len(text) <= WEAK_ID_LENGTH:
            return Said(text, entry)
    return Said("", None)


def title_of(record: Object) -> Said:
    """Return the title, else the first line of the text that tells most about the unit."""
    if entry := record.said(vocabulary.TITLE):
        return Said(" ".join(as_text(entry.value).split()), entry)
    for entry in record.pick(vocabulary.WEAK_TITLE):
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
    flags = [flag for entry in record.pick(vocabulary.DONE_FLAGS) if (flag := as_bool(entry.value)) is not None]
    said = status_of_word(record.text(*vocabulary.STATUS))
    if said is Status.DROPPED:
        return said
    if said is Status.FUTURE or fold_key(record.text("priority", "moscow").replace("'", "")) in vocabulary.NEVER_WORDS:
        return Status.FUTURE
    if any(flags) or (said is Status.DONE and not flags):
        return Status.DONE
    return Status.OPTIONAL if as_bool(record.get(*vocabulary.OPTIONAL)) else Status.OPEN


def status_of_word(word: str) -> Status | None:
    """Return the status that a word claims, or None."""
    folded = fold_key(word.strip("✅☑✔️ ").replace("'", "").replace("’", ""))
    return next((status for status, known in vocabulary.STATUS_WORDS.items() if folded in known), None)


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
            inner = [each.value for each in value.fields.values() if fold_key(each.key) in vocabulary.COMMANDS]
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
    entries = record.pick(vocabulary.TAGS)
    return [text for entry in entries for each in items(entry.value) if (text := as_text(each))]
