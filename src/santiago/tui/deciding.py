"""The windows of the review: one line of feedback, and decisions that no stray key can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.widgets import Input, Static

from santiago.tui.buttons import Button, Buttons
from santiago.tui.dialogs import Window
from santiago.tui.look import BASE, TONES, shown
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from santiago.report.page import Line

WINDOW = BASE + Style(bgcolor="#1f2335")
"""What lies under the buttons of a window."""
LONGEST = 20_000
"""Longest feedback, in characters. More belongs into a document."""


class Deciding(Window[str]):
    """Keys that can be clicked, each with what it does. There is no default: Enter alone does nothing."""

    def __init__(self, title: str, lines: Sequence[Line], keys: dict[str, str], *, plain: bool) -> None:
        super().__init__(title, lines, plain=plain)
        self.keys = keys

    def below(self) -> ComposeResult:
        yield Buttons("choices", plain=self.plain, raised=True, under=WINDOW)

    def on_mount(self) -> None:
        choices = [Button(key, does, key) for key, does in self.keys.items()]
        self.query_one(Buttons).show([*choices, Button("esc", "go back", "")])
        self.query_one("#text").focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in self.keys:
            event.stop()
            self.dismiss(event.key)

    def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        self.dismiss(event.pressed or None)


class Saying(Window[str]):
    """One line of text, sent with Enter. Errors are shown below it, and the typed text is kept."""

    def __init__(
        self, title: str, lines: Sequence[Line], send: Callable[[str], str], *, plain: bool, value: str = ""
    ) -> None:
        super().__init__(title, lines, plain=plain)
        self.send, self.value = send, value
        """Sends a text; returns what is wrong with it, or an empty text."""

    def below(self) -> ComposeResult:
        yield Input(value=self.value, id="typed", compact=True, select_on_focus=False, max_length=LONGEST)
        yield Static("", id="meaning")
        yield Buttons("choices", plain=self.plain, raised=True, under=WINDOW)

    def on_mount(self) -> None:
        self.query_one(Buttons).show([Button("enter", "send", "send"), Button("esc", "go back", "")])
        typed = self.query_one(Input)
        typed.cursor_blink = False
        typed.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._send()

    def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        if event.pressed:
            self._send()
        else:
            self.dismiss(None)

    def _send(self) -> None:
        typed = self.query_one(Input).value.strip()
        wrong = self.send(typed) if typed else "nothing is typed yet; type what should be different"
        if not wrong:
            self.dismiss(typed)
            return
        self.query_one("#meaning", Static).update(Text(shown(flat(wrong), plain=self.plain), style=TONES["bad"]))
