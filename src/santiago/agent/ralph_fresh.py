"""The default backend: a new process with a new context for every attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.agent.normalize import ending_of
from santiago.agent.packet import render
from santiago.process.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports import Packet, Stop
    from santiago.process.server import ProcessServer

KEEP = 4 * 1024 * 1024
"""Bytes kept of the beginning and of the end of an agent's output."""


class RalphFresh:
    """Runs an argument list in the attempt's worktree, the prompt on standard input."""

    def __init__(
        self,
        server: ProcessServer,
        command: tuple[str, ...],
        environment: dict[str, str],
        fence: Callable[[Command, Packet], Command],
        secrets: tuple[str, ...],
    ) -> None:
        self.server = server
        self.command = command
        self.environment = environment
        self.fence = fence
        """Puts a command into the sandbox of an attempt."""
        self.secrets = secrets

    def render(self, packet: Packet) -> str:
        return render(packet)

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        command = Command(
            argv=self.command,
            cwd=packet.folder,
            env={**self.environment, **variables(packet)},
            timeout_ms=packet.timeout_ms,
            stdin=packet.prompt_file,
            log=packet.log,
            keep=KEEP,
            secrets=self.secrets,
        )
        report = self.server.run(self.fence(command, packet), lambda: "now" if stop.now() else None)
        return ending_of(report)


def variables(packet: Packet) -> dict[str, str]:
    """Return what every agent and every check finds in its environment."""
    return {
        "SANTIAGO_RUN": packet.run_id,
        "SANTIAGO_STORY": packet.story.id,
        "SANTIAGO_ATTEMPT": str(packet.attempt),
        "SANTIAGO_PLAN_DIR": packet.plan_folder,
        "SANTIAGO_PROMPT_FILE": packet.prompt_file,
    }
