"""What people do on the board of a repository, and what its pages show: the same rules as on the command line and the screen."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from santiago.app.board import by_hand
from santiago.app.board.asking_tickets import questions_of
from santiago.app.board.by_hand import accepted, attested
from santiago.app.start.leaks import refuse_secrets
from santiago.board import board_place
from santiago.board.board_handle import is_on_board, open_board
from santiago.board.rules import Move
from santiago.contract.board import MOVES, QUEUES
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.board_page import whole_board
from santiago.report.board_pages import ticket_page
from santiago.report.page import Line
from santiago.util.clock import SystemClock
from santiago.util.text import flat
from santiago.web.acting.step import Field, Form, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from santiago.board.board_handle import BoardHandle

MOST = 200
"""Tickets of a queue that are shown; `santiago queue list` has all."""
DECISIONS = {
    "drop": "it is no longer wanted", "replan": "it gets more attempts", "bypass": "whoever waits for it goes on without it",
    "stop": "it is closed, and whoever waits for it stays where it is",
}  # fmt: skip


def has_board() -> bool:
    """Tell whether work of this repository goes through a board."""
    try:
        return is_on_board(board_place.find(Path.cwd(), os.environ))
    except SantiagoError:
        return False


@contextmanager
def _opened() -> Iterator[BoardHandle]:
    if not has_board():
        raise SantiagoError(Kind.USAGE, "this repository has no board")
    with open_board(Path.cwd(), os.environ) as opened:
        yield opened


def board() -> dict[str, Any]:
    """Return the whole board as data."""
    with _opened() as opened:
        return whole_board(opened, 0, SystemClock().utc(), MOST)  # looking puts no plan onto the board


def ticket_of(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = (one for tickets in data["queues"].values() for one in tickets if one["id"] == name)
    ticket: dict[str, Any] | None = next(found, None)
    if ticket is None:
        raise SantiagoError(Kind.USAGE, f"no open ticket is called {name[:60]}")
    return ticket


def lines_of(data: Mapping[str, Any], ticket: dict[str, Any]) -> list[Line]:
    """Return all about a ticket, with the questions that its run asks."""
    asking = ticket["id"] in data["verdict"]["user_confirmation_ids"]
    with _opened() as opened:
        questions = questions_of(ticket["run"], ticket["story"], opened.place.project) if asking else []
    return ticket_page(ticket, asking=asking, questions=questions)


def forms(ticket: Mapping[str, Any]) -> list[Form]:
    """Return what can be asked for about a ticket."""
    can, about, found = offered(ticket), {"ticket": ticket["id"]}, list[Form]()
    decide = f"santiago queue decide {ticket['id']}"
    if can["accept"]:
        command = (
            f'santiago accept {ticket["run"]} {ticket["story"]} --why "…"'
            if can["why"]
            else f"santiago queue move --id {ticket['id']} --to done"
        )
        fields = (Field("No test shows it. Why is it done?", kind="line"),) if can["why"] else ()
        found.append(
            Form(act="ticket-accept", about=about, button="Accept", look="main", fields=fields, command=command)
        )
    if can["queues"]:
        label, words = (
            "For blocked: why. For planner-review: the files that show the work.",
            tuple((one, "") for one in can["queues"]),
        )
        command = f"santiago queue move --id {ticket['id']} --to QUEUE"
        found.append(
            Form(
                act="ticket-move",
                about=about,
                title="Send it to another queue",
                fields=(Field(label, kind="line"),),
                words=words,
                command=command,
            )
        )
    if can["decisions"]:
        fields = (Field("For replan: how many attempts in all", kind="line"),) if "replan" in can["decisions"] else ()
        words = tuple(can["decisions"].items())
        found.append(
            Form(
                act="ticket-decide",
                about=about,
                title="Decide",
                fields=fields,
                words=words,
                command=f"{decide} {'|'.join(can['decisions'])}",
            )
        )
    return found


def offered(ticket: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can be done with a ticket: whether it can be accepted, where it can be moved, what can be decided."""
    can = [] if ticket["decided"] else ["drop"]
    if ticket["queue"] == "blocked" and ticket["spent"]:
        can = ["replan", "bypass", "stop"]
    return {
        "accept": ticket["queue"] == "planner-review" or ticket["unproven"], "why": ticket["unproven"],
        "queues": [one for one in MOVES[ticket["queue"]] if one not in ("done", ticket["queue"])],
        "decisions": {word: DECISIONS[word] for word in can},
    }  # fmt: skip


