"""What runs only after a person's word: commands of the document, and an agent without a sandbox."""

from __future__ import annotations

import click

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.text import count, flat, harmless

SHOWN = 5
"""Commands that are named in one message."""


def ask_consent(commands: list[str], plan: str, *, asked: bool, trusted: bool, of: str = "document") -> None:
    """Commands that came from a document run only after a person's word; `plan` is where they can be read."""
    if trusted:
        return
    reason = Reason.NEEDS_USER_CONFIRMATION
    if not asked:
        many = count(len(commands), f"command of the {of} waits", f"commands of the {of} wait")
        shown = ", ".join(f"`{flat(command)}`" for command in commands[:SHOWN])
        more = f" and {len(commands) - SHOWN} more" if len(commands) > SHOWN else ""
        message, hint = f"{many} for approval: {shown}{more}", f"Read them in {plan}, then use --trust-commands."
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=reason)
    click.echo(f"These commands come from the {of} and will run as checks:", err=True)
    for command in commands:
        click.echo(f"    {harmless(command)}", err=True)
    if not click.confirm("Run them?", default=False, err=True):
        message = f"the {of}'s commands were not approved"
        hint = f"Remove them from the {of}, or approve them."
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=reason)


def ask_unfenced(*, asked: bool, said: bool = False) -> None:
    """Where no sandbox works, an agent runs only after a person's word, which may have been `said` already."""
    if said:
        return
    message = "no sandbox works on this machine, so the agent could change anything that you can"
    if asked and click.confirm(f"{message[0].upper()}{message[1:]}. Go on?", default=False, err=True):
        return
    hint = "Install bubblewrap, or say --sandbox off."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)
