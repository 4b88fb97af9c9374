"""The live view on a terminal: a table that is drawn over itself, and above it the lines that stay.

The table is on the alternate screen, as in a pager. On the ordinary screen, a resized terminal would rewrap and scroll the
lines, and copies of the table would stay there. Lines that stay are written to the ordinary screen at once, so that they
are there when the table is removed.

Drawing happens in a thread of its own, so that neither a slow terminal nor an error in drawing can hold up or break a run.
After an error nothing more is drawn, and lines are printed as without a terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from santiago.cli.view.ci import is_ci
from santiago.cli.view.terminal import showable, size_of
from santiago.util.wrapping import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from santiago.cli.view.table import Table
    from santiago.contract.events import Event
    from santiago.contract.state import RunState

SECONDS = 0.25
"""Between two pictures."""
MOST_KEPT = 300
"""How many lines are remembered to be shown above the table: more than a screen has."""
_ENTER, _LEAVE = "\x1b[?1049h", "\x1b[?1049l"
"""Escape sequences that switch to the alternate screen, and back."""
PATIENCE = 2.0
"""How long the end of a run waits for a terminal that blocks."""


def is_wanted(*, plain: bool) -> bool:
    """Tell whether to show a live view: there is a terminal that can move its cursor, and nobody asked for plain lines."""
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
        self._kept = deque(before, MOST_KEPT)
        self._page = ""
        """What is on the alternate screen; empty before the first drawing."""
        self._hidden, self._turn = False, threading.Lock()
        """Whether somebody else has the terminal, and the lock for that."""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep_drawing, name="live view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def take(self, events: Sequence[Event], state: RunState) -> None:
        """Take in events. This never draws, so it never waits."""
        self.state = state
        self.table.take(events)

    def above(self, line: str) -> None:
        """Show a line above the table, where it stays."""
        self._above.append(line)

    def hide(self) -> None:
        """Take the table off the terminal, until `show`."""
        with self._turn:
            self._hidden, fresh = True, self._taken()
            self._kept.extend(fresh)
            self._write(self._leave() + _lines(fresh))
            self._page = ""

    def show(self) -> None:
        self._hidden = False

    def close(self) -> list[str]:
        """Remove the table; return the lines that could not be shown."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        left = list(self._above)
        self._above.clear()
        return left

    def _keep_drawing(self) -> None:
        try:
            while not self._closing.wait(SECONDS):
                with self._turn:
                    if not self._hidden:
                        self._draw()
            self._write(self._leave() + _lines(self._taken()))
        except Exception:  # an error in drawing must not break a run
            self.broken = True
            with contextlib.suppress(Exception):
                self._write(self._leave() + "\r\n")

    def _draw(self) -> None:
        if self.state is None:
            return
        columns, rows = size_of(stderr=True)
        columns, rows = columns or 80, rows or 24
        try:
            picture = self.table.picture(self.state, max(20, columns - 1), rows)
        except RuntimeError:  # the state changed while it was read; the next picture is a moment away
            return
        fresh = self._taken()
        self._kept.extend(fresh)
        shown = page(self._kept, picture, columns, rows)
        if fresh or not self._page:
            self._write(self._leave() + _lines(fresh) + _ENTER + shown)
        elif shown != self._page:
            self._write(shown)
        self._page = shown

    def _leave(self) -> str:
        return _LEAVE if self._page else ""

    def _taken(self) -> list[str]:
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._above.popleft())
        return found


def page(kept: Iterable[str], picture: Sequence[str], columns: int, rows: int) -> str:
    """Return a full screen: as many of the lines that stay as fit, and the picture below them.

    No row is wrapped: the terminal may have become narrower a moment ago.
    """
    lines = [line for text in kept for line in broken(text, columns).split("\n")]
    room = max(0, rows - 1 - len(picture))
    shown = [*lines[max(0, len(lines) - room) :], *picture]
    return "\x1b[?7l\x1b[H" + "".join(f"\x1b[2K{line}\n" for line in shown[: rows - 1]) + "\x1b[J\x1b[?7h"


def _lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def _to_terminal(text: str) -> None:
    sys.stderr.write(showable(text))
    sys.stderr.flush()
