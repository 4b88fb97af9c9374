"""`santiago board`: the queues on the whole terminal, or printed once line by line without a terminal."""

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
    from santiago.board.board_clock import utc
    from santiago.cli import opened_board
    from santiago.cli.view.screens import has_screen
    from santiago.cli.view.terminal import say

    who = acting(actor)
    with opened_board.opened() as opened:
        backlog = opened_board.synchronise(opened)
        if as_json or plain or not has_screen():
            from santiago.report.board import whole_board
            from santiago.report.board_pages import listing

            data = whole_board(opened, backlog, utc())
            if as_json:
                click.echo(json.dumps(data, indent=2, ensure_ascii=False))
            else:
                say("\n".join(listing(data)))
            return 0
        from santiago.tui.app import run as show
        from santiago.tui.board import BoardScreen
        from santiago.tui.look import tells_unicode

        code, _ = show(BoardScreen(opened, backlog, who, utc, plain=not tells_unicode()))
        return code
