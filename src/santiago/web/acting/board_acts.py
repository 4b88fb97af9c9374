"""What people do on the board of a repository, and what its pages show: the same rules as on the command line and the screen."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
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
from santiago.contract.board import MOVES
from santiago.contract.errors import Kind, SantiagoError
from santiago.report.board_pages import evidence_lines, ticket_page, whereabouts
from santiago.report.page import Line
from santiago.report.whole_board import whole_board
from santiago.util.clock import SystemClock
from santiago.util.text import flat
from santiago.web.acting.step import Field, Form, Step, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from santiago.board.board_handle import BoardHandle
    from santiago.contract.board import Queue

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


def offered(form: Mapping[str, str], who: str) -> tuple[str, list[Form]]:
    """Return how the ticket stands which a form is about, and what is offered for it."""
    ticket = ticket_of(board(), form["ticket"])
    return f"{ticket['id']} is in {ticket['queue']}", forms(ticket, who)


def forms(ticket: dict[str, Any], who: str) -> list[Form]:
    """Return what can be asked for about a ticket: to accept it, to move it, to decide on it."""
    name, form, found = ticket["id"], partial(Form, about={"ticket": ticket["id"]}), list[Form]()
    accept = partial(form, act="ticket-accept", button="Accept", look="main", means=partial(_accept, ticket, who))
    if ticket["unproven"]:
        why = Field("No test shows it. Why is it done?", kind="line")
        found.append(accept(fields=(why,), command=f'santiago accept {ticket["run"]} {ticket["story"]} --why "…"'))
    elif ticket["queue"] == "planner-review":
        found.append(accept(command=f"santiago queue move --id {name} --to done"))
    if queues := [one for one in MOVES[ticket["queue"]] if one not in ("done", ticket["queue"])]:
        found.append(form(
            act="ticket-move", title="Send it to another queue", words=tuple((one, "") for one in queues),
            fields=(Field("For blocked: why. For planner-review: the files that show the work.", kind="line"),),
            command=f"santiago queue move --id {name} --to QUEUE", means=partial(_move, ticket, queues, who),
        ))  # fmt: skip
    is_spent = ticket["queue"] == "blocked" and ticket["spent"]
    if can := ["replan", "bypass", "stop"] if is_spent else [] if ticket["decided"] else ["drop"]:
        found.append(form(
            act="ticket-decide", title="Decide", words=tuple((one, DECISIONS[one]) for one in can),
            fields=(Field("For replan: how many attempts in all", kind="line"),) if is_spent else (),
            command=f"santiago queue decide {name} {'|'.join(can)}", means=partial(_decide, ticket, can, who),
        ))  # fmt: skip
    return found


def _accept(ticket: dict[str, Any], who: str, form: Mapping[str, str]) -> Step:
    why, command = "", f"santiago queue move --id {ticket['id']} --to done --actor {quote(who)}"
    lines = evidence_lines(ticket)
    if ticket["unproven"]:
        why = _without_secrets(text_of(form, "say why it is done"))
        command = f"santiago accept {ticket['run']} {ticket['story']} --why {quote(why)}"
        lines = [Line("No test shows it; your word is what makes it done."), Line(flat(why), "head"), *lines]
    return Step(
        title=f"Accept: {ticket['id']}?", lines=lines, button="Accept", command=command, agreed="accept", form=form,
        do=lambda: _through_the_gate(ticket, why, who),
    )  # fmt: skip


def _move(ticket: Mapping[str, Any], queues: Sequence[Queue], who: str, form: Mapping[str, str]) -> Step:
    to, text = (
        next((one for one in queues if one == form.get("word")), None),
        _without_secrets(form.get("text", "").strip()),
    )
    if to is None:
        raise SantiagoError(Kind.INPUT, f"{ticket['id']} is in {ticket['queue']}, and cannot be moved there")
    wish = Move(to=to, note=text) if to == "blocked" else Move(to=to, evidence=text) if text else Move(to=to)
    return Step(
        title=f"Move: {ticket['id']}?", lines=[Line(f"to {to}", "head"), Line(flat(text))], button="Move", form=form,
        command=f"santiago queue move --id {ticket['id']} --to {to}", do=lambda: _moved(ticket, wish, who),
    )  # fmt: skip


def _decide(ticket: Mapping[str, Any], can: Sequence[str], who: str, form: Mapping[str, str]) -> Step:
    name, word = ticket["id"], form.get("word", "")
    if word not in can:
        raise SantiagoError(Kind.INPUT, f"{name} is in {ticket['queue']}, where that cannot be decided")
    budget = int(number_of(form, "text", 1000, whole=True)) if word == "replan" else None
    if budget is not None and budget <= ticket["attempt_count"]:
        raise SantiagoError(Kind.USAGE, f"how many attempts in all? A number above {ticket['attempt_count']}")
    return Step(
        title=f"Decide: {name}?", lines=[Line(f"{word}: {DECISIONS[word]}{f', {budget} in all' if budget else ''}", "head")], button="Decide",
        command=f"santiago queue decide {name} {word}{f' --budget {budget}' if budget else ''}", form=form,
        do=lambda: _decided(name, word, budget, who),
    )  # fmt: skip


def _without_secrets(text: str) -> str:
    """Return what somebody typed; raise if it holds a secret, since the board keeps it."""
    refuse_secrets(text.encode("utf-8", "replace"), "the ticket")
    return text


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
        return whereabouts(by_hand.hand_over(opened, ticket["id"], ticket["queue"], wish, who, worker=who))


def _decided(name: str, word: str, budget: int | None, who: str) -> str:
    with _opened() as opened:
        by_hand.refuse_other_than_planner(opened, who, in_person=True)
        return whereabouts(opened.board.decide(name, word, who, budget=budget))
