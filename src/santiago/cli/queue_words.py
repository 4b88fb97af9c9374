"""What the queue commands share: their options, and a ticket as they print it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import click

from santiago.contract.board import FIELDS, QUEUES, Phase
from santiago.contract.reasons import ErrorClass

if TYPE_CHECKING:
    from santiago.contract.board import Card

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
QUEUE = click.Choice(QUEUES)
PHASE = click.Choice(get_args(Phase))
CLASS = click.Choice(get_args(ErrorClass))


def data_of(card: Card) -> dict[str, Any]:
    more = {"queue": card.queue, "request": card.request, "run": card.run, "story": card.story, "decided": card.decided}
    return {**{one: getattr(card, one) for one in FIELDS}, **{one: value for one, value in more.items() if value}}


def show(card: Card, *, as_json: bool, word: str) -> int:
    if as_json:
        print_data(data_of(card))
    else:
        click.echo(f"{word}:{card.id}:{card.queue}")
    return 0


def refuse_secrets(*texts: str | None) -> None:
    """Raise if a text for the board holds a secret of this machine, since it would be stored unchanged and shown to others."""
    from santiago.app.start.leaks import refuse_secrets as refuse

    refuse("\n".join(filter(None, texts)).encode("utf-8", "replace"), "the ticket")


def show_row(card: Card) -> None:
    from santiago.board.tsv import line

    click.echo(line(getattr(card, one) for one in FIELDS), nl=False)


def print_data(data: object) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))
