"""Driving the screens as a person would, by keys and mouse, without a terminal."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.widgets import Input, Static

from santiago.tui.app import SantiagoApp
from santiago.tui.listing import Listing
from santiago.tui.pane import Pane
from santiago.tui.rows import Rows
from santiago.tui.watch import WatchScreen
from tests.cli import greeter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

    from santiago.tui.review import ReviewScreen

PATIENCE = 600
"""Looks at a condition before a test gives up; each lets the program go on."""
KEYS = {
    " ": "space", "-": "minus", ".": "full_stop", ",": "comma", ":": "colon", '"': "quotation_mark", "'": "apostrophe",
}  # fmt: skip


def stand_in(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a repository as a person would."""
    monkeypatch.chdir(repo)
    for name, value in greeter.place(repo).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("USER", "ann")
    for name in [name for name in os.environ if name.startswith("SANTIAGO_")]:
        monkeypatch.delenv(name)


class Person:
    """Somebody at the keys of a screen."""

    def __init__(self, app: SantiagoApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*(KEYS.get(letter, letter) for letter in text))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the program go on until something holds, and all that came with it is there."""
        for _ in range(PATIENCE):
            if holds():
                await self.pilot.pause()
                return
            await self.pilot.pause(0.05)
        raise AssertionError(self.text())

    async def sees(self, text: str) -> None:
        await self.until(lambda: text in self.text())

    def text(self) -> str:
        raise NotImplementedError

    def line(self, place: int) -> str:
        """Return one row of the list, wherever it is scrolled to."""
        rows = self.app.first.query_one(Listing)
        return rows.render_line(place - round(rows.scroll_offset.y)).text.rstrip()

    def list(self) -> list[str]:
        return [self.line(place) for place in range(len(self.app.first.query_one(Listing).rows))]

    def page(self) -> str:
        return "\n".join(line.text for line in self.app.first.query_one(Pane).lines)


class Browser(Person):
    """The browser of one run, with somebody at its keys."""

    @property
    def screen(self) -> WatchScreen:
        return cast("WatchScreen", self.app.first)

    @property
    def rows(self) -> Rows:
        return self.screen.query_one(Rows)

    async def select(self, text: str) -> None:
        self.screen.query_one("#selection", Input).value = text
        await self.pilot.pause()

    def said(self) -> str:
        return self.screen.preview()[0]

    def text(self) -> str:
        """Return all that is on the screen, as text."""
        return "\n".join(
            [*(str(widget.content) for widget in self.app.screen.query(Static)), *self.list(), self.page()]
        )


P = TypeVar("P", bound=Person)


def drive(
    screen: WatchScreen | ReviewScreen,
    person: type[P],
    ready: Callable[[], bool],
    script: Callable[[P], Awaitable[None]],
    size: tuple[int, int],
    now: str,
) -> P:
    """Show a screen to a person, and have a script carried out when it is ready."""
    if now:
        screen.following.utc = lambda: now
    app = SantiagoApp(screen)

    async def carried_out() -> P:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            somebody = person(app, pilot)
            await somebody.until(ready)
            await script(somebody)
            return somebody

    return asyncio.run(carried_out())


def browse(
    out_dir: Path,
    script: Callable[[Browser], Awaitable[None]],
    *,
    size: tuple[int, int] = (80, 24),
    now: str = "",
    plain: bool = False,
) -> Browser:
    """Open the browser on a run and carry a script out."""
    screen = WatchScreen(out_dir, plain=plain)
    return drive(screen, Browser, lambda: not screen.following.behind, script, size, now)
