"""The board on the whole terminal: queues as columns, one ticket in detail, what others change, and what people do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from santiago.app.board import by_hand
from santiago.app.board.asking_tickets import questions_of
from santiago.app.board.by_hand import accepted, attested
from santiago.app.board.ticket_context import planners_of
from santiago.app.start.leaks import refuse_secrets
from santiago.board.loop_verdict import ACTIONABLE
from santiago.board.rules import Move
from santiago.contract.board import CLAIMED_FROM, LEASE_MINUTES, MOVES
from santiago.contract.errors import SantiagoError
from santiago.report import board_pages
from santiago.report.board_pages import awaited, empty_page, for_people, headline, standing, ticket_page, tone_of, word
from santiago.report.page import Line
from santiago.report.whole_board import whole_board
from santiago.tui.app import run
from santiago.tui.base_screen import BaseScreen, Head
from santiago.tui.keys import BOARD, bindings
from santiago.tui.look import TONES, cut, shown, tells_unicode
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Queue
    from santiago.report.page import Tone

SECONDS = 0.5
"""Between two looks whether another process changed the board."""
SLOW = 60
"""Looks between two readings of a board that nobody changed: its ages and leases go on."""
MOST = 200
"""Tickets of a queue that are shown; `santiago queue list` has all."""
MORE_TRIES = 3
"""Attempts that a ticket gets more of, where it is planned anew and nobody says how many."""


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


class BoardScreen(BaseScreen):
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
        """The ticket under the cursor."""
        return self.columns[self.at].current

    # Painting

    def paint(self, *, anew: bool = False) -> None:
        for column in self.columns if self.ready and self.app.is_running else ():
            tickets, number = self.data["queues"][column.queue], self.data["counts"][column.queue]
            column.show(tickets, number, self.data["verdict"]["user_confirmation_ids"])
        super().paint(anew=anew)

    def head(self) -> Head:
        status, (first, *rest) = word(self.data), headline(self.data)
        return Head("", status, board_pages.TONES.get(status, "head"), [first], rest)

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

    # What people do: each is asked about first, and said in words afterwards

    def action_claim(self) -> None:
        ticket = self.ticket
        if ticket is None or ticket["queue"] not in CLAIMED_FROM:
            self.say(f"only tickets in {', '.join(CLAIMED_FROM)} can be claimed", "warn")
            return
        checks = f"santiago queue verify {ticket['id']}"
        lines = [
            Line(f"One claim is one attempt. When the work is committed, {checks} runs its checks and hands it over.")
        ]
        keys = {"y": f"claim it as {self.actor}"}
        self.decide(f"Claim {_named(ticket)}?", lines, keys, lambda _: self._do(lambda: self._claim(ticket)))

    def _claim(self, ticket: dict[str, Any]) -> str:
        card = by_hand.claim(
            self.opened, ticket["queue"], self.actor, self.actor, name=ticket["id"], minutes=LEASE_MINUTES
        ).card
        if card is None:
            return f"{ticket['id']} has no attempt left; it went to blocked, and the planner decides"
        return f"{card.id} is yours: try {card.attempt_count} of {card.retry_budget}"

    def action_move(self) -> None:
        ticket = self.ticket
        if ticket is None:
            self.say("go to a ticket first")
            return
        queues = [queue for queue in MOVES[ticket["queue"]] if queue not in ("done", ticket["queue"])]
        reviewed = ticket["queue"] == "planner-review"
        lines = [Line(f"The planner accepts {ticket['id']} with a.", "dim")] if reviewed else []
        self.pick(f"Move {_named(ticket)} to", queues, lambda place: self._move(ticket, queues[place]), *lines)

    def _move(self, ticket: dict[str, Any], to: Queue) -> None:
        """Move at once, or ask first for what a move to that queue needs."""
        if to == "blocked":
            self._say_with(ticket, f"Why is {ticket['id']} blocked?", lambda text: Move(to=to, note=text))
        elif to == "planner-review" and not ticket["evidence"]:
            title = f"Which files show the work on {ticket['id']}?"
            self._say_with(ticket, title, lambda text: Move(to=to, evidence=text))
        else:
            self._do(lambda: self._moved(ticket, Move(to=to)))

    def _say_with(self, ticket: dict[str, Any], title: str, wish: Callable[[str], Move]) -> None:
        self._type(title, "", lambda text: self._moved(ticket, wish(text)))

    def _moved(self, ticket: dict[str, Any], wish: Move) -> str:
        card = by_hand.hand_over(self.opened, ticket["id"], ticket["queue"], wish, self.actor, worker=self.actor)
        return board_pages.whereabouts(card)

    def action_accept(self) -> None:
        """Ask for the planner's word on work that waits for it; the done gate has the last one."""
        ticket = self.ticket
        if ticket is not None and ticket["unproven"]:
            self._type(f"No test shows {ticket['id']}. Why is it done?", "", lambda text: self._attest(ticket, text))
            return
        if ticket is None or ticket["queue"] != "planner-review":
            self.say("only tickets in planner-review can be accepted", "warn")
            return
        if not self._is_planner():
            return

        def chosen(_: str) -> None:
            self.say(f"the done gate checks {ticket['id']}")
            self._in_background(lambda: accepted(self.opened.place.project, ticket["id"], self.actor))

        self.decide(
            f"Accept {_named(ticket)}?", board_pages.evidence_lines(ticket), {"y": f"accept it as {self.actor}"}, chosen
        )

    def _attest(self, ticket: dict[str, Any], why: str) -> str:
        """Take unproven work as done, on the word of whoever sits here."""
        names = (ticket["id"], ticket["run"], ticket["story"])
        self._in_background(lambda: attested(self.opened.place.project, *names, why, self.actor))
        return f"the done gate checks {ticket['id']}"

    def _in_background(self, act: Callable[[], tuple[bool, str]]) -> None:
        def accept() -> None:
            done, said = act()
            self.app.call_from_thread(self.say, said, "good" if done else "bad")
            self.app.call_from_thread(self.reload)

        self.run_worker(accept, thread=True, group="accepting", exclusive=True)

    def _is_planner(self) -> bool:
        """Tell whether whoever sits here is a planner; say what to do where not."""
        try:
            by_hand.refuse_other_than_planner(self.opened, self.actor, in_person=True)
        except SantiagoError as error:
            planner = next(iter(planners_of(self.opened.place.project, in_person=False)), "NAME")
            self.say(f"{error.message}. Leave with q, then `santiago board --actor {planner}`.", "bad")
            return False
        return True

    def action_decide(self) -> None:
        """Ask the planner's word on a ticket that has no attempt left, or that is no longer wanted."""
        ticket = self.ticket
        if ticket is None or ticket["decided"]:
            self.say("go to a ticket that is not closed first", "warn")
            return
        if not self._is_planner():
            return
        keys = {"x": "drop: it is no longer wanted"}
        if ticket["queue"] == "blocked" and ticket["spent"]:
            keys = {"r": "replan with more attempts", "b": "bypass: whoever waits goes on", "s": "stop"}

        def chosen(key: str) -> None:
            if key == "r":
                usual = str(ticket["attempt_count"] + MORE_TRIES)
                self._type(
                    f"How many attempts in all for {ticket['id']}?", usual, lambda text: self._replan(ticket, text)
                )
            else:
                word = {"b": "bypass", "s": "stop", "x": "drop"}[key]
                self._do(lambda: board_pages.whereabouts(self.opened.board.decide(ticket["id"], word, self.actor)))

        self.decide(f"Decide on {_named(ticket)}", [Line(for_people(ticket["note"]))], keys, chosen)

    def _replan(self, ticket: dict[str, Any], typed: str) -> str:
        if not typed.isdecimal():
            raise ValueError(f"{flat(typed)[:20]!r} is not a number")
        return board_pages.whereabouts(
            self.opened.board.decide(ticket["id"], "replan", self.actor, budget=int(typed[:6]))
        )

    def action_leave(self) -> None:
        self.app.exit("")

    def _type(self, title: str, value: str, act: Callable[[str], str]) -> None:
        """Ask for a line of text, and do what it says."""

        def take(text: str) -> None:
            refuse_secrets(text.encode("utf-8", "replace"), "the ticket")
            self.say(act(text), "good")

        self.ask_line(title, [], take, lambda _: self.reload(), value=value)

    def _do(self, act: Callable[[], str]) -> None:
        if (said := self.tried(act)) is not None:
            self.say(said, "good")
        self.reload()


def _named(ticket: dict[str, Any]) -> str:
    return f"{ticket['id']} {flat(ticket['title'])}"


def show_board(opened: BoardHandle, backlog: int, actor: str, utc: Callable[[], str]) -> int:
    """Show a board until its screen is left; return the exit code."""
    code, _ = run(BoardScreen(opened, backlog, actor, utc, plain=not tells_unicode()))
    return code
