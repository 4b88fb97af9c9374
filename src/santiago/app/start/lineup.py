"""A list of agents: the first that can begin works, and if it cannot go on, the next one takes over."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from santiago.app.profiles import own_catalog
from santiago.app.start import agents
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import ENDED, RunPhase
from santiago.contract.reasons import MEANINGS, OF_ONE_AGENT, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.contract.policy import Agent, RunInput
    from santiago.contract.state import RunState

_CANNOT_BEGIN = frozenset({Reason.AGENT_UNAVAILABLE, Reason.AGENT_NOT_SIGNED_IN, Reason.USAGE_UNKNOWN})


def named(agent: Agent, names: str | None, playbook: Path | None, model: str | None) -> Agent:
    """Return the agent's settings, changed by the command line: one agent, or several with commas between."""
    first, *rest = _parts(names) if names else [None]
    agent = agents.named(agent, first, playbook, model)
    return replace(agent, fallback=tuple(agents.lasting(one) for one in rest if one)) if names else agent


def worker_flags(names: str | None, playbook: Path | None, model: str | None) -> str:
    """Return the options of a command line that name this agent, each with a space before it."""
    given = {"--agent": names, "--playbook": playbook, "--model": model}
    return "".join(f" {flag} {quote(str(value))}" for flag, value in given.items() if value)


def _parts(names: str) -> list[str | None]:
    """Return the agents that a text names. A comma inside a command line does not separate agents."""
    parts = [part.strip() for part in names.split(",")]
    if " " in names.strip() and not all(_is_known(part) for part in parts):
        return [names]
    return [*filter(None, parts)] or [names]


def _is_known(line: str) -> bool:
    program = line.split(" ", 1)[0]
    return program in own_catalog().names() or shutil.which(program) is not None or Path(program).is_file()


def line_up(agent: Agent) -> list[Agent]:
    """Return an agent and its fallbacks, each with the agents that would take over from it."""
    behind = [agents.named(replace(agent, model_hint=None), name, None, None) for name in agent.fallback]
    return [agent, *(replace(one, fallback=agent.fallback[place:]) for place, one in enumerate(behind, 1))]


def first_able(
    run_input: RunInput, source: Mapping[str, str], lacks: Callable[[str], bool]
) -> tuple[RunInput, list[str]]:
    """Return the run input with the first of its agents that can begin, and messages on those before it.

    If none can, it has the first agent, and its start will say why it cannot begin.
    """
    troubles: list[str] = []
    for agent in line_up(run_input.agent) if run_input.agent.fallback else ():
        one = replace(run_input, agent=agent)
        try:
            agents.refuse_absent(one, source, lacks)
        except SantiagoError as error:
            if error.reason not in _CANNOT_BEGIN:
                raise
            troubles.append(error.message)
        else:
            return one, [f"{trouble}; {called(agent)} works instead" for trouble in troubles]
    return run_input, []


def next_one(agent: Agent, state: RunState) -> tuple[Agent, str] | None:
    """Return the agent that takes over if the run stopped because its agent cannot go on, and a message; else None."""
    rests = state.phase in ENDED or state.phase is RunPhase.PAUSED
    if not rests or state.reason not in OF_ONE_AGENT or not agent.fallback:
        return None
    other = line_up(agent)[1]
    assert state.reason is not None
    why = MEANINGS[state.reason].sentence.rstrip(".")
    return other, f"{called(agent)} cannot go on ({state.reason}: {why}); {called(other)} takes over"


def follower(agent: Agent) -> str:
    """Return the name of the agent that takes over from this one; empty where there is none."""
    return called(line_up(agent)[1]) if agent.fallback else ""


def called(agent: Agent) -> str:
    """Return the name by which people know an agent."""
    if agent.mode == "scripted":
        return "scripted"
    return agent.profile or (Path(agent.command[0]).name if agent.command else "the first that is ready")
