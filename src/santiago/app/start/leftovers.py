"""Processes that a killed santiago left running. They carry their run's mark, and are ended before new work begins."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

PATIENCE = 10.0
"""Seconds to wait for killed processes. One that hangs in a system call is not waited for any longer."""
_STEP = 0.01


def marks(out_dir: Path) -> dict[str, str]:
    """Return the environment variable that marks all processes of this run."""
    return {"SANTIAGO_PLAN_DIR": str(out_dir / "tasks")}


def kill_leftovers(out_dir: Path) -> int:
    """Kill every process with this run's mark, wait until all have ended, and return how many there were."""
    ((name, value),) = marks(out_dir).items()
    marker = f"{name}={value}".encode()
    killed: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while (found := _marked(marker)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
        time.sleep(_STEP)
    return len(killed)


def _marked(marker: bytes) -> set[int]:
    """Return the living processes with this mark. Zombies have no environment, so they are not found."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
    return found
