"""Tickets and their numbers as rows, for programs that ask often; loads little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from santiago.board.tsv import line
from santiago.cli.opened_board import opened_here, wants_rows
from santiago.cli.options import body_at
from santiago.cli.view.terminal import show_data
from santiago.contract.board import FIELDS, QUEUES

if TYPE_CHECKING:
    from santiago.contract.board import Card


def data_of(card: Card) -> dict[str, Any]:
    """Return a ticket as the commands of the queue print it."""
    more = {"queue": card.queue, "request": card.request, "run": card.run, "story": card.story, "decided": card.decided}
    return {**row_of(card), **{one: value for one, value in more.items() if value}}


def row_of(card: Card) -> dict[str, Any]:
    return {one: getattr(card, one) for one in FIELDS}


def list_all(queue: str | None, as_json: bool) -> int:
    """Print the tickets: for people as the board does, for programs with all fields."""
    if not as_json and not wants_rows():
        shown: int = body_at("board_views:show_tickets")(queue)
        return shown
    names = (queue,) if queue else tuple(one for one in QUEUES if one != "done")
    with opened_here() as opened, opened.store.reading() as at:
        found = {one: at.cards(one) if one != "done" else [] for one in names}
    if as_json:
        show_data({one: [data_of(card) for card in cards] for one, cards in found.items()})
        return 0
    for one, cards in found.items():
        if queue is None:
            click.echo(f"# {one}")
        click.echo(line(FIELDS) + "".join(line(row_of(card).values()) for card in cards), nl=False)
    return 0


def stats(as_json: bool) -> None:
    """Print the numbers of tickets."""
    with opened_here() as opened:
        with opened.store.reading() as at:
            counts = at.counts()
        root = opened.place.named(opened.place.root)
    counts, archived = {one: counts.get(one, 0) for one in QUEUES if one != "done"}, counts.get("done", 0)
    if as_json:
        show_data({"root": root, "queues": counts, "archived": archived})
        return
    click.echo(f"# {root}")
    for one in QUEUES:
        click.echo(f"{one}\t{counts.get(one, 0)}")
    click.echo(f"archived\t{archived}")
