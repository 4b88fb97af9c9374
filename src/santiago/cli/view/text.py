"""Text on a terminal: colour only if wanted, characters that it can show, lines that fit."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from santiago.report.page import LABEL, in_ascii
from santiago.util.text import harmless, width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.report.page import Line, Page, Tone

_TONES: dict[Tone, dict[str, Any]] = {
    "": {}, "head": {"fg": "cyan", "bold": True}, "good": {"fg": "green"}, "bad": {"fg": "red"},
    "warn": {"fg": "yellow"}, "busy": {"fg": "cyan"}, "dim": {"fg": "bright_black"},
}  # fmt: skip


def coloured(*, stderr: bool = True) -> bool:
    """Tell whether to use colour: NO_COLOR, then FORCE_COLOR, then whether this is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    stream = sys.stderr if stderr else sys.stdout
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, tone: Tone, *, stderr: bool = True) -> str:
    return click.style(text, **_TONES[tone]) if tone and coloured(stderr=stderr) else text


def unicode(*, stderr: bool = True) -> bool:
    encoding = (sys.stderr if stderr else sys.stdout).encoding or ""
    return encoding.lower().replace("-", "").startswith("utf")


def showable(text: str, *, stderr: bool = True) -> str:
    """Return a text in characters that the stream can take."""
    return text if unicode(stderr=stderr) else in_ascii(text)


def size_of(*, stderr: bool) -> tuple[int, int]:
    """Return how many columns and rows the terminal has; zeros if there is none."""
    stream = sys.stderr if stderr else sys.stdout
    if not stream.isatty():
        return 0, 0
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    given = (os.environ.get(name, "") for name in ("COLUMNS", "LINES"))
    columns, rows = (int(word) if word.isdecimal() else one for word, one in zip(given, found, strict=True))
    return columns, rows


def in_foreground(terminal: int) -> bool:
    """Tell whether this process may use a terminal. A job in the background is stopped if it tries."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # not the terminal that controls this process, so there is no job control
        return True


def columns_of(*, stderr: bool) -> int:
    """Return how wide the terminal is; 0 if there is none, so that nothing is wrapped in a file."""
    return size_of(stderr=stderr)[0]


_SIGNS = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\uffdc\U0001f000-\U0003ffff"
"""Characters between which a line may be broken: ideographs, kana, emoji."""
_PIECE = rf"\s+|\x1b\[[0-9;]*m|[{_SIGNS}](?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d.)*|[^\s\x1b{_SIGNS}]+|."
"""Pieces of a line that are not broken: a blank, a colour, a word, a sign."""
_ASIDE = "      # "
_TYPED = r"((?:next:| {5}) \S.*?)   +# (.+)"
"""A command to paste, with a comment on what it does: `next: santiago resume   # go on`."""
_NAME = r"[│|] +|\S{1,12}(?: \S{1,12})?: +"
"""The bar of a frame, or a name with its colon."""
_GAP = r"(?<=\S)  +(?=\S)"
_WIDEST = 24


def broken(text: str, columns: int, indent: int | None = None) -> str:
    """Return a text wrapped into lines, so that the terminal does not break it in the middle of a word.

    Further lines are indented like the text of the first. A word that is longer than a line is left to the terminal, so that
    a path can be copied as a whole. A command stays on one line, and its comment then goes below it.
    """
    if not columns:
        return text
    return "\n".join(_broken(line, columns, indent) for line in text.split("\n"))


def _broken(text: str, columns: int, indent: int | None) -> str:
    bare = harmless(text)
    if width(bare) <= columns:
        return text
    if typed := re.fullmatch(_TYPED, text):
        why = _broken(typed[2], columns - len(_ASIDE), 0).split("\n")
        return "\n".join([typed[1], *(_ASIDE + line for line in why)])
    hang = _hang(bare) if indent is None else " " * indent
    hang = hang if len(hang) <= columns // 2 else "  "
    lines, line, used, blank = [], "", 0, ""
    for piece in re.findall(_PIECE, text):
        size = width(harmless(piece))
        if piece.isspace():
            blank = piece
        elif (
            size and used + len(blank) + size > columns and (used > len(hang) or len(hang) + size > columns >= size + 2)
        ):
            lines.append(line)
            before = hang if len(hang) + size <= columns else "  "
            line, used, blank = before + piece, len(before) + size, ""
        else:
            line, used, blank = line + blank + piece, used + len(blank) + size, ""
    return "\n".join([*lines, line])


def _hang(text: str) -> str:
    """Return what further lines begin with: the bar of a frame, or blanks up to the text of the first line."""
    if name := re.match(_NAME, text):
        return name[0] if name[0][0] in "│|" else " " * len(name[0])
    gaps = [gap.end() for gap in re.finditer(_GAP, text[: 2 * _WIDEST]) if gap.end() <= _WIDEST]
    before = len(text) - len(text.lstrip())
    return " " * (gaps[-1] if gaps else before if before >= 6 else before + 2)


def say(text: str = "", *, err: bool = False, verbatim: bool = False, indent: int | None = None) -> None:
    """Print a line for people, with colours only if wanted; on a terminal it is wrapped.

    A `verbatim` line (a patch, a log, a command to paste) is not wrapped.
    """
    shown = text if verbatim else broken(text, columns_of(stderr=err), indent)
    # Named, since click would write UTF-8 to a stream that says it can only take ASCII.
    click.echo(showable(shown, stderr=err), file=sys.stderr if err else sys.stdout, color=coloured(stderr=err))


def show(page: Page, *, as_json: bool = False) -> None:
    """Print a page: its lines, or its data as one JSON document."""
    if as_json:
        click.echo(json.dumps(page.data(), indent=2, ensure_ascii=not unicode(stderr=False)))
        return
    show_lines(page.lines(columns_of(stderr=False)))


def show_lines(lines: Iterable[Line], *, err: bool = False) -> None:
    """Print the lines of a page."""
    for line in lines:
        label = f"{paint(f'{line.label:{LABEL}}', line.tone or 'dim', stderr=err)} " if line.label else ""
        text = label + paint(line.text, line.tone, stderr=err)
        say(text, err=err, verbatim=line.verbatim, indent=LABEL + 1 if label else None)
