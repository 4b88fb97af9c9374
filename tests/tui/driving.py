"""Driving the browser as a person would, by keys and mouse, without a terminal."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from textual.widgets import Input, Static

from santiago.tui.app import SantiagoApp
from santiago.tui.pane import Pane
from santiago.tui.rows import Rows
from santiago.tui.watch import WatchScreen
from tests.cli import greeter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

PATIENCE = 600
"""Looks at a condition before a test gives up; each lets the program go on."""


def stand_in(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a repository as a person would."""
    monkeypatch.chdir(repo)
    for name, value in greeter.place(repo).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("USER", "ann")
    for name in [name for name in os.environ if name.startswith("SANTIAGO_")]:
        monkeypatch.delenv(name)


class Browser:
    """The browser of one run, with somebody at its keys."""

    def __init__(self, app: SantiagoApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> WatchScreen:
        return cast("WatchScreen", self.app.first)

    @property
    def rows(self) -> Rows:
        return self.screen.query_one(Rows)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        names = {" ": "space", "-": "minus", ".": "full_stop", ",": "comma", '"': "quotation_mark", "'": "apostrophe"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def select(self, text: str) -> None:
        self.screen.query_one("#selection", Input).value = text
        await self.pilot.pause()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the program go on until something holds."""
        for _ in range(PATIENCE):
            if holds():
                return
            await self.pilot.pause(0.05)
        raise AssertionError(self.text())

    def said(self) -> str:
        return self.screen.preview()[0]

    def text(self) -> str:
        """Return all that is on the screen, as text."""
        widgets = self.app.screen.query(Static)
        found = [str(widget.content) for widget in widgets]
        found += [self.line(place) for place in range(len(self.rows.rows))]
        found += [line.text for line in self.screen.query_one(Pane).lines]
        return "\n".join(found)

    def line(self, place: int) -> str:
        """Return one row of the list, wherever it is scrolled to."""
        return self.rows.render_line(place - round(self.rows.scroll_offset.y)).text.rstrip()

    def list(self) -> list[str]:
        return [self.line(place) for place in range(len(self.rows.rows))]


def browse(
    out_dir: Path,
    script: Callable[[Browser], Awaitable[None]],
    *,
    size: tuple[int, int] = (80, 24),
    now: str = "",
    plain: bool = False,
) -> Browser:
    """Open the browser on a run and carry a script out."""

    async def carried_out() -> Browser:
        async with _opened(out_dir, size, now, plain=plain) as browser:
            await browser.until(lambda: not browser.screen.following.behind)
            await script(browser)
            return browser

    return asyncio.run(carried_out())


@asynccontextmanager
async def _opened(out_dir: Path, size: tuple[int, int], now: str, *, plain: bool) -> AsyncIterator[Browser]:
    screen = WatchScreen(out_dir, plain=plain)
    if now:
        screen.following.utc = lambda: now
    app = SantiagoApp(screen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Browser(app, pilot)
