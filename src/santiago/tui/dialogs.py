"""Windows over a screen: a line of text, a choice of keys, a list to choose from, a page to read; each returns its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.text import Text
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from santiago.tui.look import TONES, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.report.page import Line

T = TypeVar("T")


def as_text(lines: Sequence[Line], *, plain: bool) -> Text:
    """Return lines as one text; nothing in them is markup."""
    text = Text()
    for number, line in enumerate(lines):
        text.append(("\n" if number else "") + shown(line.whole, plain=plain), style=TONES[line.tone])
    return text


class Window(ModalScreen[T]):
    """A framed window in the middle of the screen; Escape closes it and decides nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel")]

    def __init__(self, title: str, lines: Sequence[Line], *, plain: bool) -> None:
        super().__init__()
        self.heading, self.lines, self.plain = title, lines, plain

    def compose(self) -> ComposeResult:
        with Vertical(id="window"):
            yield Static(Text(shown(self.heading, plain=self.plain), style=TONES["head"]), id="heading")
            with VerticalScroll(id="text"):
                yield Static(as_text(self.lines, plain=self.plain))
            yield from self.below()

    def below(self) -> ComposeResult:
        yield from ()

    def action_cancel(self) -> None:
        self.dismiss(None)


class Reading(Window[None]):
    """Something to read. Escape, Enter and q close it."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,q,question_mark", "cancel")]

    def below(self) -> ComposeResult:
        yield Static(Text("esc closes", style=TONES["dim"]))


class Choosing(Window[str]):
    """A few keys, each with what it does. Other keys do nothing."""

    def __init__(self, title: str, lines: Sequence[Line], keys: dict[str, str], *, plain: bool) -> None:
        super().__init__(title, lines, plain=plain)
        self.keys = keys

    def below(self) -> ComposeResult:
        text = Text()
        for key, does in {**self.keys, "escape": "go back"}.items():
            text.append(f"{'esc' if key == 'escape' else key} ", style=TONES["busy"])
            text.append(f"{does}   ")
        yield Static(text)

    def on_key(self, event: object) -> None:
        key = getattr(event, "key", "")
        if key in self.keys:
            self.dismiss(key)


class Typing(Window[str]):
    """One line of text. Its meaning is shown while it is typed. Enter shows it once more; a second Enter sends it."""

    def __init__(
        self, title: str, lines: Sequence[Line], understood: Callable[[str], str], *, plain: bool, value: str = ""
    ) -> None:
        super().__init__(title, lines, plain=plain)
        self.understood = understood
        """Returns what a text means; raises ValueError with what is wrong with it."""
        self.value = value
        self.sure = ""
        """The text whose meaning was shown, and that only waits for the second Enter."""

    def below(self) -> ComposeResult:
        yield Static("", id="meaning")
        yield Input(value=self.value, id="typed", compact=True)
        yield Static(Text("enter shows what is understood, enter again sends it, esc goes back", style=TONES["dim"]))

    def on_mount(self) -> None:
        typed = self.query_one(Input)
        typed.cursor_blink = False
        typed.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self.sure:
            self.sure = ""
            self._say("", "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value
        if not typed.strip():  # Enter alone decides nothing
            self._say("nothing is typed yet", "warn")
        elif typed == self.sure:
            self.dismiss(typed)
        else:
            try:
                meaning = self.understood(typed)
            except ValueError as error:
                self._say(str(error), "bad")
                return
            self.sure = typed
            self._say(f"understood: {meaning}; enter sends it, esc goes back", "good")

    def _say(self, text: str, tone: str) -> None:
        self.query_one("#meaning", Static).update(Text(shown(text, plain=self.plain), style=TONES[tone]))


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
