"""What the queue commands share: their options, and a ticket as they print it, in words or in codes."""

from __future__ import annotations

import json
import os
import sys
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


def speaks_codes() -> bool:
    """Tell whether lines are for programs that know the protocol by its codes. Their users set variables of it."""
    return any(name.startswith("SIGEE_") and value for name, value in os.environ.items())


def wants_rows() -> bool:
    """Tell whether a table is for a program: only at a terminal people read it."""
    return speaks_codes() or not sys.stdout.isatty()


def in_person() -> bool:
    """Tell whether a person sits at the terminal."""
    return sys.stdin.isatty()


_TOLD = {
    "ADDED": "{id} is in {queue}: {title}",
    "MOVED": "{id} is in {queue} now",
    "RENEWED": "{id} is held for longer",
    "PASS": "{id} passed its checks and is in {queue}",
    "FAIL": "{id} did not pass its checks and is in {queue}",
    "DONE": "{id} is done, and in the archive",
    "DECIDED": "{id} is in {queue} now",
    "CLOSED": "{id} is closed",
}


def show(card: Card, *, as_json: bool, word: str, next_one: tuple[str, str] | None = None) -> int:
    """Print a ticket after a command: what became of it, and for people the next command with what it does."""
    if as_json:
        print_data(data_of(card))
    elif speaks_codes():
        click.echo(f"{word}:{card.id}:{card.queue}")
    else:
        _say(card, "CLOSED" if word == "DECIDED" and card.decided else word, next_one)
    return 0


def _say(card: Card, word: str, next_one: tuple[str, str] | None) -> None:
    from santiago.cli.view.terminal import say
    from santiago.util.text import flat

    about = {"id": card.id, "queue": card.queue, "title": flat(card.title)}
    say(_TOLD[word].format_map(about))
    if next_one is not None:
        say(f"next: {next_one[0]}   # {next_one[1]}", err=True)


def refuse_secrets(*texts: str | None) -> None:
    """Raise if a text for the board holds a secret of this machine, since it would be stored unchanged and shown to others."""
    from santiago.app.start.leaks import refuse_secrets as refuse

    refuse("\n".join(filter(None, texts)).encode("utf-8", "replace"), "the ticket")


def show_row(card: Card) -> None:
    from santiago.board.tsv import line

    click.echo(line(getattr(card, one) for one in FIELDS), nl=False)


def print_data(data: object) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))
