"""`santiago board`: the queues on the whole terminal, or once line by line where there is none."""

from __future__ import annotations

import json

import click

from santiago.cli.options import actor_option


@click.command("board")
@click.option("--plain", is_flag=True, help="Print it once, line by line, for screen readers and scripts.")
@actor_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(plain: bool, actor: str | None, as_json: bool) -> int:
    """Look at the board: queues as columns, tickets with lease, evidence and age; claim, move and decide by key.

    \b
    What other processes change is shown as it happens. Press ? for the keys and the commands that do the same.
    """
    from santiago.app.actor import actor as acting
    from santiago.board.telling import verdict_of
    from santiago.cli import opened_board
    from santiago.cli.view.text import say
    from santiago.cli.watch import has_screen

    who = acting(actor)
    with opened_board.opened() as opened:
        backlog, project = len(opened_board.synchronise(opened)), opened.place.project
        if as_json or plain or not has_screen():
            from santiago.report.board import board_data
            from santiago.report.board_pages import listing

            with opened.store.reading() as at:
                data = board_data(at, verdict_of(at, backlog, opened_board.asking(at, project)), opened_board.utc())
            say(
                json.dumps(data, indent=2, ensure_ascii=False) if as_json else "\n".join(listing(data)),
                verbatim=as_json,
            )
            return 0
        from santiago.tui.app import run as show
        from santiago.tui.board import BoardScreen
        from santiago.tui.look import tells_unicode

        screen = BoardScreen(
            opened.board,
            project,
            lambda at: verdict_of(at, backlog, opened_board.asking(at, project)),
            opened_board.utc,
            who,
            plain=not tells_unicode(),
        )
        code, _ = show(screen)
        return code
