"""Keys that can also be clicked. Each is shown with what it does; they wrap to further lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message
from textual.widget import Widget

from santiago.tui.look import BASE, RAISED, TONES, strip
from santiago.util.text import width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events
    from textual.geometry import Size
    from textual.strip import Strip

    from santiago.tui.look import Part


class Button(NamedTuple):
    key: str
    """As people read it."""
    label: str
    name: str
    """The name that is sent when it is pressed."""
    here: bool = False
    """Whether it names what is already shown."""


class Buttons(Widget):
    """Keys with their labels; a click on one is the same as its key."""

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, name: str) -> None:
            self.pressed = name
            super().__init__()

    def __init__(self, name: str, *, plain: bool, raised: bool = False, most: int = 4, under: Style = BASE) -> None:
        super().__init__(id=name)
        self.plain, self.raised, self.most, self.under = plain, raised, most, under
        self.buttons: tuple[Button, ...] = ()

    def show(self, buttons: Sequence[Button]) -> None:
        if tuple(buttons) != self.buttons:
            self.buttons = tuple(buttons)
            self.refresh(layout=True)

    def lines(self, columns: int) -> list[list[tuple[int, Button]]]:
        """Return the buttons by line, each with the column that it begins in."""
        found: list[list[tuple[int, Button]]] = [[]]
        at = 1
        for one in self.buttons:
            if at > 1 and at + self._wide(one) > columns:
                found.append([])
                at = 1
            found[-1].append((at, one))
            at += self._wide(one) + (1 if self.raised else 2)
        return found[: self.most]

    def _wide(self, one: Button) -> int:
        return width(f"{one.key} {one.label}".rstrip()) + (2 if self.raised else 0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  # Textual's
        return len(self.lines(width)) if self.buttons else 0

    def render_line(self, y: int) -> Strip:
        lines, at = self.lines(self.size.width), 0
        found: list[Part] = []
        for start, one in lines[y] if y < len(lines) else ():
            found.append((" " * (start - at), TONES[""]))
            style = RAISED if self.raised else TONES[""]
            gap = " " if self.raised else ""
            found.append((f"{gap}{one.key}", style + TONES["busy"]))
            found.append(
                (
                    f" {one.label}{gap}" if one.label else "",
                    style if self.raised else TONES["head" if one.here else "dim"],
                )
            )
            at = start + self._wide(one)
        return strip(found, self.size.width, plain=self.plain, under=self.under)

    def on_click(self, event: events.Click) -> None:
        lines = self.lines(self.size.width)
        for start, one in lines[event.y] if event.y < len(lines) else ():
            if start <= event.x < start + self._wide(one):
                self.post_message(self.Pressed(one.name))
