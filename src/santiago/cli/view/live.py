"""The live view on a terminal: a table that is drawn over itself, with what matters for good scrolling off above it.

Drawing happens in a thread of its own, so that neither a slow terminal nor a mistake in a picture can hold up or break
a run; after an error nothing is drawn any more, and the lines come as they would without a terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from santiago.cli.view.ci import is_ci
from santiago.cli.view.text import size_of
from santiago.util.text import harmless, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.cli.view.table import Table
    from santiago.contract.events import Event
    from santiago.contract.state import RunState

SECONDS = 0.25
"""Between two pictures."""
MOST_SHOWN = 300
"""Lines above the table that are remembered: more than a screen has."""
PATIENCE = 2.0
"""How long the end of a run waits for a terminal that does not take what is written."""


def is_wanted(*, plain: bool) -> bool:
    """Tell whether a live view has a place to be: a terminal that can move its cursor, and nobody who minds."""
    if plain or os.environ.get("SANTIAGO_PLAIN") or is_ci():
        return False
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Live:
    """Draws a table until it is closed."""

    def __init__(self, table: Table, write: Callable[[str], None] | None = None, before: Sequence[str] = ()) -> None:
        self.table = table
        self.state: RunState | None = None
        self.broken = False
        self._write = write or _to_terminal
        self._above: deque[str] = deque()
        self._drawn: list[str] = []
        self._shown: deque[str] = deque(before, MOST_SHOWN)
        """Lines that stand above the table, to be shown again where the terminal got another size."""
        self._size: tuple[int, int] | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep_drawing, name="live view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Take note; never draws, so never waits."""
        self.state = state
        self.table.take(events)

    def above(self, line: str) -> None:
        """Show a line for good, above the table."""
        self._above.append(line)

    def close(self) -> list[str]:
        """Take the table away; return the lines that could not be shown any more."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        left = list(self._above)
        self._above.clear()
        return left

    def _keep_drawing(self) -> None:
        try:
            while not self._closing.wait(SECONDS):
                self._draw()
            self._put([])
        except Exception:  # a picture is never worth a run
            self.broken = True
            with contextlib.suppress(Exception):
                self._write("\r\n")

    def _draw(self) -> None:
        if self.state is None:
            return
        columns, rows = _size()
        try:
            picture = self.table.picture(self.state, max(20, columns - 1), rows)
        except RuntimeError:  # the state changed while it was read; the next picture is a moment away
            return
        if picture != self._drawn or self._above or (columns, rows) != self._size:
            self._put(picture)

    def _put(self, picture: list[str]) -> None:
        """Write over what was drawn before: first the lines that stay, then the table."""
        fresh, size = [line for text in self._taken() for line in text.split("\n")], _size()
        self._shown.extend(fresh)
        moved = self._size not in (None, size)
        before, self._drawn, self._size = self._drawn, picture, size
        above = over(rows_of(before, size[0]), [*fresh, *picture])
        self._write(anew(list(self._shown), picture, *size) if moved else above)

    def _taken(self) -> list[str]:
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._above.popleft())
        return found


def _size() -> tuple[int, int]:
    columns, rows = size_of(stderr=True)
    return columns or 80, rows or 24


def rows_of(lines: Sequence[str], columns: int) -> int:
    """Return how many rows of a terminal lines take."""
    return sum(max(1, -(-width(harmless(line)) // columns)) for line in lines)


def anew(shown: Sequence[str], picture: Sequence[str], columns: int, rows: int) -> str:
    """Return what paints the whole screen: as many of the lines before the picture as there is room for, and the picture.

    A terminal of another size has moved and broken what was on it, each in its own way, so that nobody knows where that is.
    """
    lines = list(picture[: rows - 1])
    for line in reversed(shown):
        if rows_of([line, *lines], columns) >= rows:
            break
        lines.insert(0, line)
    below = rows_of(lines, columns) + 1
    rest = "".join(f"\x1b[{row};1H\x1b[K" for row in range(below, rows + 1))
    return "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + f"{rest}\x1b[{below};1H"


def over(height: int, lines: Sequence[str]) -> str:
    """Return what writes lines over as many rows above the cursor; rows that are left over end up empty, below it.

    Row by row: a terminal that is told to clear the rest of its screen, from the first row on, may keep a copy of all of it.
    """
    up = f"\x1b[{height}A" if height else ""
    left = max(0, height - len(lines))
    back = f"\x1b[{left}A" if left else ""
    return f"{up}\r" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[K\n" * left + back


def _to_terminal(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
