"""The acceptance criteria of a record: strings, objects, blocks of text or Given/When/Then, in many possible fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner import words
from santiago.planner.draft import DraftCriterion, Hint
from santiago.planner.structured import record_words
from santiago.planner.structured.tree import (
    Array,
    Field,
    Node,
    Object,
    Scalar,
    as_text,
    flat,
    fold_key,
    items,
    text_lines,
)

_MARKS = pattern(r"^\s*(?:[-*•+]\s+)?(?:\\?\[[ xX~\-]?\\?\]\s*)?(?:\d{1,3}[.)]\s+)?")
_BULLET = pattern(r"^\s*(?:[-*•+]\s+|\\?\[[ xX~\-]\\?\]\s|\d{1,3}[.)]\s+)")
_OWN_ID = pattern(
    r"^[*_`\[(]*((?:AC|CA|KA|CS|AK)[-_ ]?\d+(?:[.\-]\d+)*)[*_`\])]*\s*[:：.)\-–—]+\s*[*_]*\s*", re.IGNORECASE
)
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
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, Array):
            stack += reversed(each.items)
        elif isinstance(each, Object):
            _object(each, carrier, into)
        elif text := as_text(each):
            into.found.append(_criterion(text, each.line))


def _object(node: Object, carrier: str, into: Criteria) -> None:
    """Read one criterion that is an object: `{id, text, testCommand}`, `{given, when, then}`, `{AC-1: text}`."""
    commands = _commands(node, carrier)
    into.verify += commands
    if (own := given_when_then(node)) is not None:
        into.found.append(own)
        return
    said, name = node.said(_TEXT), node.said(_IDS)
    if len(node.fields) == 1 and not (said or name or commands):
        _entry(next(iter(node.fields.values())), carrier, into)
        return
    text = _object_text(node, said) or "; ".join(f"{node.text('type') or 'run'}: {hint.value}" for hint in commands)
    shown = node.text(*_IDS)
    if text or shown:
        into.found.append(_criterion(text or shown, (name or said or node).line, shown or None))


def _commands(node: Object, carrier: str) -> list[Hint]:
    tests = node.text("type") == "test_passes"
    named = [
        entry
        for key, entry in node.fields.items()
        if fold_key(key) in record_words.COMMANDS or (tests and key != "type")
    ]
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
    said = " ".join(f"{key.capitalize()} {', and '.join(_lines(entry.value))}" for key, entry in parts)
    if not titled:
        return DraftCriterion(text=said, line=parts[0][1].line)
    title, place = node.text("scenario", "title", "name"), node.field("id") or parts[0][1]
    return DraftCriterion(text=f"{title}: {said}" if title else said, line=place.line, id=node.text("id") or None)


def _lines(node: Node) -> list[str]:
    return [text for each in items(node) if (text := " ".join(flat(each).split()))]


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
