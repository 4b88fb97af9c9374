"""Text for people: without harmful characters, with wide characters in their columns, and with counted nouns."""

from __future__ import annotations

import re
import unicodedata

from santiago.contract.counting import count as count  # the core counts, too, and may not import this module
from santiago.contract.counting import few as few

_CONTROLS = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"


def harmless(text: str) -> str:
    """Return text without terminal escapes, control characters and direction marks."""
    return text if text.isprintable() else re.sub(_CONTROLS, "", text)


def flat(text: str) -> str:
    """Return a harmless text without line breaks."""
    return " ".join(harmless(text).split())


def first(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def width(text: str) -> int:
    """Return the number of columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    # Marks, joiners and the vowels of decomposed Korean are drawn over the character before.
    return 0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") or "\u1160" <= letter <= "\u11ff" else 1


def fit(text: str, columns: int) -> str:
    """Return a text cut or padded to exactly this many columns."""
    text = harmless(text[: 4 * columns]).replace("\n", " ")
    if width(text) > columns:
        while text and width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - width(text))
