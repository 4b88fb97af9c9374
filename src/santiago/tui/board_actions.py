"""What people do on the board: claim, move, accept and decide, each asked about first and said in words afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.app.board import by_hand
from santiago.app.board.by_hand import accepted, attested
from santiago.app.board.ticket_context import planners_of
from santiago.app.start.leaks import refuse_secrets
from santiago.board.rules import Move
from santiago.contract.board import CLAIMED_FROM, LEASE_MINUTES, MOVES
from santiago.contract.errors import SantiagoError
from santiago.report.board_pages import for_people
from santiago.report.page import Line
from santiago.tui.base_screen import BaseScreen
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Card, Queue

MORE_TRIES = 3
"""Attempts that a ticket gets more of, where it is planned anew and nobody says how many."""


class BoardActions(BaseScreen):
    """The actions; what is shown, and where, is for those who inherit them."""

    opened: BoardHandle
    actor: str

    @property
    def ticket(self) -> dict[str, Any] | None:
        """The ticket under the cursor."""
        raise NotImplementedError

    def reload(self) -> None:
        raise NotImplementedError

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
        return f"{card.id} is in {card.queue} now"

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
        lines = [Line(f"evidence: {flat(one)}") for one in ticket["evidence"]] or [Line("It has no evidence.", "warn")]

        def chosen(_: str) -> None:
            self.say(f"the done gate checks {ticket['id']}")
            self._in_background(lambda: accepted(self.opened.place.project, ticket["id"], self.actor))

        self.decide(f"Accept {_named(ticket)}?", lines, {"y": f"accept it as {self.actor}"}, chosen)

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
                self._do(lambda: _decided(self.opened.board.decide(ticket["id"], word, self.actor)))

        self.decide(f"Decide on {_named(ticket)}", [Line(for_people(ticket["note"]))], keys, chosen)

    def _replan(self, ticket: dict[str, Any], typed: str) -> str:
        if not typed.isdecimal():
            raise ValueError(f"{flat(typed)[:20]!r} is not a number")
        return _decided(self.opened.board.decide(ticket["id"], "replan", self.actor, budget=int(typed[:6])))

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


def _decided(card: Card) -> str:
    return f"{card.id} is closed: {card.decided}" if card.decided else f"{card.id} is in {card.queue} now"
