"""Telling lists of work from other lists: sentences, records, records with ids, records that say how they are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner import ids
from santiago.planner.structured.records import vocabulary
from santiago.planner.structured.records.criteria import has_criteria
from santiago.planner.structured.tree import Object, as_text, fold_key, items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.planner.structured.tree import Node

NONE, STRINGS, RECORDS, NAMED, WORK = range(-1, 4)
"""How strongly a list is one of units; NONE is not at all."""

_SAYING = (*vocabulary.TITLE, *vocabulary.WEAK_TITLE)
_WORKING = frozenset(("steps", "assertions", "test")).union(
    vocabulary.DEPENDS, vocabulary.DONE_FLAGS, vocabulary.STATUS, vocabulary.PRIORITY
)


def strength_of(nodes: Sequence[Node], keyed: int) -> int:
    """Return the strength of a list whose elements these are, `keyed` of them under an id as their key."""
    records = [node for node in nodes if isinstance(node, Object)]
    half = len(nodes) / 2
    if not nodes or keyed + sum(map(_says, nodes)) < half or sum(map(_is_machine, records)) > half:
        return NONE
    if (working := sum(map(_is_work, records))) and working >= half:
        return WORK
    if keyed + sum(map(_has_id, records)) >= half:
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


def _says(node: Node) -> bool:
    """Tell whether a record or a text says something in words."""
    if not isinstance(node, Object):
        return is_sentence(as_text(node))
    said = [as_text(entry.value) for entry in node.pick(_SAYING)]
    wordy = any(len(text.split()) > 1 or (not text.isascii() and len(text) > 3) for text in said)
    return wordy or (_has_id(node) and any(said))


def _has_id(node: Object) -> bool:
    return any(as_text(entry.value) for entry in node.pick(vocabulary.ID))


def _is_work(node: Object) -> bool:
    return has_criteria(node) or any(fold_key(key) in _WORKING for key in node.fields)


def _is_machine(node: Object) -> bool:
    keys = {fold_key(key) for key in node.fields}
    return bool(keys & vocabulary.MACHINE) and not (
        has_criteria(node) or _has_id(node) or keys & {"description", "passes", "acceptance"}
    )
