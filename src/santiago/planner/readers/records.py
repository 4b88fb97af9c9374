"""JSON lists of stories, tasks, features or requirements in any of the shapes that tools (ralph) and people give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.planner.structured.records.document import read_tree
from santiago.planner.structured.tree import Array, Object

if TYPE_CHECKING:
    from santiago.planner.draft import Document
    from santiago.planner.source import Source


def read(source: Source) -> Document | None:
    root = source.tree
    ralph = isinstance(root, Object) and isinstance(root.get("userStories"), Array)
    return read_tree(root, "ralph-json" if ralph else "json", "json", source.options)
