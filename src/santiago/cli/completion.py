"""`santiago completion SHELL`: tab completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from santiago.cli.main import COMPLETING, santiago

WHERE = {
    "bash": 'eval "$(santiago completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(santiago completion zsh)"   in ~/.zshrc',
    "fish": "santiago completion fish > ~/.config/fish/completions/santiago.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(WHERE)))
def command(shell: str) -> None:
    """Print the completion script of a shell; put it where your shell reads it.

    \b
    bash   eval "$(santiago completion bash)"   in ~/.bashrc
    zsh    eval "$(santiago completion zsh)"    in ~/.zshrc
    fish   santiago completion fish > ~/.config/fish/completions/santiago.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None, "the choices are click's own shells"
    click.echo(completer(santiago, {}, "santiago", COMPLETING).source())
