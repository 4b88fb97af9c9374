"""How the draft of a document accounts for its source: the lines that each requirement comes from, and those left out by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.patterns import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.plan import Plan

SECTION = "Left out of the plan"
"""The heading of the section that names what no requirement comes from."""
MOST = 10
"""How many lines one complaint names."""
_SOURCE = pattern(r"[*_\s]*source(?: lines?)?[*_]*\s*:[*_\s]*(.+)", re.IGNORECASE)
_ITEM = pattern(r"\s*[-*]\s+(?:lines?\s+)?([\d\s,–-]+?)\s*[:.]\s*(.*)", re.IGNORECASE)
_RANGE = pattern(r"(\d{1,6})(?:\s*(?:-|–|to)\s*(\d{1,6}))?")
_NO_TEXT = pattern(r"\s*(?:#{1,6}\s.*|[-*_=|:\s]*)$")
"""A heading, a rule or a blank line, which needs no account."""


@record
class Sources:
    """Which lines of its source a draft uses, and which it leaves out."""

    used: tuple[tuple[str, str], ...]
    """(the requirement, the lines as they were written)."""
    left: tuple[tuple[str, str], ...]
    """(the lines as they were written, why)."""


def sources(text: str, plan: Plan) -> Sources:
    """Return what a draft says about its source."""
    stories = sorted((story.origin.line, story.origin.id or story.title) for story in plan.stories)
    used, left, leaving = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            leaving = line.strip("# ").casefold() == SECTION.casefold()
        elif leaving and (item := _ITEM.match(line)):
            left.append((item[1].strip(), item[2].strip()))
        elif (found := _SOURCE.fullmatch(line)) and (above := [name for at, name in stories if at <= number]):
            used.append((above[-1], found[1].strip()))
    return Sources(used=tuple(used), left=tuple(left))


def faults(text: str, plan: Plan, source: str) -> Iterator[str]:
    """Yield what is missing in the account that a draft gives of its source."""
    found, lines = sources(text, plan), source.rstrip("\n").split("\n")
    names = {name for name, _ in found.used}
    for story in plan.stories:
        name = story.origin.id or story.title
        if name not in names:
            yield f"{name}: no `**Source:**` with the lines of the document that it comes from"
    taken: set[int] = set()
    for said in (*(said for _, said in found.used), *(said for said, _ in found.left)):
        numbers = _numbers(said)
        taken |= numbers
        if not numbers or max(numbers) > len(lines):
            yield f"`{said}` names no lines of the document, which has {len(lines)}"
    yield from (f"lines {said} are left out without a reason" for said, why in found.left if not why)
    lost = [number for number, line in enumerate(lines, 1) if number not in taken and not _NO_TEXT.match(line)]
    if lost:
        more = f" and {len(lost) - MOST} more" if len(lost) > MOST else ""
        shown = ", ".join(map(str, lost[:MOST]))
        yield f'no requirement comes from line {shown}{more} of the document, and "{SECTION}" does not name it'


def _numbers(said: str) -> set[int]:
    """Return the numbers in a text like `3, 5-8`."""
    ends = [(int(found[1]), int(found[2] or found[1])) for found in _RANGE.finditer(said)]
    return {number for first, last in ends for number in range(first, min(last, first + 100_000) + 1)}
