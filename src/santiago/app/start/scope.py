"""Which chunks and stories one start may touch, as a person named them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.finding import find_story
from santiago.executor.selection import chunks_named
from santiago.executor.situation import Scope

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


def scope_of(plan: Plan, chunks: str | None, only: tuple[str, ...]) -> Scope:
    """Return what a start may touch."""
    stories = frozenset(find_story(plan, name).id for name in only)
    labels = [chunk.label for chunk in plan.chunks]
    named = frozenset(chunks_named(chunks, labels)) if chunks is not None else None
    return Scope(chunks=named, stories=stories if only else None)
