"""Telling the user's own command that a run has come to rest."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from santiago.app.config import load

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.state import RunState

SECONDS = 10
"""How long the end of a run waits for it."""


class Notice:
    """The command of `[notify]`, as it stood before anything ran: what an agent does to the settings has no effect."""

    def __init__(self, repo: Path) -> None:
        command = load(repo)["notify.command"].value
        self._argv = list(map(str, command)) if isinstance(command, list) else shlex.split(str(command or ""))

    @property
    def missing(self) -> str:
        """Say that there is no such program; nothing where there is one, or none is wanted."""
        there = not self._argv or shutil.which(self._argv[0])
        return "" if there else f"[notify] command names {self._argv[0]}, which is not there; nobody would be told"

    def give(self, state: RunState, out_dir: Path) -> str:
        """Start the command with a line of JSON on its input; return what went wrong, which is none of the run's failures."""
        if not self._argv or self.missing:
            return ""
        says = {"run_id": state.run_id, "phase": state.phase, "reason": state.reason, "out_dir": str(out_dir)}
        try:
            done = subprocess.run(  # noqa: S603  # the user's own command
                self._argv,
                input=json.dumps(says) + "\n",
                text=True,
                timeout=SECONDS,
                check=False,
                stdout=subprocess.DEVNULL,  # a pipe would be waited for as long as anything that it started has it
                stderr=subprocess.DEVNULL,
            )
            why = f"ended with exit {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"took longer than {SECONDS} s and was ended"
        except (OSError, ValueError) as error:
            why = f"could not be started: {error}"
        return f"[notify] command {why}" if why else ""
