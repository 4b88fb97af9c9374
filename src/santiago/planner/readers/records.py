"""JSON lists of stories, tasks, features or requirements in any of the shapes that tools and people give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.structured.records.document import read_tree

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    return read_tree(source.tree, "json", "json", source.options)
