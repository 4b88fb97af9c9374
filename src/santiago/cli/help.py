"""`santiago help [COMMAND]`: the same as `santiago COMMAND --help`."""

from __future__ import annotations

import click


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]")
def command(words: tuple[str, ...]) -> int:
    """Show all commands, or all about one of them.

    \b
    santiago help
    santiago help run
    santiago help queue add
    """
    from santiago.cli.main import main

    return main([*words, "--help"])
