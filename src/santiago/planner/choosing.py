"""Which of the lists in a document is the work. Markdown and structured documents are ranked by the same key."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, Self, TypeVar

from santiago.contract.plan import Offer
from santiago.planner.structured.tree import fold_key


class Evidence(IntEnum):
    """How a list was found. A higher value is stronger evidence that its elements are the units."""

    LOOSE = 0
    """Bullets under Features, steps of phases, numbered lines or headings. Such a list is never chosen unasked."""
    TEXTS = 1
    """Texts in a list of a structured document."""
    RECORDS = 2
    RECORDS_WITH_IDS = 3
    RECORDS_OF_WORK = 4
    """Records with criteria, dependencies, a status or the like."""
    PROGRESS_ROWS = 5
    """Rows of a table about progress."""
    REQUIRED_ITEMS = 6
    """Numbered items under Requirements or Steps."""
    BOXES = 7
    SENTENCES = 8
    """As-a sentences."""
    JUDGED_ITEMS = 9
    """Items that depend on each other by number."""
    ROWS = 10
    """Rows of a table of requirements."""
    JUDGED_HEADINGS = 11
    """Headings with criteria."""
    NAMED_ITEMS = 12
    """Items with ids."""
    NAMED_HEADINGS = 13
    """Headings with ids."""
    CRITERIA = 14
    """Acceptance criteria with ids, in a document without other units."""
    STEPS = 15
    """Headings of a plan, with steps, boxes or criteria below them."""


class Standing(NamedTuple):
    """The key by which lists are ranked: the greatest is chosen."""

    planned: bool
    """Some of its units are not put off."""
    known: int
    """Stories come before requirements, features and tasks, and these before the rest."""
    evidence: Evidence
    name: int
    """How usual the name is for a list of units; 0 is the most usual, others are negative."""
    depth: int = 0
    """How far it is from the top of the document, as a negative number."""
    size: int = 0
    line: int = 0
    """The negative number of its line."""


class Ranked(Protocol):
    """A list of units that a document offers."""

    @property
    def standing(self) -> Standing: ...
    @property
    def offer(self) -> Offer:
        """The list as people see it. `units` is empty: which value selects it depends on the other lists."""

    @property
    def keys(self) -> frozenset[str]:
        """The values of `--units` that select it."""

    def yields_to(self, other: Self) -> bool:
        """Tell whether another list has the same units and says more about them."""


L = TypeVar("L", bound=Ranked)


def choose(lists: Sequence[L], asked: str | None) -> list[L]:
    """Return the lists that the user asked for, or else the strongest; nothing if one of them is missing."""
    if asked is None:
        sure = [each for each in lists if each.standing.evidence > Evidence.LOOSE]
        return [_strongest(sure)] if sure else []
    named = [_called(lists, name) for name in asked.split(",")]
    return list(dict.fromkeys(map(_strongest, named))) if all(named) else []


def offered(chosen: Ranked, lists: Sequence[Ranked]) -> Offer:
    """Return a list as people see it, with the shortest value of `--units` that selects it and no other list.

    `line 14` is the last resort, since lines move.
    """
    shown = chosen.offer
    for key in sorted(chosen.keys, key=lambda key: (key.startswith("line "), len(key), key)):
        if (called := _called(lists, key)) and _strongest(called) is chosen:
            return Offer(name=shown.name, units=key, lines=shown.lines, count=shown.count)
    return shown


def _called(lists: Sequence[L], name: str) -> list[L]:
    return [each for each in lists if fold_key(name.strip()) in map(fold_key, each.keys)]


def _strongest(lists: Sequence[L]) -> L:
    best = max(lists, key=lambda each: each.standing)
    better = [each for each in lists if best.yields_to(each)]
    return max(better, key=lambda each: each.standing) if better else best
