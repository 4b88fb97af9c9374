"""All commands of the command line, with those below others."""

from collections.abc import Iterator

import click

from santiago.cli.commands import COMMANDS
from santiago.cli.main import santiago


def every_command() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(santiago)
    for name in COMMANDS:
        command = santiago.get_command(context, name)
        assert command is not None
        yield from _below(name, command)


def _below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _below(f"{path} {name}", inner)
