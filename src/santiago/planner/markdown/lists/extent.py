"""Where a unit ends, and which group it belongs to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

from santiago.planner import words
from santiago.planner.markdown.carriers import chunk_of, label
from santiago.planner.markdown.harvest import Carrier
from santiago.planner.markdown.labels import split_label
from santiago.planner.markdown.lists.definitions import is_form
from santiago.planner.markdown.lists.model import View, opens_group
from santiago.planner.markdown.outline import Block, Kind


def extents(view: View, starts: list[int]) -> list[tuple[int, int]]:
    """Return (start, end) of each unit. No unit reaches into the next one.

    A heading has its section. A paragraph has what follows it in its section, up to the next group. An item has what is nested
    in it, and also what follows it if that begins with a criteria label, since many authors do not indent these.
    """
    pairs = []
    for at, after in zip(starts, [*starts[1:], len(view.blocks)], strict=False):
        limit = min(after, view.section_end(at))
        match view.blocks[at].kind:
            case Kind.HEADING:
                end = min(view.ends[at], after)
            case Kind.PARA:
                end = next((i for i in range(at + 1, limit) if opens_group(view.blocks[i])), limit)
            case Kind.ITEM if _label_follows(view, view.ends[at], limit) or _is_open_form(view, at):
                end = limit
            case _:
                end = min(view.ends[at], limit)
        pairs.append((at, max(end, at + 1)))
    return pairs


def _is_open_form(view: View, at: int) -> bool:
    """Tell whether an item is only an id and its fields follow it without being nested in it."""
    return view.ends[at] == at + 1 and is_form(view, at)


def _label_follows(view: View, at: int, limit: int) -> bool:
    """Tell whether the block directly behind an item is a criteria label outside all lists."""
    if at >= limit or view.blocks[at].kind is not Kind.PARA or view.blocks[at].parent >= 0:
        return False
    return view.criteria_before[at + 1] > view.criteria_before[at]


def grouped(view: View, carriers: list[Carrier]) -> list[Carrier]:
    """Return the carriers with their chunk: the phase or epic, else the section or bold label if one of these has several units."""
    explicit = [view.group_labels[carrier.at] or chunk_of(view.source, carrier.at) for carrier in carriers]
    near = _near_labels(view, carriers)
    sizes = Counter(near)
    several = len({name for name in near if name is not None}) > 1 and max(sizes.values(), default=0) > 1
    return [
        replace(carrier, chunk=chunk or (name if several else None))
        for carrier, chunk, name in zip(carriers, explicit, near, strict=True)
    ]


def _near_labels(view: View, carriers: list[Carrier]) -> list[str | None]:
    """Return for each unit the bold paragraph above it in its section, else the heading of its section."""
    labels = _bold_labels(view)
    found: list[str | None] = []
    for carrier in carriers:
        block = view.blocks[carrier.at]
        above = labels[carrier.at] if block.kind is not Kind.HEADING else -1
        if above >= 0:
            found.append(label(view.blocks[above].text))
        else:
            found.append(label(view.blocks[block.section].text) if block.section >= 0 else None)
    return found


@lru_cache(maxsize=1)
def _bold_labels(view: View) -> list[int]:
    """Return for each block the last bold paragraph before it in the same section that can name a group, or -1."""
    found, last, section = [], -1, -2
    for index, block in enumerate(view.blocks):
        if block.section != section or block.kind is Kind.HEADING:
            last, section = -1, index if block.kind is Kind.HEADING else block.section
        found.append(last)
        if _names_group(view, index, block):
            last = index
    return found


def _names_group(view: View, index: int, block: Block) -> bool:
    """Tell whether a paragraph is only bold words that are no label, such as `**Operations**`."""
    if block.kind is not Kind.PARA or block.parent >= 0 or len(block.lines) > 1 or not block.text.startswith("**"):
        return False
    parts = split_label(block.text)
    lead = view.source.leads[index]
    if parts is None or parts[1] or words.concept(parts[0]) is not None:
        return False
    return lead is None or lead.only_counts
