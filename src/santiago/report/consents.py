"""What a start would ask a person first. Screens ask it for a process that has no terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.start import agents, risky_settings, start_events
from santiago.app.start.risky_settings import MEANS
from santiago.contract.record import record
from santiago.process import sandbox
from santiago.report.account_lines import not_planned, proposal
from santiago.report.check_origins import origin_of
from santiago.util.text import first, harmless

if TYPE_CHECKING:
    from santiago.app.loading import Run
    from santiago.app.start.risky_settings import Waiting
    from santiago.contract.policy import Agent, RunInput

LONGEST = 2000
"""How many characters of the value of one setting are shown."""


@record
class Consent:
    """One thing that a person must agree to."""

    title: str
    lines: tuple[str, ...]
    yes: str
    """What saying yes does, in a word or two."""
    said: tuple[str, ...]
    """The options of a command line that say yes."""
    settings: Waiting | None = None
    """The settings of the repository that saying yes trusts, and no others."""


class _AskedError(Exception):
    def __init__(self, found: Waiting, before: dict[str, Any] | None) -> None:
        super().__init__()
        self.found, self.before = found, before


def consents(run: Run) -> list[Consent]:
    """Return what the next start of a run would ask."""
    working = (run.run_input.agent, agents.for_tests(run.run_input))
    return [*_of_units(run), *_of_project(run), *unfenced(run.run_input, *working), *_of_document(run)]


def give(run: Run, consent: Consent) -> tuple[str, ...]:
    """Record what a person agreed to; return the options that the start needs besides."""
    if consent.settings is None:
        return consent.said

    def ask(found: Waiting, before: dict[str, Any] | None) -> None:
        if found != consent.settings:  # it changed after it was shown, so it is asked again
            raise _AskedError(found, before)

    _approve(run, ask)
    return ()


def unfenced(run_input: RunInput, *working: Agent | None) -> list[Consent]:
    """Return the question whether agents may work without a sandbox, if none works here and nobody agreed before."""
    real = any(agent is not None and agent.mode != "scripted" for agent in working)
    if not real or run_input.policy.sandbox != "auto" or sandbox.detect("auto", dict(os.environ)).kind != "none":
        return []
    lines = ("No sandbox works on this machine, so the agent could change anything that you can.",)
    return [Consent(title="Go on without a sandbox?", lines=lines, yes="go on without", said=("--sandbox", "off"))]


def _of_units(run: Run) -> list[Consent]:
    """Return the question whether the units of a proposal are meant, if nobody confirmed them."""
    if run.plan.certain or run.state.units or run.run_input.policy.units:
        return []
    lines = (*proposal(run.plan), f"not planned: {not_planned(run.plan) or 'nothing else'}")
    return [Consent(title="Is this the work?", lines=lines, yes="take it as it is", said=("--yes",))]


def _of_project(run: Run) -> list[Consent]:
    def ask(found: Waiting, before: dict[str, Any] | None) -> None:
        raise _AskedError(found, before)

    asked = _approve(run, ask)
    if asked is None:
        return []
    lines = tuple(trusting(asked.found, asked.before))
    title, said = "Trust these settings in this repository?", ("--trust-project",)
    return [Consent(title=title, lines=lines, yes="trust them", said=said, settings=asked.found)]


def _approve(run: Run, ask: risky_settings.Ask) -> _AskedError | None:
    try:
        risky_settings.approve(
            Path(run.run_input.repo_path), run.run_input, trusted=False, ask=ask, tell=lambda _: None
        )
    except _AskedError as asked:
        return asked
    return None


def _of_document(run: Run) -> list[Consent]:
    commands: list[str] = []
    start_events.approvals(run.plan, run.run_input, run.state, commands.extend, "")
    if not commands:
        return []
    lines = (
        f"These commands come from the {origin_of(run.plan)} and will run as checks:",
        *(f"    {harmless(one)}" for one in commands),
    )
    return [Consent(title="Run these commands?", lines=lines, yes="run them", said=("--trust-commands",))]


def trusting(found: Waiting, before: dict[str, Any] | None) -> list[str]:
    """Return the lines about settings to trust, compared with those that were trusted `before`."""
    changed = ", changed since you trusted them," if before is not None else ""
    lines = [
        f"This repository brings settings{changed} that start programs or weaken protections:",
        f"  {harmless(found.origin)}",
    ]
    for name, value in sorted(found.settings.items()):
        means = f"   ({MEANS[name]})" if name in MEANS else ""
        lines.append(f"    {name} = {_shown(value)}{means}{_change(name, value, before)}")
    return [*lines, "Santiago did not check the scripts and programs that they name."]


def _change(name: str, value: Any, before: dict[str, Any] | None) -> str:
    if before is None or before.get(name) == value:
        return ""
    return f"   was {_shown(before[name])}" if name in before else "   new"


def _shown(value: Any) -> str:
    """Return a value on one line. Characters that a terminal would act on or hide are shown as numbers."""
    text = json.dumps(value, ensure_ascii=False)
    return first("".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text), LONGEST)
