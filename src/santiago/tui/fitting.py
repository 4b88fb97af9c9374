"""What every screen does where its terminal is too small: it says so, and keeps its keys for when there is room again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.screen import Screen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.widget import Widget

LEAST = (40, 12)
"""Columns and rows that a screen needs."""


class Fitting(Screen[None]):
    """A screen that hides everything where there is no room for it."""

    needing = ""
    """The screen, as the sentence about its size calls it."""
    printing = ""
    """The command that prints the same."""
    _focused: Widget | None = None
    """What had the focus before everything was hidden. Nothing has it then, so that no key acts on what is not seen."""

    def fit(self) -> None:
        """Hide everything if the terminal is too small, or show it again with the focus where it was."""
        columns, rows = self.size
        small = columns < LEAST[0] or rows < LEAST[1]
        if small and not self.has_class("small"):
            self._focused = self.focused
            self.set_focus(None)
        self.set_class(small, "small")
        need = f"this terminal is {columns}x{rows};\n{self.needing} needs {LEAST[0]}x{LEAST[1]}\nq leaves; `{self.printing}` prints"
        self.query_one("#small", Static).update(Text(need))
        if not small and self._focused is not None:
            self.call_after_refresh(self._focused.focus)
            self._focused = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key act on what is hidden."""
        if self.has_class("small") and action not in ("leave", "keys"):
            return False
        return super().check_action(action, parameters)
