"""User stories that are known by their sentence alone: "As a …, I want …"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.markdown.lists.choice import choose

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    choice = choose(source)
    return choice.document("user-stories") if choice is not None and choice.taken.rule == 13 else None
