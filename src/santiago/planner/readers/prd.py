"""The general Markdown PRD: units by id, or headings and numbered items that own acceptance criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.markdown.lists.choice import choose

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source

RULES = frozenset({8, 9, 10, 12})


def read(source: Source) -> Document | None:
    choice = choose(source)
    return choice.document("prd") if choice is not None and choice.taken.rule in RULES else None