def understand(form: Mapping[str, str], who: str) -> Step:
    """Return what a form about a ticket asks for; raise where that is not offered."""
    data, text = board(), form.get("text", "").strip()
    ticket = ticket_of(data, form.get("ticket", ""))
    can, word, name = offered(ticket), form.get("word", ""), ticket["id"]
    refuse_secrets(text.encode("utf-8", "replace"), "the ticket")
    evidence = [Line(f"evidence: {flat(one)}") for one in ticket["evidence"]] or [Line("It has no evidence.", "warn")]
    match form.get("act"):
        case "ticket-accept" if can["accept"] and bool(text) == can["why"]:
            lines = (
                [Line("No test shows it; your word is what makes it done."), Line(flat(text), "head")] if text else []
            )
            command = f"santiago queue move --id {name} --to done --actor {quote(who)}"
            command = f"santiago accept {ticket['run']} {ticket['story']} --why {quote(text)}" if text else command
            does, do, agreed = "Accept", lambda: _through_the_gate(ticket, text, who), "accept"
            lines += evidence
        case "ticket-move" if to := next((one for one in QUEUES if one == word and one in can["queues"]), None):
            wish = Move(to=to, note=text) if to == "blocked" else Move(to=to, evidence=text) if text else Move(to=to)
            lines, command = (
                [Line(f"to {word}", "head"), Line(flat(text))],
                f"santiago queue move --id {name} --to {word}",
            )
            does, do, agreed = "Move", lambda: _moved(ticket, wish, who), ""
        case "ticket-decide" if word in can["decisions"]:
            budget = _budget(text, ticket) if word == "replan" else None
            lines = [Line(f"{word}: {DECISIONS[word]}{f', {budget} in all' if budget else ''}", "head")]
            command = f"santiago queue decide {name} {word}{f' --budget {budget}' if budget else ''}"
            does, do, agreed = "Decide", lambda: _decided(name, word, budget, who), ""
        case _:
            raise SantiagoError(
                Kind.INPUT, f"{name} is in {ticket['queue']}, where that cannot be done, or its reason is missing"
            )
    return Step(title=f"{does}: {name}?", lines=lines, button=does, command=command, do=do, agreed=agreed, form=form)


def _through_the_gate(ticket: Mapping[str, Any], why: str, who: str) -> str:
    with _opened() as opened:
        project = opened.place.project
        if not why:
            by_hand.refuse_other_than_planner(opened, who, in_person=True)
    if why:
        done, said = attested(project, ticket["id"], ticket["run"], ticket["story"], why, who)
    else:
        done, said = accepted(project, ticket["id"], who)
    if not done:
        raise SantiagoError(Kind.INPUT, said)
    return said


def _moved(ticket: Mapping[str, Any], wish: Move, who: str) -> str:
    with _opened() as opened:
        card = by_hand.hand_over(opened, ticket["id"], ticket["queue"], wish, who, worker=who)
        return f"{card.id} is in {card.queue} now"


def _decided(name: str, word: str, budget: int | None, who: str) -> str:
    with _opened() as opened:
        by_hand.refuse_other_than_planner(opened, who, in_person=True)
        card = opened.board.decide(name, word, who, budget=budget)
        return f"{card.id} is closed: {card.decided}" if card.decided else f"{card.id} is in {card.queue} now"


def _budget(text: str, ticket: Mapping[str, Any]) -> int:
    if not (text.isascii() and text.isdecimal() and ticket["attempt_count"] < int(text[:6]) <= 1000):
        raise SantiagoError(Kind.USAGE, f"how many attempts in all? A number above {ticket['attempt_count']}")
    return int(text)
