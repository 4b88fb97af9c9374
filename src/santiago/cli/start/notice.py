"""Telling the user's own command that a run has come to rest."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
from typing import TYPE_CHECKING

from santiago.cli.config import load

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.state import RunState

SECONDS = 30


class Notice:
    """The command of `[notify]`, as it stood before anything ran: what an agent does to the settings has no effect."""

    def __init__(self, repo: Path) -> None:
        command = load(repo)["notify.command"].value
        self._argv = list(map(str, command)) if isinstance(command, list) else shlex.split(str(command or ""))

    def give(self, state: RunState, out_dir: Path) -> None:
        """Start the command with a line of JSON on its input; its failure is none of the run's."""
        if not self._argv:
            return
        says = {"run_id": state.run_id, "phase": state.phase, "reason": state.reason, "out_dir": str(out_dir)}
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603  # the user's own command
                self._argv, input=json.dumps(says) + "\n", text=True, timeout=SECONDS, check=False, capture_output=True
            )
