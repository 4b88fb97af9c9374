"""How an agent's program is started: inside its sandbox, and with no more of the user's environment than it needs."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.agent import catalog
from santiago.agent.profile import FOR_ANY
from santiago.agent.ralph_fresh import Fenced, RalphFresh
from santiago.process import environment, homes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from santiago.agent.profile import Profile
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.agent import AgentBackend
    from santiago.process.command import Command
    from santiago.process.place import Ground, Place
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

BRIDGE = str(Path(catalog.__file__).with_name("acp_bridge.py"))


def backend(
    profile: Profile,
    run_input: RunInput,
    server: ProcessServer,
    source: Mapping[str, str],
    fence: Callable[[Command, Place, str], Fenced],
    secrets: tuple[str, ...],
    scratch: Path,
    ground: Ground | None = None,
) -> AgentBackend:
    """Return the backend that runs a profile's program, with no more of the user's environment than it needs."""
    allowed = catalog.variables(profile, source)
    if profile.name in FOR_ANY:
        allowed += run_input.workspace.env  # no profile names what this program needs
    env = environment.for_agent(source, run_input.workspace.env, allowed)
    return RalphFresh(server, profile, env, fence, secrets, scratch, run_input.agent.model_hint, ground)


def fenced(
    command: Command,
    place: Place,
    side: str,
    *,
    profile: Profile,
    sandbox: Sandbox,
    source: Mapping[str, str],
    hidden: tuple[str, ...],
) -> Fenced:
    """Return an agent's command inside the sandbox: its checkout, its own part of the home folder, and the network."""
    home = _home(side, profile, source) if sandbox.kind != "none" else None
    program = catalog.program_of(command.argv[0], source)
    if profile.protocol == "acp":
        command = replace(command, argv=(sys.executable, "-I", BRIDGE, program or command.argv[0], *command.argv[1:]))
    files = [word for word in command.argv if word.startswith("/") and os.path.isfile(word)]  # noqa: PTH113  # never raises
    # An uncommitted script is in the user's own tree. Nothing else of that tree is shown to the agent.
    place = place.reading(*(file for file in files if place.lacks(file)))
    command = replace(command, argv=tuple(place.called(word) if word in files else word for word in command.argv))
    needed = [
        folder
        for file in dict.fromkeys([*([program] if program else []), *files])
        for folder in catalog.installation(file)
    ]
    wrapped = sandbox.wrap(
        command,
        place=place,
        writable=(side,),
        readonly=(
            *(folder for folder in needed if len(Path(folder).parts) > 2),
            *(str(path) for path in catalog.expanded(profile.needs.readonly, source) if path.exists()),
        ),
        hidden=hidden,
        network=True,
        temporary=str(Path(side, "tmp")),
        home=home,
    )
    return Fenced(wrapped, home)


def _home(side: str, profile: Profile, source: Mapping[str, str]) -> homes.Home:
    needs = profile.needs
    own, writable, fresh = (
        tuple(map(str, catalog.expanded(places, source))) for places in (needs.home, needs.writable, needs.fresh)
    )
    return homes.copied(side, source.get("HOME", ""), own=own, writable=writable, fresh=fresh)
