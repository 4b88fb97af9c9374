"""Telling lists of work from other lists: sentences, records, records with ids, records that say how they are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner import ids
from santiago.planner.structured.records import vocabulary
from santiago.planner.structured.records.criteria import has_criteria
from santiago.planner.structured.tree import Object, Scalar, as_text, fold_key, items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.planner.structured.tree import Node

NONE, STRINGS, RECORDS, NAMED, WORK = range(-1, 4)
"""How strongly a list is one of units; NONE is not at all."""

_SAYING = (*vocabulary.TITLE, *vocabulary.WEAK_TITLE)
_WORKING = frozenset(
    (
        *vocabulary.DEPENDS,
        *vocabulary.DONE_FLAGS,
        *vocabulary.STATUS,
        *vocabulary.PRIORITY,
        "steps",
        "assertions",
        "test",
    )
)


def strength_of(nodes: Sequence[Node], keyed: int) -> int:
    """Return the strength of a list whose elements these are, `keyed` of them under an id as their key."""
    records = [node for node in nodes if isinstance(node, Object)]
    texts = [as_text(node) for node in nodes if isinstance(node, Scalar)]
    half = len(nodes) / 2
    saying = sum(1 for node in records if _says(node)) + sum(1 for text in texts if is_sentence(text)) + keyed
    if not nodes or saying < half or sum(1 for node in records if _is_machine(node)) > half:
        return NONE
    working = sum(1 for node in records if _is_work(node))
    if working and working >= half:
        return WORK
    if keyed + sum(1 for node in records if _has_id(node)) >= half:
        return NAMED
    return RECORDS if len(records) >= half else STRINGS


def are_prefixed(nodes: Sequence[Node]) -> bool:
    """Tell whether half of the records have ids with a prefix, which only people and their tools give."""
    leads = [ids.lead(node.text(*vocabulary.ID)) for node in nodes if isinstance(node, Object)]
    return 2 * sum(1 for found in leads if found and found.kind == "prefix") >= len(nodes)


def is_record(node: Object) -> bool:
    """Tell whether an object says what it is about."""
    return any(items(entry.value) for entry in node.pick(_SAYING))


def is_sentence(text: str) -> bool:
    """Tell whether a text says something, or begins with an id."""
    found = ids.lead(text)
    named = found is not None and found.kind == "prefix" and bool(found.rest)
    return named or len(text.split()) > 2 or (not text.isascii() and len(text) > 6)


def _says(node: Object) -> bool:
    """Tell whether a record says something in words."""
    said = [as_text(entry.value) for entry in node.pick(_SAYING)]
    return any(len(text.split()) > 1 or (not text.isascii() and len(text) > 3) for text in said) or (
        _has_id(node) and any(said)
    )


def _has_id(node: Object) -> bool:
    return any(as_text(entry.value) for entry in node.pick(vocabulary.ID))


def _is_work(node: Object) -> bool:
    return has_criteria(node) or any(fold_key(key) in _WORKING for key in node.fields)


def _is_machine(node: Object) -> bool:
    keys = {fold_key(key) for key in node.fields}
    return bool(keys & vocabulary.MACHINE) and not (
        has_criteria(node) or _has_id(node) or keys & {"description", "passes", "acceptance"}
    )
