"""Running a probe: a program of santiago's own that shows by its exit code whether something works on this machine."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROBE_SECONDS = 20


def runs(argv: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a program can be started and succeeds; the system's plain tools are there for it."""
    env = {**environment, "PATH": f"{environment.get('PATH', '')}:{os.defpath}"}
    try:
        ran = subprocess.run(  # noqa: S603  # an argument list of our own
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0
