"""The command line: a group that knows its commands by name, and loads only the one that is called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from santiago import __version__
from santiago.cli.commands import COMMANDS, COMPLETING, overview
from santiago.contract.reasons import ExitCode

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """Lists and completes commands from the table, without importing any of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"santiago.cli.{module}"), name or "command")
        if COMPLETING in os.environ:
            from santiago.cli.completing import with_completion

            with_completion(command)
        return _as_all_are(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(name, COMMANDS, 1)
            ctx.fail(f"there is no command {name!r}" + (f"; did you mean `santiago {close[0]}`?" if close else ""))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(overview() + "\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        items = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)


_DEBUG = click.Option(["--debug"], is_flag=True, expose_value=False, help="Show tracebacks.")
"""The option --debug of every command. `shown_errors` looks for it among the arguments themselves."""


def _as_all_are(command: click.Command) -> click.Command:
    """Give a command the option --debug, and each number without a name of its own the name N in the help."""
    if _DEBUG not in command.params:
        command.params.append(_DEBUG)
    for one in command.params:
        if isinstance(one.type, click.types.IntParamType):
            one.metavar = one.metavar or "N"
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _as_all_are(inner)
    return command


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="santiago", message="%(prog)s %(version)s")
@click.pass_context
def santiago(context: click.Context) -> int | None:
    """Compile a requirements document into a plan and have coding agents carry it out, story by story."""
    if context.invoked_subcommand is not None:
        return None
    from santiago.cli.where import say_where

    say_where()
    click.echo(overview())
    return ExitCode.USAGE


def main(arguments: list[str]) -> int:
    """Run the command line and return the exit code. Every error is turned into a message here."""
    try:
        outcome: Any = santiago.main(args=arguments, prog_name="santiago", standalone_mode=False, obj=arguments)
    except Exception as error:  # the last place to turn an error into words
        from santiago.cli.view.shown_errors import report

        return report(error, arguments)
    return outcome if isinstance(outcome, int) else 0
