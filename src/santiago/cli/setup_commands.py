"""The commands that set santiago up, and those that look something up."""

from __future__ import annotations

import json

import click
from click.shell_completion import get_completion_class

from santiago import __version__
from santiago.cli.commands import COMPLETING
from santiago.cli.options import PATH, actor_option, body, json_option, trust_option

SCHEMAS = ("run-input", "plan", "detail", "event", "result", "session", "ticket")


@click.command("doctor")
@click.option(
    "--online", is_flag=True, help="Have each agent answer one word, in the sandbox; costs a few tokens each."
)
@click.option(
    "--checks", "run_checks", is_flag=True, help="Run the checks that are set, on the last commit as a run would."
)
@trust_option
@json_option
@body("doctor:doctor")
def doctor() -> None:
    """Check python, git, repository, settings, agent, sandbox, checks, disk, terminal, and which agents are here.

    Exit 2 if something would stop a run.
    """


@click.command("init")
@click.option("--verify", "commands", multiple=True, metavar="CMD", help="A check to write instead of the one found.")
@click.option("--no-try", "untried", is_flag=True, help="Write the check without running it first.")
@click.option("--force", is_flag=True, help="Replace an existing santiago.toml.")
@click.option(
    "--agents-md/--no-agents-md",
    "agents_md",
    default=None,
    help="Only write a marked block for coding agents into AGENTS.md, or take it out.",
)
@json_option
@body("init:init")
def init() -> None:
    """Write santiago.toml with a test command that was seen to run here, and keep .santiago out of git.

    Each command runs as in a run: on a clean checkout of the last commit, inside the sandbox. Where something is missing that
    can be installed there (a virtual environment, node_modules), that is tried too, with the network.
    """


@click.command("clean")
@click.option("--run", "run_id", metavar="RUN", help="Only this run.")
@click.option("--yes", is_flag=True, help="Remove what is listed; without it nothing is touched.")
@click.option("--force", is_flag=True, help="Also of runs that could be resumed; never of one that is running.")
@actor_option
@json_option
@body("clean:clean")
def clean() -> None:
    """Show the checkouts and refs of this repository's old runs, and remove them with --yes.

    Branches and the runs' own folders (log, evidence, result) always stay.
    """


@click.group("config", invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Settings come from flags, SANTIAGO_* variables, santiago.toml (or pyproject.toml), the user file, defaults."""
    if context.invoked_subcommand is None:
        context.invoke(show)


@config.command("show")
@json_option
@body("config_shown:show_settings")
def show() -> None:
    """Print each setting with its value and its origin."""


@click.command("mcp")
@click.option("--repo", type=PATH, help="The repository; by default that of the client's folders, else the one here.")
@body("mcp_server:mcp")
def mcp() -> None:
    """Serve editors and agents over MCP, on standard input and output. It reads the log, and approves nothing."""


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell; put it where your shell reads it.

    \b
    bash   eval "$(santiago completion bash)"   in ~/.bashrc
    zsh    eval "$(santiago completion zsh)"    in ~/.zshrc
    fish   santiago completion fish > ~/.config/fish/completions/santiago.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None, "the choices are click's own shells"
    click.echo(completer(context.find_root().command, {}, "santiago", COMPLETING).source())


@click.command("schema")
@click.argument("name", type=click.Choice(SCHEMAS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON (it always is).")
def schema(name: str, as_json: bool) -> None:
    """Print the JSON Schema of a document, generated from santiago's own types."""
    from santiago.contract.schema import schema_of  # which loads the library that validates

    click.echo(json.dumps(schema_of(name), indent=2, sort_keys=True))


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]")
def help_(words: tuple[str, ...]) -> int:
    """Show all commands, or all about one of them.

    \b
    santiago help
    santiago help run
    santiago help queue add
    """
    from santiago.cli.main import main  # which loads this module

    return main([*words, "--help"])


@click.command("version")
@json_option
def version(as_json: bool) -> None:
    """Print the version."""
    click.echo(json.dumps({"version": __version__}) if as_json else f"santiago {__version__}")
