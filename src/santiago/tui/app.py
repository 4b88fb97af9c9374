"""The frame that all screens share: colours, signals, and a terminal that is left as it was found."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
from typing import TYPE_CHECKING, ClassVar

from textual.app import App

from santiago.contract.reasons import ExitCode
from santiago.tui.look import THEME, tells_unicode

if TYPE_CHECKING:
    from textual.binding import BindingType
    from textual.screen import Screen

    from santiago.contract.errors import SantiagoError

SECONDS = 1.0
"""Between two looks whether the terminal is still there."""


class SantiagoApp(App[str]):
    """Shows one screen; what it returns is a sentence to be printed when the terminal is back."""

    CSS_PATH = "santiago.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []
    TITLE = "santiago"

    def __init__(self, screen: Screen[None]) -> None:
        super().__init__()
        self.first = screen
        self.failed: SantiagoError | None = None
        """Why there was nothing to show."""
        self.plain = not tells_unicode()
        self._terminal = select.poll()
        self._painted = self._told_to_leave = False
        self.register_theme(THEME)
        self.theme = THEME.name  # before anything is styled, so that nothing is styled twice

    def on_load(self) -> None:
        """Be ready for signals before the terminal is changed."""
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

    def _leave_with_the_terminal(self) -> None:
        """Leave where the terminal is gone and no signal said so; reading from it would go on for ever."""
        if self._terminal.poll(0):
            self._terminated()

    def _terminated(self) -> None:
        """Leave in order, so that the terminal is restored; the run is another process and goes on."""
        self._told_to_leave = True
        if self._painted:  # whoever leaves while the screen is still being made leaves it half restored
            self.exit(return_code=ExitCode.TERMINATED)

    def fail(self, error: SantiagoError) -> None:
        """Leave, because there is nothing that could be shown."""
        self.failed = error
        self.exit()


def run(screen: Screen[None]) -> tuple[int, str]:
    """Show a screen until it is left; return the exit code and what is to be said then. What cannot be shown raises."""
    app = SantiagoApp(screen)
    said = app.run()
    if app.failed is not None:
        raise app.failed
    return app.return_code or 0, said or ""
