"""The input line for the filter of a list. It is shown only while there is a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.containers import Horizontal
from textual.widgets import Input, Static

from santiago.tui.listing import Listing
from santiago.tui.look import TONES

if TYPE_CHECKING:
    from textual.app import ComposeResult


class FilterLine(Horizontal):
    """Filters the list of its screen while somebody types. Enter goes to the list."""

    def compose(self) -> ComposeResult:
        yield Static(Text("filter >", style=TONES["dim"]))
        yield Input(id="filter", compact=True, select_on_focus=False)

    def begin(self) -> None:
        self.screen.add_class("filtering")
        self.query_one(Input).focus()

    def end(self) -> None:
        self.query_one(Input).value = ""
        self.screen.remove_class("filtering")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.screen.query_one(Listing).find(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.query_one(Listing).focus()
