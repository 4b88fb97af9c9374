"""What runs only after a person's word: commands of the document, and an agent without a sandbox."""

from __future__ import annotations

import click

from santiago.cli.view.measures import count
from santiago.cli.view.text import harmless
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason


def ask_consent(commands: list[str], *, asked: bool, trusted: bool) -> None:
    """Commands that came from the document run only after a person's word."""
    if trusted:
        return
    reason = Reason.NEEDS_USER_CONFIRMATION
    if not asked:
        many = count(len(commands), "command of the document waits", "commands of the document wait")
        message = f"{many} for approval, the first is `{commands[0]}`"
        raise SantiagoError(
            Kind.BLOCKED, message, hint="Read them in plan.json, then use --trust-commands.", reason=reason
        )
    click.echo("These commands come from the document and will run as checks:", err=True)
    for command in commands:
        click.echo(f"    {harmless(command)}", err=True)
    if not click.confirm("Run them?", default=False, err=True):
        message = "the document's commands were not approved"
        raise SantiagoError(
            Kind.BLOCKED, message, hint="Remove them from the document, or approve them.", reason=reason
        )


def ask_unfenced(*, asked: bool) -> None:
    """Where no sandbox works, an agent runs only after a person's word."""
    message = "no sandbox works on this machine, so the agent could change anything that you can"
    if asked and click.confirm(f"{message[0].upper()}{message[1:]}. Go on?", default=False, err=True):
        return
    hint = "Install bubblewrap, or say --sandbox off."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)
