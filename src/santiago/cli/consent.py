"""What runs only after a person agreed: commands of the document, and an agent without a sandbox."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from santiago.app.start import risky_settings
from santiago.app.start.proposals import refuse
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.policy import AS_PROPOSED
from santiago.contract.reasons import Reason
from santiago.report.account_lines import not_planned, offered, proposal
from santiago.report.consents import trusting
from santiago.util.text import count, few, flat, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.app.start.risky_settings import Waiting
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.report.check_origins import Placed

LONGEST = 1000
"""How many characters of an answer are read."""
SHOWN = 5
"""How many commands one message names."""


def ask_consent(commands: list[str], places: str, *, asked: bool, trusted: bool, of: str = "document") -> None:
    """Ask whether commands of a document may run; raise if not. `places` tells where they can be read."""
    if trusted:
        return
    reason = Reason.NEEDS_USER_CONFIRMATION
    if not asked:
        many = count(len(commands), f"command of the {of} waits", f"commands of the {of} wait")
        shown = few([f"`{flat(command)}`" for command in commands], SHOWN)
        them = "it" if len(commands) == 1 else "them"
        message, hint = f"{many} for approval: {shown}", f"Read {them} in {places}, then use --trust-commands."
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=reason)
    click.echo(f"These commands come from the {of} and will run as checks:", err=True)
    for command in commands:
        click.echo(f"    {harmless(command)}", err=True)
    if not click.confirm("Run them?", default=False, err=True):
        message = f"the {of}'s commands were not approved"
        hint = f"Remove them from the {of}, or approve them."
        raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=reason)


def choose(commands: Sequence[Placed]) -> tuple[str, ...]:
    """Show a person every command of the document with its line; return those to leave out.

    Raise if none of them may run.
    """
    click.echo("These commands come from the document and will run as checks:", err=True)
    for number, one in enumerate(commands, 1):
        click.echo(f"  {number:>3}  {harmless(one.command)}   {harmless(one.place)}", err=True)
    while True:
        answer = click.prompt("Run them? y, n, or the numbers of those to leave out", default="n", err=True)
        word = str(answer).strip().lower()
        if word in ("y", "yes"):
            return ()
        if word in ("n", "no"):
            hint = "Remove them from the document, leave out single ones by number, or approve them."
            reason = Reason.NEEDS_USER_CONFIRMATION
            raise SantiagoError(Kind.BLOCKED, "the document's commands were not approved", hint=hint, reason=reason)
        places = _numbers(word, len(commands))
        if places:
            return tuple(commands[place - 1].command for place in places)
        click.echo(f"That is neither y nor n nor numbers from 1 to {len(commands)}, such as 2 or 1,3-4.", err=True)


def _numbers(text: str, most: int) -> list[int]:
    """Return the numbers in a text like `1,3-4`; empty if it is anything else."""
    found: set[int] = set()
    for part in re.split(r"[\s,]+", text[:LONGEST].strip(" ,")):
        ends = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        if ends is None or not 1 <= int(ends[1]) <= int(ends[2] or ends[1]) <= most:
            return []
        found.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return sorted(found)


def ask_ticks(number: int, *, asked: bool, said: bool | None) -> bool:
    """Ask whether the document's word is taken for ticked boxes that no check shows; raise if nobody can say."""
    if said is not None:
        return said
    message = f"{count(number, 'box is', 'boxes are')} ticked, and no check shows that the work is there"
    if asked:
        click.echo(f"{message[0].upper()}{message[1:]}.", err=True)
        return click.confirm("Take the document's word? (n: an agent works on it)", default=None, err=True)
    hint = "Use --trust-ticks to take the document's word, or --no-trust-ticks to have them worked on."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def confirm_units(plan: Plan, *, asked: bool, said: bool) -> None:
    """Ask whether the units of a proposal are meant, unless that was `said`; raise if not. Enter alone does nothing."""
    if said:
        return
    if not asked:
        raise refuse(plan, plan.source.path, _typed())
    show_proposal(plan, proposal(plan))
    if click.prompt("Take it as it is? yes or no", type=click.Choice(["yes", "no"]), err=True) != "yes":
        raise refuse(plan, plan.source.path, _typed(), shown=True)


def show_proposal(plan: Plan, lines: Sequence[str]) -> None:
    """Print what a proposal takes as the work, and what it leaves."""
    click.echo("The document leaves open which list is the work. This plan is a proposal:", err=True)
    for line in (*lines, f"not planned: {not_planned(plan) or 'nothing else'}"):
        click.echo(f"    {harmless(line)}", err=True)


def _typed() -> str:
    """Return the command that the person typed."""
    context = click.get_current_context(silent=True)
    return shlex.join(["santiago", *context.obj]) if context and isinstance(context.obj, list) else ""


class ToDraftError(Exception):
    """A person wants an agent to structure the document first."""


def choose_units(plan: Plan) -> str:
    """Ask a person which list of a document is the work. Return the `--units` value, or AS_PROPOSED; raise if it is none of them."""
    show_proposal(plan, proposal(plan)[:1])  # the others can be chosen below
    rivals = [one for one in plan.rivals if one.units]
    click.echo("  yes    plan it as it is", err=True)
    for number, one in enumerate(rivals, 1):
        click.echo(f"  {number:<6} plan {harmless(offered(one))} instead", err=True)
    click.echo("  draft  have an agent structure the document first; you review its draft", err=True)
    click.echo("  no     stop here", err=True)
    words = ["yes", *map(str, range(1, len(rivals) + 1)), "draft", "no"]
    word = click.prompt("Your word", type=click.Choice(words), show_choices=False, err=True)
    if word == "yes":
        return AS_PROPOSED
    if word.isdigit():
        return rivals[int(word) - 1].units
    if word == "draft":
        raise ToDraftError
    raise refuse(plan, plan.source.path, _typed(), shown=True)


def ask_unfenced(*, asked: bool, said: bool = False) -> None:
    """Ask whether an agent may run without a sandbox, unless that was already `said`; raise if not."""
    if said:
        return
    message = "no sandbox works on this machine, so the agent could change anything that you can"
    if asked and click.confirm(f"{message[0].upper()}{message[1:]}. Go on?", default=False, err=True):
        return
    hint = "Install bubblewrap, or use --sandbox off."
    raise SantiagoError(Kind.BLOCKED, message, hint=hint, reason=Reason.NEEDS_USER_CONFIRMATION)


def approve(
    root: Path, run_input: RunInput | None = None, *, said: frozenset[str] = frozenset(), asked: bool, trusted: bool
) -> None:
    """Have a person approve the repository's own settings; raise if they do not."""
    risky_settings.approve(root, run_input, said=said, trusted=trusted, ask=partial(_ask, asked=asked), tell=tell)


def trust_own(root: Path) -> None:
    """Trust settings that the user has just had santiago write."""
    risky_settings.trust_own(root, tell)


def tell(text: str) -> None:
    """Print a message on something that went wrong and stops nothing."""
    say(f"note: {text}", err=True)


def _ask(found: Waiting, before: dict[str, Any] | None, *, asked: bool) -> None:
    where = found.origin
    if not asked:
        hint = "Read them there, then use --trust-project."
        raise SantiagoError(Kind.BLOCKED, found.sentence, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)
    for line in trusting(found, before):
        say(line, err=True)
    if not click.confirm("Trust these settings in this repository?", default=False, err=True):
        hint = "Change them, or use flags or your own settings instead."
        message = "the settings of the repository were not trusted"
        raise SantiagoError(Kind.BLOCKED, message, where=where, hint=hint, reason=Reason.UNTRUSTED_PROJECT)
