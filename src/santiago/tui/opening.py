"""The first screen: shows the chunks of a plan while the rest is still read; then the wanted screen follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.screen import Screen
from textual.widgets import Static

from santiago.contract.errors import SantiagoError
from santiago.tui.look import TONES, shown
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.report.outline import Outline
    from santiago.tui.app import SantiagoApp

MOST = 200
"""How many chunks are shown. No terminal has more lines."""


class Opening(Screen[None]):
    """The frame with the chunks. It can be left at once; all other keys belong to the next screen."""

    app: SantiagoApp
    BINDINGS: ClassVar[list[BindingType]] = [("q,ctrl+c", "app.quit")]

    def __init__(self, name: str, chunks: Sequence[Outline], make: Callable[[bool], Screen[None]]) -> None:
        """Show `chunks` under a name, then the screen that `make` returns. `make` gets whether only ASCII can be shown."""
        super().__init__()
        self.heading, self.chunks, self.make = name, chunks, make

    def compose(self) -> ComposeResult:
        head = Text(self.heading, style=TONES["head"], no_wrap=True, overflow="ellipsis")
        stories = sum(chunk.stories for chunk in self.chunks)
        head.append(f"  reading {count(stories, 'story', 'stories')}" if stories else "  reading", style=TONES["dim"])
        yield Static(head, id="head")
        rows = Text(no_wrap=True, overflow="ellipsis")
        for number, chunk in enumerate(self.chunks[:MOST], 1):
            rows.append(f"  {number:>2}   {shown(chunk.label, plain=self.app.plain)}  ")
            rows.append(f"{chunk.stories}\n", style=TONES["dim"])
        yield Static(rows, id="rows")

    def on_mount(self) -> None:
        self.app.call_later(self.call_after_refresh, self._go_on)  # nothing is painted before the app is ready

    def _go_on(self) -> None:
        try:
            screen = self.make(self.app.plain)
        except SantiagoError as error:
            self.app.fail(error)
        else:
            self.app.switch_screen(screen)
