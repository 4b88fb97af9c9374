"""Driving the screens as a person would, by keys and mouse, without a terminal."""

import asyncio
import atexit
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from unittest.mock import patch

import pytest
from textual._compositor import Compositor
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from santiago.app import detached
from santiago.tui.app import SantiagoApp
from santiago.tui.base_screen import LEAST
from santiago.tui.listing import Listing
from santiago.tui.pane import Pane
from santiago.tui.review import ReviewScreen
from santiago.tui.rows import Rows
from santiago.tui.watch import WatchScreen
from tests import forked
from tests.cli import greeter

PATIENCE_S = 120
"""Seconds before a test gives up what it waits for."""
MOST_ROUNDS = 1000
"""Rounds of messages before a program counts as one that never rests; a timer may begin one more now and then."""
SOON = {
    "santiago.tui.watch.SLOW": 2, "santiago.tui.review.SLOW": 2, "santiago.tui.review.LATER": 0.001,
    "santiago.tui.board_screen.SECONDS": 0.1, "santiago.tui.watch.AGAIN": 0.1,
}  # fmt: skip
"""What the screens look at only now and then is looked at soon."""
KEYS = {
    " ": "space", "-": "minus", ".": "full_stop", ",": "comma", ":": "colon", '"': "quotation_mark", "'": "apostrophe",
}  # fmt: skip


def stand_in(repo: Path, monkeypatch: pytest.MonkeyPatch, *, real: bool = False) -> None:
    """Stand in a repository as a person would; what the screens start is forked, unless its process is looked at."""
    monkeypatch.chdir(repo)
    if not real:
        monkeypatch.setattr(detached, "sys", SimpleNamespace(executable=program()))
    for name, value in greeter.place(repo).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("USER", "ann")
    for name in [name for name in os.environ if name.startswith("SANTIAGO_")]:
        monkeypatch.delenv(name)


@cache
def program() -> str:
    """Return a program that does what the interpreter does with `-m santiago`, without the wait for its imports."""
    path = Path(tempfile.mkdtemp(prefix="program-")) / "santiago"
    path.write_text(forked.program().replace("\n", '\nif [ "$1" = -m ]; then shift 2; fi\n', 1))
    path.chmod(0o755)
    atexit.register(shutil.rmtree, path.parent)
    return str(path)


def waited(holds: Callable[[], object]) -> None:
    end = monotonic() + PATIENCE_S
    while not holds():
        assert monotonic() < end
        sleep(0.02)


async def settled(app: App[Any]) -> None:
    """Let the program do all that it can do now: until nobody in it has a message left.

    Textual itself waits until the processor was hardly used for a moment, which takes long where nothing happens, and is a
    matter of luck where other programs are at work.
    """
    pilot, quiet = Pilot(app), 0
    for _ in range(MOST_ROUNDS):
        if quiet == 2 or not app.is_running or not app.screen_stack:
            return
        await pilot._wait_for_screen()
        await asyncio.sleep(0)
        app.screen._on_timer_update()
        pumps = (app, *app.screen_stack, *app.screen.walk_children())
        quiet = 0 if any(one.message_queue_size for one in pumps) else quiet + 1
    raise AssertionError("the program never comes to rest")


@asynccontextmanager
async def shown(app: App[Any], size: tuple[int, int]) -> AsyncIterator[Pilot[Any]]:
    """Have an app shown to nobody: without Textual's own waits, and painted at the end alone, or when somebody looks."""

    async def on_its_way(*_waits: float) -> None:
        for _ in range(4):  # a key goes by way of the driver before it is anybody's message
            await asyncio.sleep(0)

    async def done(*_: float) -> None:
        await settled(app)

    painted = Compositor.render_update

    def painted_whole(compositor: Compositor, full: bool = False, **more: Any) -> Any:
        compositor._dirty_regions.clear()
        return painted(compositor, full=True, **more) if full else None

    waits = {"textual.app.wait_for_idle": on_its_way, "textual.pilot.wait_for_idle": done}
    app.animation_level = "none"
    with ExitStack() as patched:
        for name, value in {**SOON, **waits}.items():
            patched.enter_context(patch(name, value))
        patched.enter_context(patch.object(Compositor, "render_update", painted_whole))
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield pilot
            if app.is_running:
                app.export_screenshot()


async def press(app: App[Any], *keys: str) -> None:
    for key in keys:
        await app._press_keys([key])
        await settled(app)


async def until(app: App[Any], holds: Callable[[], bool], text: Callable[[], str]) -> None:
    end = monotonic() + PATIENCE_S
    while not holds():
        assert monotonic() < end, text()
        await asyncio.sleep(0.05)
    await settled(app)


class Person:
    def __init__(self, app: SantiagoApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await press(self.app, *keys)

    async def type(self, text: str) -> None:
        await self.press(*(KEYS.get(letter, letter) for letter in text))

    async def until(self, holds: Callable[[], bool]) -> None:
        await until(self.app, holds, self.text)

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
        return "\n".join(
            [*(str(widget.content) for widget in self.app.screen.query(Static)), *self.list(), self.page()]
        )


async def resized(person: Person, size: tuple[int, int]) -> None:
    await person.pilot.resize_terminal(*size)
    small = size[0] < LEAST[0] or size[1] < LEAST[1]
    await person.until(lambda: tuple(person.app.first.size) == size and person.app.first.has_class("small") is small)
    await settled(person.app)


P = TypeVar("P", bound=Person)


def drive(
    screen: WatchScreen | ReviewScreen,
    person: type[P],
    ready: Callable[[], bool],
    script: Callable[[P], Awaitable[None]],
    size: tuple[int, int],
    now: str,
) -> P:
    if now:
        screen.following.utc = lambda: now
    app = SantiagoApp(screen)

    async def carried_out() -> P:
        async with shown(app, size) as pilot:
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
    screen = WatchScreen(out_dir, plain=plain)
    return drive(screen, Browser, lambda: not screen.following.behind, script, size, now)
