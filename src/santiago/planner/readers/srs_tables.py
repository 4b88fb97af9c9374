"""Requirements in tables: rows with an id, features with a priority, As-a tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.markdown.lists.choice import choose

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    choice = choose(source)
    return choice.document("requirement-tables") if choice is not None and choice.taken.rule == 11 else None
