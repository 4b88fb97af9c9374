"""The board's screen with somebody at its keys; `python -m tests.board.screens` draws its pictures anew."""

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from santiago.board.board_handle import BoardHandle
from santiago.tui.app import SantiagoApp
from santiago.tui.board_screen import BoardScreen, Column
from santiago.tui.pane import Pane
from tests.board.boards import Desk
from tests.board.cards import NOW, blocked, card, spent
from tests.tui.driving import press, shown, until

HERE = Path(__file__).parent / "pictures"
TICKS = 1_000_000
PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "board-120x30.svg": ((120, 30), ()),
    "board-80x24.svg": ((80, 24), ()),
    "board-60x24.svg": ((60, 24), ("left",)),
}


class Person:
    def __init__(self, app: SantiagoApp, screen: BoardScreen, pilot: Pilot[Any]) -> None:
        self.app, self.screen, self.pilot = app, screen, pilot

    async def press(self, *keys: str) -> None:
        await press(self.app, *keys)

    async def until(self, holds: Callable[[], bool]) -> None:
        await until(self.app, holds, self.text)

    def tickets(self, queue: str) -> list[str]:
        column = self.screen.query_one(f"#{queue}", Column)
        return [str(one.prompt).split()[0] for one in column.query_one(OptionList).options]

    def visible(self) -> list[str]:
        return [column.queue for column in self.screen.query(Column) if column.display]

    def page(self) -> str:
        return "\n".join(line.text for line in self.screen.query_one(Pane).lines)

    def said(self) -> str:
        return self.screen.told[0]

    def text(self) -> str:
        return "\n".join([*(str(one.content) for one in self.app.screen.query(Static)), self.page(), self.said()])


def look(
    desk: Desk | BoardHandle,
    script: Callable[[Person], Awaitable[None]],
    *,
    size: tuple[int, int] = (120, 30),
    actor: str = "ann",
) -> None:
    async def carried_out() -> None:
        opened = desk.opened if isinstance(desk, Desk) else desk
        screen = BoardScreen(opened, 0, actor, lambda: NOW)
        app = SantiagoApp(screen)
        async with shown(app, size) as pilot:
            await script(Person(app, screen, pilot))

    asyncio.run(carried_out())


def filled(desk: Desk) -> None:
    desk.keep(
        card("AUTH", "planner-inbox", title="Sign in everywhere", updated_at="2026-11-17T11:40:00Z"),
        card("LAB-1", "scientist-todo", title="How long may a session live?", updated_at="2026-11-17T09:00:00Z"),
        card(
            "AUTH.S1", title="Sign in with a passkey", status="in_progress", phase="running", worker="ben", attempt_count=1,
            lease="held:ben:2026-11-17T11:43:00Z", expires=TICKS + 43 * 60_000, arrival=1,
        ),
        card("AUTH.S2", title="Sign out everywhere", error_class="dependency_blocked", arrival=2),
        card("AUTH.S0", "planner-review", title="A page of one's own", attempt_count=1, evidence_links="a/results.tsv,b.log"),
        spent("PAY-1", title="p0 Pay by card", note="The sandbox of the bank is gone", updated_at="2026-11-10T12:00:00Z", arrival=1),
        blocked("PAY-2", title="Which bank?", note="needs_user_confirmation", arrival=2),
        card("OLD", "done", archived_at=NOW, archived_by="planner"),
    )  # fmt: skip
    with desk.store.writing() as at:
        at.add_wait("AUTH.S2", "AUTH.S1")


def drawn(name: str) -> str:
    """Paint a picture and return it as SVG; without fonts from elsewhere, so that it needs no network."""
    size, keys = PICTURES[name]
    found: list[str] = []

    async def paints(person: Person) -> None:
        await person.press(*keys)
        await person.pilot.pause()
        found.append(person.app.export_screenshot(title="santiago board"))

    with tempfile.TemporaryDirectory() as folder, patch("santiago.report.whole_board.ticks_of", lambda _: TICKS):
        desk = Desk(Path(folder).resolve())
        filled(desk)
        look(desk, paints, size=size)
        desk.store.close()
    svg = re.sub(r"@font-face \{.*?\}", "", found[0], flags=re.DOTALL).replace("Fira Code", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for one in PICTURES:
        (HERE / one).write_text(drawn(one), encoding="utf-8")
