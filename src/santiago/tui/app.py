"""The app around all screens: colours, signals, restoring the terminal, and the chunks of a plan while the rest is read."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App
from textual.screen import Screen
from textual.widgets import Static

from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.tui.look import THEME, TONES, shown, tells_unicode
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.report.plan_outline import Outline
    from santiago.tui.base_screen import ShowRun, ShowSession

MOST = 200
"""How many chunks are shown while the rest is read. No terminal has more lines."""
SECONDS = 1.0
"""Seconds between two checks whether the terminal still exists."""


class SantiagoApp(App[str]):
    """Shows one screen. It returns a sentence to print after the terminal is restored."""

    CSS_PATH = "santiago.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []
    TITLE = "santiago"

    def __init__(self, screen: Screen[None]) -> None:
        super().__init__()
        self.first = screen
        self.failed: SantiagoError | None = None
        """The error that left nothing to show."""
        self.plain = not tells_unicode()
        self._terminal = select.poll()
        self._painted = self._told_to_leave = False
        self.register_theme(THEME)
        self.theme = THEME.name  # set before anything is styled, so that nothing is styled twice

    def on_load(self) -> None:
        """Handle signals before the terminal is changed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._terminated)

    def on_mount(self) -> None:
        if self.plain:
            self.add_class("plain")
        self.push_screen(self.first)
        if sys.stdin.isatty():
            self._terminal.register(sys.stdin.fileno(), 0)
            self.set_interval(SECONDS, self._leave_with_the_terminal)

    def on_ready(self) -> None:
        self._painted = True
        if self._told_to_leave:
            self._terminated()

    def call_from_thread(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call what a worker asks for, unless the app leaves meanwhile: its widgets go before its screens."""
        return super().call_from_thread(lambda: callback(*args, **kwargs) if self.is_running else None)

    def _leave_with_the_terminal(self) -> None:
        """Leave if the terminal is gone without a signal. Reading from it would go on for ever."""
        if self._terminal.poll(0):
            self._terminated()

    def _terminated(self) -> None:
        """Leave properly, so that the terminal is restored. The run is another process and goes on."""
        self._told_to_leave = True
        if self._painted:  # leaving earlier would restore the terminal only in part
            self.exit(return_code=ExitCode.TERMINATED)

    def on_show_run(self, event: ShowRun) -> None:
        from santiago.tui.watch import RunScreen

        screen = event.screen.tried(lambda: RunScreen(event.out_dir, plain=event.screen.plain, consents=event.consents))
        if screen is not None:
            self.push_screen(screen)

    def on_show_session(self, event: ShowSession) -> None:
        from santiago.tui.review import ReviewScreen

        screen = event.screen.tried(lambda: ReviewScreen(event.folder, plain=event.screen.plain))
        if screen is not None:
            self.push_screen(screen)

    def fail(self, error: SantiagoError) -> None:
        """Leave with an error, because there is nothing to show."""
        self.failed = error
        self.exit()


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


def run(screen: Screen[None]) -> tuple[int, str]:
    """Show a screen until it is left; return the exit code and the sentence to print. Raise if it cannot be shown."""
    app = SantiagoApp(screen)
    said = app.run()
    if app.failed is not None:
        raise app.failed
    return app.return_code or 0, said or ""
