"""The board as a whole: begun, taken over, its files brought up to date, its archive looked at and emptied."""

from __future__ import annotations

import os
from pathlib import Path

import click

from santiago.app.actor import actor as named
from santiago.app.board.planner_review import record_accepted
from santiago.app.board.ticket_context import TicketContext
from santiago.app.profiles import own_catalog
from santiago.board import board_commands, board_place, tsv_import
from santiago.board.board_handle import found, laid_out, open_board
from santiago.board.governance import starters
from santiago.cli.board_consents import consents
from santiago.cli.opened_board import opened_here, speaks_codes
from santiago.cli.view.terminal import say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.util.text import count


def init(governance: bool, actor: str | None, as_json: bool) -> None:
    """Begin a board."""
    # The starters come first: they make `.sigee`, and where that stands everything else goes below it.
    project = found(Path.cwd(), os.environ).project
    seeded = [str(name) for name in starters.seed(project)] if governance else []
    with open_board(Path.cwd(), os.environ) as opened:
        begun = opened.begin(named(actor))
        made = [*seeded, *opened.made]
        root = opened.place.named(opened.place.root)
    _notices(opened.notices)
    if as_json:
        show_data({"contract_version": 1, "root": root, "begun": begun, "made": made})
        return
    for name in made:
        click.echo(name)
    say(f"the board {'is begun' if begun else 'was there already'}: {root}", err=True)


def import_(from_tsv: bool, force_rows: bool, actor: str | None, as_json: bool) -> int:
    """Take over what other programs wrote into files."""
    take = _edits if from_tsv else _rows
    return take(named(actor), force=force_rows, as_json=as_json)


def _rows(actor: str, *, force: bool, as_json: bool) -> int:
    place = board_place.find(Path.cwd(), os.environ)
    report = tsv_import.read(place)
    tsv_import.refuse(report, force=force)
    with laid_out(place) as opened:
        lines = tsv_import.take_in(opened, report, actor, force=force)
    _notices(opened.notices)
    left_out = [row.told() for row in report.faults]
    number = len(lines) - len(left_out)
    if as_json:
        show_data({"contract_version": 1, "imported": number, "left_out": left_out, "rows": list(lines)})
        return ExitCode.OK
    for line in lines:
        click.echo(line)
    kept = "; their files are kept as they were, named .before-import" if left_out else ""
    say(f"{count(number, 'row')} imported, {len(left_out)} left out{kept}", err=True)
    return ExitCode.OK


def _edits(actor: str, *, force: bool, as_json: bool) -> int:  # edits are moves, which nothing forces
    with open_board(Path.cwd(), os.environ) as opened:
        taken = tsv_import.from_tsv(opened, actor)
    _notices(opened.notices)
    refused = [one.told() for one in taken if one.refused]
    if as_json:
        told = [one.told() for one in taken if not one.refused]
        show_data({"contract_version": 1, "taken": told, "refused": refused})
    else:
        for one in taken:
            click.echo(one.told())
        kept = "; the files as they were are kept beside, named .edited-…" if refused else ""
        say(f"{count(len(taken) - len(refused), 'change')} taken in, {len(refused)} refused{kept}", err=True)
    return ExitCode.FAILED if refused else ExitCode.OK


def sync(discard_edits: bool, as_json: bool) -> int:
    """Write the board's files exactly as its store has them."""
    with open_board(Path.cwd(), os.environ) as opened:
        done = record_accepted(TicketContext(opened=opened, consents=consents(no_input=True)))
        told = opened.projections.exact(discard=discard_edits)
        edited = opened.projections.edited()
    if as_json:
        data = {"exact": not edited, "edited": edited, "notices": list(told), "done": list(done)}
        show_data({"contract_version": 1, **data})
    else:
        for name in done:
            click.echo(f"DONE:{name}:done" if speaks_codes() else f"{name} is done, and in the archive")
        _notices(told)
    return ExitCode.BLOCKED if edited else ExitCode.OK


def _notices(notices: list[str] | tuple[str, ...]) -> None:
    for notice in notices:
        say(notice, err=True)


def archive_status(as_json: bool) -> None:
    """Print how many tickets each month's archive holds."""
    with opened_here() as opened, opened.store.reading() as at:
        held = board_commands.months(at)
    if as_json:
        show_data({"months": held, "total": sum(held.values())})
        return
    for month, number in held.items():
        say(f"{month}  {count(number, 'ticket')}")
    say(f"total    {count(sum(held.values()), 'ticket')}" if held else "the archive is empty")


def flush(actor: str | None, as_json: bool) -> None:
    """Archive what an imported board left in its done queue."""
    with opened_here() as opened, opened.store.writing() as at:
        number = board_commands.flush(at, named(actor))
    if as_json:
        show_data({"flushed": number})
    elif number:
        say(f"archived {count(number, 'ticket')} that stood in the done queue")
    else:
        say("there is nothing to flush: accepted tickets are archived at once")


def clear(yes: bool, actor: str | None, as_json: bool) -> None:
    """Remove every archived ticket, which only a person does."""
    who, agents = named(actor), own_catalog().names()
    with opened_here() as opened:
        with opened.store.reading() as at:
            board_commands.refuse_worker(at, who, agents)
            held = board_commands.months(at)
        if not yes:
            number = count(sum(held.values()), "archived ticket")
            told = f"{number} would be removed for good; nothing was removed yet"
            raise SantiagoError(Kind.USAGE, told, where="--yes", hint="Use --yes to remove them.")
        with opened.store.writing() as at:
            board_commands.refuse_worker(at, who, agents)
            held = board_commands.clear(at, who)
    if as_json:
        show_data({"cleared": held, "total": sum(held.values())})
    else:
        say(f"removed {count(sum(held.values()), 'archived ticket')}; the board's events still tell of them")
