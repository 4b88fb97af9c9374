"""Running commands: in the shell, in a checkout, inside the sandbox, within their time and output."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.record import record
from santiago.process.command import Command
from santiago.process.place import Ground

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from santiago.contract.ports.run import Stop
    from santiago.process.command import Report
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer

LOG_KEEP = 16 * 1024 * 1024
"""Bytes of a check's output that its log holds. Test names are read from this log."""
_NOT_FETCHED = {"UV_NO_SYNC": "1"}
"""Keeps `uv run` from installing the project anew before each check, for which it would need the network."""
_SHOWN = ("SANTIAGO_PLAN_DIR", "SANTIAGO_PROMPT_FILE")
"""Environment variables that name folders which a command may read, even in a hidden folder."""


@record
class CommandRunner:
    """Runs commands. What they may see and write is fixed when the runner is made; no file of a checkout changes that."""

    server: ProcessServer
    sandbox: Sandbox
    ground: Ground = field(default_factory=Ground)
    """Knows where the checkouts are in which the commands run."""
    environment: Mapping[str, str]
    timeout_ms: int
    scratch: Path
    secrets: tuple[str, ...] = ()
    """Secret values, which are removed from the output before it is kept."""
    hidden: tuple[str, ...] = ()

    def run(
        self,
        command: str,
        folder: str,
        temporary: str,
        told: Mapping[str, str],
        stop: Stop,
        *,
        network: bool = False,
        log: str | None = None,
    ) -> Report:
        """Run one command to its end. It may write to its folder and to the temporary one. `told` are variables for it."""
        env = {**({} if network else _NOT_FETCHED), **self.environment, **told}
        shown = {name: env[name] for name in _SHOWN if env.get(name)}
        place = self.ground.place(folder, *shown.values(), builds=not network)
        env |= {name: place.called(path) for name, path in shown.items()}
        plain = Command(
            argv=("/bin/sh", "-c", command), cwd=folder, env=env, timeout_ms=self.timeout_ms, secrets=self.secrets,
            log=log, log_keep=LOG_KEEP,
        )  # fmt: skip
        fenced = self.sandbox.wrap(plain, place=place, hidden=self.hidden, network=network, temporary=temporary)
        # A stop at the next safe boundary lets a check finish; only an immediate stop ends it.
        return self.server.run(fenced, lambda: "now" if stop.now() else None)

    def seen(self, path: Path, temporary: str) -> str:
        """Return how a command sees a path below its temporary folder."""
        return str(path).replace(temporary, self.sandbox.temporary_seen(temporary), 1)

    def shortened(self, folder: str) -> Callable[[str], str]:
        """Return a function that makes paths of a checkout relative to its top."""
        seen = self.ground.place(folder).seen
        return lambda text: text.replace(f"{folder}/", "").replace(f"{seen}/", "")
