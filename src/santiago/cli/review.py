"""`santiago review`: a planning session, looked at; whoever says something has it carried out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from santiago.app.planning.planning_sessions import find_session, load_session, sessions_here
from santiago.artifacts.run_locations import find_root
from santiago.cli.options import body_at
from santiago.cli.view import open_screens
from santiago.cli.view.terminal import say
from santiago.contract.record import record

WISHES = {"adjust": "adjust", "edit": "edit", "finalize": "approve", "cancel": "cancel", "take_up": "take-up"}
"""Option → what it says about the plan."""


@record
class Said:
    """What the options of `santiago review` say."""

    session: str | None
    adjust: str | None
    edit: str | None
    finalize: bool
    revision: int | None
    no_start: bool
    moved_base: bool
    cancel: bool
    take_up: bool
    agent: str | None
    model: str | None
    playbook: Path | None
    add_turns: int | None
    sandbox: str | None
    trust_commands: bool
    jobs: int | None
    gate: str | None
    plain: bool
    as_json: bool
    who: str | None
    no_input: bool

    @property
    def wish(self) -> str | None:
        """The one action that was chosen; None if there is none."""
        wishes = [wish for name, wish in WISHES.items() if getattr(self, name) not in (None, False)]
        if len(wishes) > 1:
            raise click.UsageError("Choose one of --continue, --edit, --finalize, --cancel and --take-up.")
        return wishes[0] if wishes else None

    @property
    def names_agent(self) -> bool:
        return bool(self.agent or self.model or self.playbook)

    @property
    def may_ask(self) -> bool:
        return not self.no_input and sys.stdin.isatty()


def review(**options: Any) -> int:
    """Show a session, which changes nothing, or do what the options say."""
    said = Said(**options)
    if said.names_agent and (said.wish in (None, "cancel") or said.no_start):
        raise click.UsageError("Say what the agent is to do: --continue, --edit, --take-up or --finalize.")
    looks = said.wish is None and said.add_turns is None
    if looks and said.session is None and not said.as_json and not sessions_here():
        begun = _begin(said)
        if begun is not None:
            return begun
    planning = load_session(find_session(said.session))
    if looks and not said.plain and not said.as_json and open_screens.has_screen():
        return open_screens.review(planning, said.revision)
    done: int = body_at("planning:look" if looks else "planning:act")(planning, said)
    return done


def _begin(said: Said) -> int | None:
    """Ask what should be planned in a repository that has no session, and begin one; None if nobody says anything."""
    root = find_root(Path.cwd())
    if root is None or not said.may_ask:
        return None
    say("no planning session yet in this repository")
    question = "What should be planned: a sentence, or a document (Enter for nothing)"
    subject = click.prompt(question, "", show_default=False).strip()
    if not subject:
        return None
    if said.plain:
        os.environ["SANTIAGO_PLAIN"] = "1"
    begun: int = body_at("planning:begin_with")(subject, root, said.who)
    return begun
