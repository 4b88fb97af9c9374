"""What a proposal leaves open: a plan of a document that leaves a doubt about which list is the work."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app.paths import typed
from santiago.artifacts.run_locations import find_root
from santiago.contract.counting import count
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import NOT_UNDERSTOOD
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.contract.plan import AccountRow, Plan

NAMED = 5
"""How many parts of a document one message names."""


def refuse(plan: Plan, document: str, again: str = "", *, shown: bool = False) -> SantiagoError:
    """Return the error that nobody has confirmed the units of a proposal, with the commands that go on.

    `again` is the command that was typed, without options that confirm anything. If the proposal was `shown`, it is not told again.
    """
    message = "nothing starts before you say which list is the work" if shown else sentence(plan)
    hint = "; ".join(f"`{command}` {what}" for command, what in ways_on(plan, document, again))
    return SantiagoError(Kind.BLOCKED, message, where=document, hint=f"{hint}.", reason=Reason.NEEDS_USER_CONFIRMATION)


def ways_on(plan: Plan, document: str, again: str = "") -> list[tuple[str, str]]:
    """Return the commands that go on from a proposal, each with what it does."""
    named = _from_here(document)
    again = again or f"santiago run {named}"
    word = again.split()[1]
    reads = again if word in ("run", "step", "rebase", "plan") else f"santiago plan {named}"
    ways = [(f"{again} --yes", "takes it as it is")]
    if rival := next((one for one in plan.rivals if one.units), None):
        setting = f'units = "{rival.units}" under [policy]'
        choose = setting if word in ("loop", "queue") else f"{reads} --units {quote(rival.units)}"
        ways.append((choose, f"plans {rival.name} instead"))
    return [*ways, (f"santiago draft {named} --with AGENT", "has an agent structure the document")]


def _from_here(document: str) -> str:
    """Return a document of this repository as a word of a command line, as it is typed in the current folder."""
    root = find_root(Path.cwd())
    return typed(root / document) if root and (root / document).is_file() else quote(document)


def sentence(plan: Plan) -> str:
    """Return what a proposal takes as the work, and what it leaves."""
    taken = f"{plan.chosen.name} ({count(plan.chosen.count, 'unit')})" if plan.chosen else "its units"
    rivals = [f"{one.name} ({count(one.count, 'unit')})" for one in plan.rivals[:NAMED]]
    left = [row.title for row in plan.account if row.why == NOT_UNDERSTOOD]
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    said = [f"the plan is a proposal that nobody confirmed: the work is {taken}"]
    said += [f"or it is {', or '.join(rivals)}"] if rivals else []
    said += [f"not planned: {', '.join(left[:NAMED])}{more}"] if left else []
    return "; ".join(said)


def new_parts(before: Plan, after: Plan) -> list[AccountRow]:
    """Return the parts of a changed document that are new, and those that are longer and not planned."""
    known = {row.title: row.lines[1] - row.lines[0] for row in before.account}
    return [
        row
        for row in after.account
        if row.title not in known or (is_open(row) and row.lines[1] - row.lines[0] > known[row.title])
    ]


def is_open(row: AccountRow) -> bool:
    """Tell whether a part is left out although nothing in the document says that it is no work."""
    return row.became == "left_out" and row.why == NOT_UNDERSTOOD
