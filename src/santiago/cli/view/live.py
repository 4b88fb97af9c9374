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
from santiago.cli.view.text import columns_of, size_of
from santiago.util.text import harmless, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.cli.view.table import Table
    from santiago.contract.events import Event
    from santiago.contract.state import RunState

SECONDS = 0.25
"""Between two pictures."""
PATIENCE = 2.0
"""How long the end of a run waits for a terminal that does not take what is written."""


def is_wanted(*, plain: bool) -> bool:
    """Tell whether a live view has a place to be: a terminal that can move its cursor, and nobody who minds."""
    if plain or os.environ.get("SANTIAGO_PLAIN") or is_ci():
        return False
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Live:
    """Draws a table until it is closed."""

    def __init__(self, table: Table, write: Callable[[str], None] | None = None) -> None:
        self.table = table
        self.state: RunState | None = None
        self.broken = False
        self._write = write or _to_terminal
        self._above: deque[str] = deque()
        self._drawn: list[str] = []
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
        columns, rows = size_of(stderr=True)
        try:
            picture = self.table.picture(self.state, max(20, (columns or 80) - 1), rows or 24)
        except RuntimeError:  # the state changed while it was read; the next picture is a moment away
            return
        if picture != self._drawn or self._above:
            self._put(picture)

    def _put(self, picture: list[str]) -> None:
        """Write over what was drawn before: first the lines that stay, then the table."""
        columns = columns_of(stderr=True) or 80
        # A terminal that became narrower has wrapped the old lines; as many rows have to go.
        height = sum(max(1, -(-width(harmless(line)) // columns)) for line in self._drawn)
        text = f"\x1b[{height}A" if height else ""
        lines = [*self._taken(), *picture]
        text += "\r\x1b[J" + "".join(f"{line}\n" for line in lines)
        self._drawn = picture
        self._write(text)

    def _taken(self) -> list[str]:
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._above.popleft())
        return found


def _to_terminal(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
