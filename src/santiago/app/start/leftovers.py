"""What a killed santiago may have left running: processes that carry its run's mark are ended before new work."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

PATIENCE = 10.0
"""Seconds that a killed process may take to be gone; one that hangs in the system's own hands is not waited for longer."""
_STEP = 0.01


def marks(out_dir: Path) -> dict[str, str]:
    """Return the variable that everything started for a run carries; no other run has the same."""
    return {"SANTIAGO_PLAN_DIR": str(out_dir / "tasks")}


def kill_leftovers(out_dir: Path) -> int:
    """Kill every process that carries this run's mark, wait until all are gone, and return how many there were."""
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
    """Return the living processes with this mark; one that is dead and not yet collected has no environment."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0"):
                found.add(int(entry.name))
    return found
