"""Ralph's prd.json and its forks: an object with a list of user stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.structured.records.document import read_tree
from santiago.planner.structured.tree import Array, Object

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    root = source.tree
    if not isinstance(root, Object) or not isinstance(root.get("userStories"), Array):
        return None
    return read_tree(root, "ralph-json", "json", source.options)
