"""How things look: colours by tone, symbols that the terminal can show, lines cut or wrapped to its width."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

from santiago.report.page import LABEL, in_ascii
from santiago.util.text import fit, width
from santiago.util.wrapping import broken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.report.page import Line

THEME = Theme(
    name="santiago",
    primary="#7aa2f7",
    secondary="#7dcfff",
    success="#9ece6a",
    warning="#e0af68",
    error="#f7768e",
    foreground="#c0caf5",
    background="#16161e",
    surface="#16161e",
    panel="#24283b",
    dark=True,
)
BASE = Style(color="#c0caf5", bgcolor="#16161e")
RAISED = Style(bgcolor="#292e42", bold=True)
TONES = {
    "": Style(),
    "head": Style(color="#7aa2f7", bold=True),
    "good": Style(color="#9ece6a"),
    "bad": Style(color="#f7768e"),
    "warn": Style(color="#e0af68"),
    "busy": Style(color="#7dcfff"),
    "dim": Style(color="#7a82ab"),
}

Part = tuple[str, Style]


def tells_unicode() -> bool:
    """Tell whether the terminal shows more than ASCII, by its encoding or its locale."""
    stream = sys.__stdout__
    encoding = (stream.encoding if stream is not None else "") or ""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if locale.split(".")[0] in ("C", "POSIX") and "utf" not in locale.lower():
        return False
    return encoding.lower().replace("-", "").startswith("utf")


def strip(parts: Iterable[Part], columns: int, *, plain: bool, under: Style = BASE) -> Strip:
    """Return a line of the screen, cut or filled to its width; nothing in its text is markup."""
    segments = [Segment(shown(text, plain=plain), under + style) for text, style in parts]
    return Strip(segments).crop_extend(0, columns, under)


def shown(text: str, *, plain: bool) -> str:
    """Return a text in characters that the terminal can show."""
    return in_ascii(text) if plain else text


def cut(text: str, columns: int) -> str:
    """Return a text cut to this many columns."""
    return fit(text, columns).rstrip() if columns > 0 else ""


def joined(parts: list[str], columns: int, gap: str = "   ") -> str:
    """Return as many of the parts as fit on a line, from the first on."""
    line = ""
    for part in parts:
        longer = f"{line}{gap}{part}" if line else part
        if not line or width(longer) <= columns:
            line = longer
    return cut(line, columns)


def parts_of(line: Line, columns: int) -> list[Part]:
    """Return a line of a page as lines of the screen."""
    style = TONES[line.tone]
    if line.verbatim:
        return [(cut(line.whole, columns), style)]
    found = broken(line.whole, columns, LABEL + 1 if line.label else None).split("\n")
    # A word that is longer than a line is broken where the line ends.
    return [
        (cut(text[at : at + columns], columns), style) for text in found for at in range(0, len(text) or 1, columns)
    ]
