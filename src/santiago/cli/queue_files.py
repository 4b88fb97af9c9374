"""`queue init`, `queue import` and `queue sync`: begin a board, take one over, and bring its files up to date."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.actor import actor as named
from santiago.cli.options import actor_option
from santiago.cli.queue_words import speaks_codes
from santiago.cli.view.terminal import say
from santiago.contract.reasons import ExitCode
from santiago.util.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.command("init")
@click.option(
    "--governance", is_flag=True, help="Also seed product truth and scenarios, which the done gate then asks for."
)
@actor_option
@json_option
def init(governance: bool, actor: str | None, as_json: bool) -> None:
    """Begin a board: folders, queues, policies and forms. From then on work goes through it."""
    from santiago.board.board_handle import found, open_board

    # The starters come first: they make `.sigee`, and where that stands everything else goes below it.
    starters = _starters(found(Path.cwd(), os.environ).project) if governance else []
    with open_board(Path.cwd(), os.environ) as opened:
        begun = opened.begin(named(actor))
        made = [*starters, *opened.made]
        root = opened.place.named(opened.place.root)
    _notices(opened.notices)
    if as_json:
        _print({"root": root, "begun": begun, "made": made})
        return
    for name in made:
        click.echo(name)
    say(f"the board {'is begun' if begun else 'was there already'}: {root}", err=True)


def _starters(project: Path) -> list[str]:
    from santiago.board.governance import starters

    return [str(name) for name in starters.seed(project)]


@click.command("import")
@click.option("--from-tsv", is_flag=True, help="Take in what another program changed in the board's files, as moves.")
@click.option("--force-rows", is_flag=True, help="Leave out rows that cannot be taken over.")
@actor_option
@json_option
def import_(from_tsv: bool, force_rows: bool, actor: str | None, as_json: bool) -> int:
    """Take over a project whose tickets stand in TSV files; each row is reported."""
    return _edits(named(actor), as_json=as_json) if from_tsv else _rows(named(actor), force=force_rows, as_json=as_json)


def _rows(actor: str, *, force: bool, as_json: bool) -> int:
    from santiago.board import board_place, tsv_import
    from santiago.board.board_handle import laid_out

    place = board_place.find(Path.cwd(), os.environ)
    report = tsv_import.read(place)
    tsv_import.refuse(report, force=force)
    with laid_out(place) as opened:
        lines = tsv_import.take_in(opened, report, actor, force=force)
    _notices(opened.notices)
    left_out = [row.told() for row in report.faults]
    if as_json:
        _print({"imported": len(lines) - len(left_out), "left_out": left_out, "rows": list(lines)})
        return ExitCode.OK
    for line in lines:
        click.echo(line)
    kept = "; their files are kept as they were, named .before-import" if left_out else ""
    say(f"{count(len(lines) - len(left_out), 'row')} imported, {len(left_out)} left out{kept}", err=True)
    return ExitCode.OK


def _edits(actor: str, *, as_json: bool) -> int:
    from santiago.board.board_handle import open_board
    from santiago.board.tsv_import import from_tsv

    with open_board(Path.cwd(), os.environ) as opened:
        taken = from_tsv(opened, actor)
    _notices(opened.notices)
    refused = [one.told() for one in taken if one.refused]
    if as_json:
        _print({"taken": [one.told() for one in taken if not one.refused], "refused": refused})
    else:
        for one in taken:
            click.echo(one.told())
        kept = "; the files as they were are kept beside, named .edited-…" if refused else ""
        say(f"{count(len(taken) - len(refused), 'change')} taken in, {len(refused)} refused{kept}", err=True)
    return ExitCode.FAILED if refused else ExitCode.OK


@click.command("sync")
@click.option(
    "--discard-edits", is_flag=True, help="Set aside files that another program changed, and write them anew."
)
@json_option
def sync(discard_edits: bool, as_json: bool) -> int:
    """Write the board's files exactly as its store has them, with what people said to the runs behind its tickets."""
    from santiago.app.board.planner_review import record_accepted
    from santiago.app.board.ticket_context import TicketContext
    from santiago.board.board_handle import open_board
    from santiago.cli.board_consents import consents

    with open_board(Path.cwd(), os.environ) as opened:
        done = record_accepted(TicketContext(opened=opened, consents=consents(no_input=True)))
        told = opened.projections.exact(discard=discard_edits)
        edited = opened.projections.edited()
    if as_json:
        _print({"exact": not edited, "edited": edited, "notices": list(told), "done": list(done)})
    else:
        for name in done:
            click.echo(f"DONE:{name}:done" if speaks_codes() else f"{name} is done, and in the archive")
        _notices(told)
    return ExitCode.BLOCKED if edited else ExitCode.OK


def _notices(notices: Sequence[str]) -> None:
    for notice in notices:
        say(notice, err=True)


def _print(content: dict[str, Any]) -> None:
    click.echo(json.dumps({"contract_version": 1, **content}, indent=2, ensure_ascii=False))


COMMANDS = {"init": init, "import": import_, "sync": sync}
