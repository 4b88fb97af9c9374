"""The board on the whole terminal: queues as columns, one ticket in detail, and what others change as it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from santiago.app.board.asking_tickets import questions_of
from santiago.board.loop_verdict import ACTIONABLE
from santiago.report.board import whole_board
from santiago.report.board_pages import awaited, empty_page, headline, standing, ticket_page, tone_of, word
from santiago.report.page import Line
from santiago.tui.app import run
from santiago.tui.base_screen import Head
from santiago.tui.board_actions import BoardActions
from santiago.tui.keys import BOARD, bindings
from santiago.tui.look import TONES, cut, shown, tells_unicode
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.board.board_handle import BoardHandle
    from santiago.report.page import Tone

SECONDS = 0.5
"""Between two looks whether another process changed the board."""
SLOW = 60
"""Looks between two readings of a board that nobody changed: its ages and leases go on."""
MOST = 200
"""Tickets of a queue that are shown; `santiago queue list` has all."""
_TONES: dict[str, Tone] = {"OPEN": "busy", "DONE": "good", "NEEDS YOU": "warn", "STUCK": "bad"}


class Column(Vertical):
    """One queue."""

    def __init__(self, queue: str, *, plain: bool) -> None:
        super().__init__(id=queue)
        self.queue, self.plain = queue, plain
        self.tickets: list[dict[str, Any]] = []
        self._number, self._asking = 0, list[str]()
        self._painted: list[tuple[str, str, Tone]] = []

    def compose(self) -> ComposeResult:
        yield Static(classes="name")
        yield OptionList(compact=True)

    @property
    def options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def current(self) -> dict[str, Any] | None:
        place = self.options.highlighted
        return self.tickets[place] if place is not None and place < len(self.tickets) else None

    def show(self, tickets: list[dict[str, Any]], number: int, asking: list[str]) -> None:
        """Show these tickets; the cursor stays on its own, wherever that stands now."""
        self._number, self._asking = number, asking
        name = Text(cut(f"{self.queue} {number:,}", max(4, self.size.width - 1)), no_wrap=True, style=TONES["head"])
        self.query_one(".name", Static).update(name)
        room = max(8, self.size.width - 3)
        painted = [
            (
                cut(f"{one['id']} {flat(one['title'])}", room),
                cut(standing(one), room),
                tone_of(one, asking=one["id"] in asking),
            )
            for one in tickets
        ]
        chosen = self.current
        self.tickets = tickets
        if painted == self._painted:
            return
        self._painted = painted
        places = [place for place, one in enumerate(tickets) if chosen is not None and one["id"] == chosen["id"]]
        self.options.clear_options()
        self.options.add_options([Option(self._text(*one)) for one in painted])
        self.options.highlighted = places[0] if places else (0 if tickets else None)

    def on_resize(self) -> None:
        """Cut the texts anew: a column gets its width after the first painting, or when it is first shown."""
        self.show(self.tickets, self._number, self._asking)

    def _text(self, title: str, told: str, tone: Tone) -> Text:
        text = Text(shown(title, plain=self.plain), style=TONES[tone], no_wrap=True)
        return text.append(f"\n{shown(told, plain=self.plain)}", style=TONES["dim"])


class BoardScreen(BoardActions):
    """Shows one board; what people do here follows the same rules as on the command line."""

    KEYS, needing, printing = BOARD, "the board", "santiago queue list"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(BOARD), ("left", "beside(-1)")]

    def __init__(
        self, opened: BoardHandle, backlog: int, actor: str, utc: Callable[[], str], *, plain: bool = False
    ) -> None:
        super().__init__(plain=plain)
        self.opened, self.backlog, self.actor, self.utc = opened, backlog, actor, utc
        self.columns = [Column(queue, plain=plain) for queue in ACTIONABLE]
        self.data: dict[str, Any] = {}
        self.at = 0
        """The column with the cursor."""
        self._changes = -1
        """The number of the board's changes that were read."""

    def body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            yield from self.columns
        yield self.pane

    def on_mount(self) -> None:
        self.reload()
        self._go_to_decision()
        self.columns[self.at].options.focus()
        self._turn()
        self.set_interval(SECONDS, self.tick)

    def _go_to_decision(self) -> None:
        """Put the cursor on the ticket that somebody has to decide on, else on the first one."""
        names = awaited(self.data) if self.data else []
        places = {
            one["id"]: (at, row) for at, column in enumerate(self.columns) for row, one in enumerate(column.tickets)
        }
        self.at, row = next((places[name] for name in names if name in places), next(iter(places.values()), (0, None)))
        self.columns[self.at].options.highlighted = row

    # Following

    def tick(self) -> None:
        """Read the board where another process changed it, and now and then for its ages; nothing while a window is open."""
        if not self.is_current:
            return
        self._ticks += 1
        changes = self.tried(self.opened.store.changes)
        if changes is not None and (changes != self._changes or self._ticks % SLOW == 0):
            self.reload()

    def reload(self) -> None:
        """Read the whole board, as it is at this moment."""
        changes = self.tried(self.opened.store.changes)
        data = self.tried(lambda: whole_board(self.opened, self.backlog, self.utc(), MOST))
        if changes is not None and data is not None:
            self._changes, self.data, self.ready = changes, data, True
            self.paint()

    @property
    def ticket(self) -> dict[str, Any] | None:
        return self.columns[self.at].current

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        for column in self.columns if self.ready and self.app.is_running else ():
            tickets, number = self.data["queues"][column.queue], self.data["counts"][column.queue]
            column.show(tickets, number, self.data["verdict"]["user_confirmation_ids"])
        super().paint(anew=anew)

    def head(self) -> Head:
        status, (first, *rest) = word(self.data), headline(self.data)
        return Head("", status, _TONES.get(status, "head"), [first], rest)

    def page(self) -> list[Line]:
        ticket = self.ticket
        if ticket is None:
            nothing = Line(f"no ticket is in {self.columns[self.at].queue}", "dim")
            return empty_page(self.data) or [nothing]
        asking = ticket["id"] in self.data["verdict"]["user_confirmation_ids"]
        questions = questions_of(ticket["run"], ticket["story"], self.opened.place.project) if asking else []
        return ticket_page(ticket, asking=asking, questions=questions)

    # The cursor

    def action_beside(self, step: int) -> None:
        self.at = (self.at + step) % len(self.columns)
        self.columns[self.at].options.focus()
        self._turn()

    def _turn(self) -> None:
        """Show which column has the cursor; where there is no room, only that one is shown."""
        for place, column in enumerate(self.columns):
            column.set_class(place == self.at, "here")
        self.call_after_refresh(self.paint)

    def on_descendant_focus(self) -> None:
        at = next((place for place, one in enumerate(self.columns) if one.options.has_focus), self.at)
        if at != self.at:
            self.at = at
            self._turn()

    def on_option_list_option_highlighted(self) -> None:
        if self.ready:
            self.paint_page()


def show_board(opened: BoardHandle, backlog: int, actor: str, utc: Callable[[], str]) -> int:
    """Show a board until its screen is left; return the exit code."""
    code, _ = run(BoardScreen(opened, backlog, actor, utc, plain=not tells_unicode()))
    return code
