"""Which chunks and stories one start may touch, by the words of a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from santiago.app.finding import find_story
from santiago.contract.errors import Kind, SantiagoError
from santiago.executor.situation import Scope

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


def scope_of(plan: Plan, chunks: str | None, only: tuple[str, ...]) -> Scope:
    """Return what a start may touch; labels may contain any character, so an exact one wins over a range."""
    stories = frozenset(find_story(plan, name).id for name in only)
    labels = [chunk.label for chunk in plan.chunks]
    return Scope(chunks=frozenset(_chunk_range(chunks, labels)) if chunks else None, stories=stories if only else None)


def _chunk_range(text: str, labels: list[str]) -> list[str]:
    if text in labels:
        return [text]
    first, _, last = text.partition("..")
    places = [_chunk_place(part.strip(), labels) for part in (first, last or first)]
    low, high = min(places), max(places)
    return labels[low : high + 1]


def _chunk_place(text: str, labels: list[str]) -> int:
    if text in labels:
        return labels.index(text)
    if text.isdigit() and 1 <= int(text) <= len(labels):
        return int(text) - 1
    found = [number for number, label in enumerate(labels) if label.lower().startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    raise SantiagoError(
        Kind.USAGE, f"there is no chunk {text!r}", hint=f"There are {json.dumps(labels, ensure_ascii=False)}."
    )
