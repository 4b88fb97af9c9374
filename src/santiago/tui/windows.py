"""Windows over a screen: keys to decide with, a line of text, a list to choose from, a page to read; each returns its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.style import Style
from rich.text import Text
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from santiago.contract.errors import SantiagoError
from santiago.tui.buttons import Button, Buttons
from santiago.tui.look import BASE, TONES, shown
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.report.page import Line

T = TypeVar("T")
WINDOW = BASE + Style(bgcolor="#1f2335")
"""What lies under the buttons of a window."""
LONGEST = 20_000
"""Longest text that is typed, in characters. More belongs into a document."""


def number_typed(text: str, most: int) -> int:
    """Return a number that a person typed; raise ValueError, in words, if it is none from 1 to `most`."""
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) <= most):
        raise ValueError(f"a number from 1 to {most}, please")
    return int(text)


def sentence(error: SantiagoError) -> str:
    """Return an error with what helps against it, on one line."""
    return flat(f"{error.message}. {error.hint}".strip())


class Window(ModalScreen[T]):
    """A framed window in the middle of the screen; Escape closes it and decides nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel")]

    def __init__(self, title: str, lines: Sequence[Line], *, plain: bool) -> None:
        super().__init__()
        self.heading, self.lines, self.plain = title, lines, plain

    def compose(self) -> ComposeResult:
        text = Text()  # nothing in it is markup
        for number, line in enumerate(self.lines):
            text.append(("\n" if number else "") + shown(line.whole, plain=self.plain), style=TONES[line.tone])
        with Vertical(id="window"):
            yield Static(Text(shown(self.heading, plain=self.plain), style=TONES["head"]), id="heading")
            with VerticalScroll(id="text"):
                yield Static(text)
            yield from self.below()

    def below(self) -> ComposeResult:
        yield Static(Text("esc closes", style=TONES["dim"]))

    def action_cancel(self) -> None:
        self.dismiss(None)


class Reading(Window[None]):
    """Something to read. Escape, Enter and q close it."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,q,question_mark", "cancel")]


class Deciding(Window[str]):
    """Keys that can be clicked, each with what it does. Other keys do nothing; Enter neither, unless it is one of them."""

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
    """One line of text, sent with Enter. What is wrong with it is said below it, and nothing typed is lost."""

    def __init__(
        self, title: str, lines: Sequence[Line], take: Callable[[str], object], *, plain: bool, value: str = "",
        confirmed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(title, lines, plain=plain)
        self.take, self.value, self.confirmed = take, value, confirmed
        """Takes the text, or with `confirmed` returns what it means, which Enter once more agrees to. Raises what is wrong."""
        self.sure = ""
        """The text whose meaning was shown."""

    def below(self) -> ComposeResult:
        yield Input(value=self.value, id="typed", compact=True, select_on_focus=False, max_length=LONGEST)
        yield Static("", id="meaning")
        yield Buttons("choices", plain=self.plain, raised=True, under=WINDOW)

    def on_mount(self) -> None:
        self._offer("show what is understood" if self.confirmed else "send")
        typed = self.query_one(Input)
        typed.cursor_blink = False
        typed.focus()

    def _offer(self, enter: str) -> None:
        self.query_one(Buttons).show([Button("enter", enter, "send"), Button("esc", "go back", "")])

    def on_input_changed(self) -> None:
        if self.sure:
            self.sure = ""
            self._offer("show what is understood")
            self._say("", "")

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
        if not typed:  # Enter alone decides nothing
            self._say("nothing is typed yet", "warn")
            return
        if typed == self.sure:
            self.dismiss(typed)
            return
        try:
            meaning = self.take(typed)
        except SantiagoError as error:
            self._say(sentence(error), "bad")
        except ValueError as error:
            self._say(str(error), "bad")
        else:
            if not self.confirmed:
                self.dismiss(typed)
                return
            self.sure = typed
            self._offer("send")
            self._say(f"understood: {meaning}", "good")

    def _say(self, text: str, tone: str) -> None:
        self.query_one("#meaning", Static).update(Text(shown(flat(text), plain=self.plain), style=TONES[tone]))


class Picking(Window[int]):
    """A list to choose from; returns the index of the choice."""

    def __init__(self, title: str, lines: Sequence[Line], options: Sequence[str], *, plain: bool) -> None:
        super().__init__(title, lines, plain=plain)
        self.options = options

    def below(self) -> ComposeResult:
        yield OptionList(*(Option(Text(shown(one, plain=self.plain), no_wrap=True)) for one in self.options))
        yield Static(Text("enter chooses, esc goes back", style=TONES["dim"]))

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)
