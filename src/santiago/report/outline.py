"""The chunks of a plan, from the beginning of its file: what can be shown while all the rest of it is still read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from santiago.util.text import flat

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20
"""Of the file; a plan whose chunks take more is shown when it was read."""
_BEGINS = '{\n  "chunks": '
"""Canonical JSON has its keys sorted, and no key of a plan comes before this one."""


class Outline(NamedTuple):
    label: str
    stories: int


def outline(plan: Path) -> list[Outline]:
    """Return the chunks of a plan's file; none where it begins with anything else, which reading it finds out."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        with plan.open("rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
        if text.startswith(_BEGINS):
            chunks, _ = json.JSONDecoder().raw_decode(text, len(_BEGINS))
            return [Outline(flat(chunk["label"]), len(chunk["stories"])) for chunk in chunks]
    return []
