"""A numbered list whose items say which other numbers of it they depend on: the numbers are ids, the items units."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from santiago.planner import hints, ids
from santiago.planner.markdown.carriers import carrier
from santiago.planner.markdown.lists.model import UnitList
from santiago.planner.markdown.outline import Kind
from santiago.planner.source import Zone

if TYPE_CHECKING:
    from santiago.planner.markdown.lists.model import View


def chain_lists(view: View) -> list[UnitList]:
    """Return the list with the most such items; other lists of the document count in numbers of their own."""
    sections: dict[int, list[int]] = defaultdict(list)
    for index, block in enumerate(view.blocks):
        if block.kind is Kind.ITEM and block.level == 0 and block.box is None and block.marker[0].isdigit():
            sections[block.section].append(index)
    chains = [(linked, members) for members in sections.values() if (linked := _linked(view, members)) > 1]
    if not chains:
        return []
    _, members = max(chains, key=lambda chain: chain[0])
    carriers = tuple(
        carrier(view.source, index, found=ids.Found(_number(view, index), "number", view.blocks[index].text))
        for index in members
    )
    return [
        UnitList(
            rule=12,
            kind="chain",
            name="items of a dependency chain",
            carriers=carriers,
            explicit=False,
            keys=frozenset({"chain", "item", "numbered"}),
        )
    ]


def _linked(view: View, members: list[int]) -> int:
    """Return how many items depend on other items of the same list, by number."""
    numbers = {_number(view, index) for index in members}
    if len(numbers) < len(members) or view.source.zones[members[0]] == Zone.NEVER:
        return 0
    found = 0
    for index in members:
        targets = {dep.target for dep in hints.inline_deps(view.blocks[index]) if dep.carrier == "inline"}
        found += bool(targets) and targets <= numbers
    return found


def _number(view: View, index: int) -> str:
    return view.blocks[index].marker.rstrip(".):")
