"""Text on a terminal: colour only if wanted, characters that it can show, lines that fit."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from santiago.report.page import LABEL, in_ascii
from santiago.util.wrapping import broken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.report.page import Line, Page, Tone

STREAM = {"type": "stream", "schema_version": "1.0"}
"""The first document of a stream of JSON documents."""
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
    encoding = (sys.stderr if stderr else sys.stdout).encoding or "utf-8"  # none where the text stays in memory
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


def say(text: str = "", *, err: bool = False, verbatim: bool = False) -> None:
    """Print a line for people, with colours only if wanted; on a terminal it is wrapped.

    A `verbatim` line (a patch, a log, a command to paste) is not wrapped.
    """
    shown = text if verbatim else broken(text, columns_of(stderr=err))
    # Named, since click would write UTF-8 to a stream that says it can only take ASCII.
    click.echo(showable(shown, stderr=err), file=sys.stderr if err else sys.stdout, color=coloured(stderr=err))


def painted(line: Line, *, stderr: bool = True) -> str:
    """Return a line of a page in the colours of this terminal."""
    label = f"{paint(f'{line.label:{LABEL}}', line.tone or 'dim', stderr=stderr)} " if line.label else ""
    return label + paint(line.text, line.tone, stderr=stderr)


def show_page(page: Page, *, as_json: bool = False) -> None:
    """Print a page: its lines, or its data."""
    if as_json:
        show_data(page.data())
    else:
        show_lines(page.lines(columns_of(stderr=False)))


def show_data(data: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=not unicode(stderr=False)))


def show_record(data: object) -> None:
    """Print one JSON document on one line, as a part of a stream."""
    click.echo(json.dumps(data, ensure_ascii=not unicode(stderr=False)))


def show_lines(lines: Iterable[Line]) -> None:
    """Print lines of a page."""
    for line in lines:
        say(painted(line, stderr=False), verbatim=line.verbatim)
