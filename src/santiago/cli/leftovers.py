"""What a killed santiago may have left running: processes that carry its run's name are ended before new work."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def kill_leftovers(run_id: str) -> int:
    """Kill every process whose environment names this run, and return how many there were."""
    marker = f"SANTIAGO_RUN={run_id}".encode()
    killed = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int(entry.name) != os.getpid() and marker in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
                killed += 1
    return killed
