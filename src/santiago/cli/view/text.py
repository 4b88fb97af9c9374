"""Text on a terminal: colour only where it is wanted, columns that fit wide letters, nothing that can do harm."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import unicodedata

import click

_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def harmless(text: str) -> str:
    """Return text without terminal escapes, control characters and direction marks."""
    return _CONTROLS.sub("", text)


def coloured(*, stderr: bool = True) -> bool:
    """Tell whether to use colour: NO_COLOR, then FORCE_COLOR, then whether this is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    stream = sys.stderr if stderr else sys.stdout
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, *, bold: bool = False, stderr: bool = True) -> str:
    return click.style(text, fg=colour, bold=bold) if coloured(stderr=stderr) else text


def width(text: str) -> int:
    """Return the number of columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, columns: int) -> str:
    """Return a text cut or padded to exactly this many columns."""
    text = harmless(text[: 4 * columns]).replace("\n", " ")
    if width(text) > columns:
        while text and width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - width(text))


def broken(text: str, columns: int, indent: int) -> str:
    """Return a text in lines that a terminal does not have to break in the middle of a word."""
    return "\n".join(
        textwrap.wrap(text, max(columns, 2 * indent), subsequent_indent=" " * indent, break_on_hyphens=False)
    )


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line for people, with its colours only where they are wanted."""
    click.echo(text, err=err, color=coloured(stderr=err))
