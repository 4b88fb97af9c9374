"""What every front end shows: lines of text with a tone for people, and the same as data for programs.

A page says what is shown. How wide a line may be, which colours and which symbols there are, only its front end knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from santiago.util.text import harmless, width

Tone = Literal["", "head", "good", "bad", "warn", "busy", "dim"]
"""What a line says, apart from its words. Front ends have a colour for each."""

LABEL = 9
"""Columns of a label. The text stands behind it, after a blank."""
_ASCII = str.maketrans(
    {"✓": "*", "✗": "x", "▶": ">", "▸": ">", "›": ">", "»": "}", "▼": "v", "·": ".", "…": "~", "│": "|", "┃": "|", "─": "-", "█": "#", "▒": "%", "→": ">"}
)  # fmt: skip


class Line(NamedTuple):
    """One line. Its text is harmless: it has no line breaks and nothing that a terminal would obey."""

    text: str = ""
    tone: Tone = ""
    verbatim: bool = False
    """Whether a line that is too long is left as it is, or cut, but not wrapped: a command to paste, a log, a patch."""
    label: str = ""
    """A word in a column of its own before the text. Further lines of the same thing have a blank as their label."""

    @property
    def whole(self) -> str:
        return f"{self.label:{LABEL}} {self.text}" if self.label else self.text


class Page(NamedTuple):
    """Lines for people, and data for programs. Each is made when somebody wants it."""

    lines: Callable[[int], Iterable[Line]]
    """Gives the lines for a width in columns, to which tables are fitted; 0 if there is no such width."""
    data: Callable[[], dict[str, Any]]
    """Gives what `--json` prints."""


def labelled(label: str, texts: Iterable[str], tone: Tone = "") -> list[Line]:
    """Return texts as the lines of one thing, with its label before the first."""
    return [Line(text, tone, label=" " if at else label) for at, text in enumerate(texts)]


def titled(title: str, lines: Iterable[Line]) -> list[Line]:
    """Return a part of a page: an empty line, its title and its lines; nothing if it has no lines."""
    return [Line(), Line(title, "head"), *found] if (found := list(lines)) else []


def ruled(text: str, columns: int, tone: Tone = "bad") -> Line:
    """Return a title in a rule as wide as the terminal."""
    side = max(3, (min(columns or 100, 100) - width(text) - 2) // 2)
    return Line(f"{'─' * side} {text} {'─' * side}", tone)


def framed(lines: Iterable[str]) -> list[Line]:
    """Return the output of a program with a bar at its left."""
    return [Line(f"│ {harmless(line).rstrip()}"[:400]) for line in lines]


def in_ascii(text: str) -> str:
    """Return a text with the symbols of pages written in ASCII, for terminals that show nothing else."""
    return text if text.isascii() else text.translate(_ASCII)


def rows_that_fit(rows: list[list[str]], room: int, expendable: list[int]) -> list[str]:
    """Return a table's rows as lines. Columns that do not fit are dropped, in the order of `expendable`.

    Wrapped rows would not look like a table. If `room` is 0, all columns are shown.
    """
    kept, left = list(range(len(rows[0]))), list(expendable)
    while room and left and any(sum(width(row[at]) + 2 for at in kept) - 2 > room for row in rows):
        kept.remove(left.pop(0))
    return ["  ".join(row[at] for at in kept) for row in rows]
