"""Identifiers: what they may look like, and how they sort. Nothing else ever becomes part of a path or a ref."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

STORY_ID = r"[A-Z][A-Z0-9-]{0,63}(\.[0-9]+)*"
RUN_ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}"

_RUNS = pattern(r"\d+|\D+")


def is_story_id(text: str) -> bool:
    return re.fullmatch(STORY_ID, text) is not None


def is_run_id(text: str) -> bool:
    return re.fullmatch(RUN_ID, text) is not None


def run_id_from(name: str) -> str:
    """Return a valid run id made from the name of a folder."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")[:80] or "run"


def numbered(run_id: str, number: int) -> str:
    """Return a run id with a number behind it; the first one has none."""
    return run_id if number < 2 else f"{run_id[: 79 - len(str(number))]}-{number}"


def first_free(wanted: str, is_taken: Callable[[str], bool], joint: str = "-") -> str:
    """Return the wanted name; where it is taken, the first one with a number behind it that is free."""
    names = (wanted if number == 1 else f"{wanted}{joint}{number}" for number in count(1))
    return next(name for name in names if not is_taken(name))


def story_order(story_id: str) -> tuple[tuple[int, int, str], ...]:
    """Return the key by which S2 sorts before S10, and S2 before S2.1."""
    return tuple((0, int(run), "") if run.isdecimal() else (1, 0, run) for run in _RUNS.findall(story_id))


def is_of_session(question: str) -> bool:
    """Tell by its id whether a question is one of a planning session; the questions of runs begin with a story's id."""
    return re.fullmatch(r"(plan|agent)-[0-9]{1,6}", question) is not None
