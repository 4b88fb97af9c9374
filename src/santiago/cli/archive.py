"""`santiago archive`: what was accepted, month by month; a person may empty it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from santiago.cli import opened_board
from santiago.cli.options import actor_option
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Mapping

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group("archive", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Look at the archive of accepted tickets; without a further word, `status`."""
    if context.invoked_subcommand is None:
        context.invoke(status)


@command.command("status")
@_json
def status(as_json: bool = False) -> None:
    """Print how many tickets each month's archive holds."""
    from santiago.board import board_commands

    with opened_board.opened() as opened, opened.store.reading() as at:
        held = board_commands.months(at)
    if as_json:
        click.echo(json.dumps({"months": held, "total": sum(held.values())}, indent=2))
        return
    for month, number in held.items():
        say(f"{month}  {count(number, 'ticket')}")
    say(f"total    {count(sum(held.values()), 'ticket')}" if held else "the archive is empty")


@command.command("flush")
@actor_option
@_json
def flush(actor: str | None, as_json: bool) -> None:
    """Archive what an imported board left in its done queue."""
    from santiago.app.actor import actor as acting
    from santiago.board import board_commands

    with opened_board.opened() as opened, opened.store.writing() as at:
        number = board_commands.flush(at, acting(actor))
    if as_json:
        click.echo(json.dumps({"flushed": number}))
    elif number:
        say(f"archived {count(number, 'ticket')} that stood in the done queue")
    else:
        say("there is nothing to flush: accepted tickets are archived at once")


@command.command("clear")
@click.option("--yes", is_flag=True, help="Do it; without this, only print what would be removed.")
@actor_option
@_json
def clear(yes: bool, actor: str | None, as_json: bool) -> None:
    """Remove every archived ticket from the board; only a person does this, and it is recorded."""
    from santiago.app.actor import actor as acting
    from santiago.app.profiles import own_catalog
    from santiago.board import board_commands

    who, agents = acting(actor), own_catalog().names()
    with opened_board.opened() as opened:
        with opened.store.reading() as at:
            board_commands.refuse_worker(at, who, agents)
            held = board_commands.months(at)
        if not yes:
            raise _unsure(held)
        with opened.store.writing() as at:
            board_commands.refuse_worker(at, who, agents)
            held = board_commands.clear(at, who)
    if as_json:
        click.echo(json.dumps({"cleared": held, "total": sum(held.values())}, indent=2))
    else:
        say(f"removed {count(sum(held.values()), 'archived ticket')}; the board's events still tell of them")


def _unsure(held: Mapping[str, int]) -> SantiagoError:
    told = f"{count(sum(held.values()), 'archived ticket')} would be removed for good; nothing was removed yet"
    return SantiagoError(Kind.USAGE, told, where="--yes", hint="Use --yes to remove them.")
