"""Which lists the prefixes of ids belong to: the one table to extend for a new house style."""

from __future__ import annotations

import re
from itertools import pairwise

from santiago.contract.patterns import pattern
from santiago.planner import ids
from santiago.planner.markdown.carriers import CRITERION_PREFIXES


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_KNOWN: dict[str, frozenset[str]] = {
    "story": _set("US HU STORY USERSTORY USER-STORY UST HDU JS JTBD"),
    "nfr": _set("NFR NF RNF NFA ENF KNF NR QR НФТ"),
    "requirement": _set("FR REQ R RQ RF REQUIREMENT SRS SR UR FA EF KF FN FUNC FRQ PRD ФТ"),
    "feature": _set("F FEAT FEATURE FT"),
    "task": _set("T TASK TSK TK TODO ISSUE TICKET BUG WP WI"),
}
_GROUPS = _set("E EP EPIC PHASE SPRINT MILESTONE WAVE STAGE STEP")
_WORDS = {"story": "story", "requirement": "requirement", "feature": "feature", "task": "task", "slug": "task"}
_TWO_PART = pattern(r"\D+\d+[-.]\d")


def kind_of(found: ids.Found) -> str | None:
    """Return the kind of list that an id belongs to: a known one, `other`, `side`, or None where it is no unit's."""
    if found.kind != "prefix":
        return _WORDS.get(found.kind)
    parts = found.prefix.split("-")
    if not CRITERION_PREFIXES.isdisjoint(parts):
        return None
    for kind, prefixes in _KNOWN.items():
        if found.prefix in prefixes or not prefixes.isdisjoint(parts):
            return kind
    if not ids.SIDE.isdisjoint(parts):
        return "side"
    if not _GROUPS.isdisjoint(parts):
        return None
    # `P1` alone is a priority or a persona; `P0-1` is the first requirement of that priority.
    return None if found.prefix == "P" and not _TWO_PART.match(found.id) else "other"


def is_sure(found: ids.Found, kind: str) -> bool:
    """Tell whether an id says by itself that it is a requirement or story; `R1` may be a risk, `T1` a test."""
    return kind in ("story", "requirement", "nfr") and (found.kind != "prefix" or len(found.prefix) > 1)


def is_listlike(identifiers: list[str]) -> bool:
    """Tell whether ids without a hyphen are counted (`R1, R2`) rather than names (`S3, S4 and EC2`, `E2E`)."""
    hyphened = [name for name in identifiers if re.search(r"[-_.]\d", name)]
    if len(hyphened) * 2 >= len(identifiers):
        return True
    numbers = sorted({int(found[0]) for name in identifiers if (found := re.search(r"\d+", name))})
    return numbers[0] <= 1 or any(b - a == 1 for a, b in pairwise(numbers))
