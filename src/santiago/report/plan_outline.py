"""The chunks of a plan, read from the beginning of its file, so that they can be shown while the rest is still read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from santiago.util.text import flat

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20
"""How many bytes of the file are read. A plan with more chunks is shown after it was read as a whole."""
_CHUNKS = '\n  "chunks": '
"""Where the chunks begin. The keys of canonical JSON are sorted, so only the account of the document stands before them."""


class Outline(NamedTuple):
    label: str
    stories: int


def outline(plan: Path) -> list[Outline]:
    """Return the chunks of a plan's file; none if the file begins in another way."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        with plan.open("rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
        if (at := text.find(_CHUNKS)) >= 0:
            chunks, _ = json.JSONDecoder().raw_decode(text, at + len(_CHUNKS))
            return [Outline(flat(chunk["label"]), len(chunk["stories"])) for chunk in chunks]
    return []
