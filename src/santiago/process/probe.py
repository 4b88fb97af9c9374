"""Running a probe: a program whose exit code shows whether something works on this machine."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROBE_SECONDS = 20


def runs(argv: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a program can be started and succeeds. It finds the system's basic tools."""
    env = {**environment, "PATH": f"{environment.get('PATH', '')}:{os.defpath}"}
    try:
        ran = subprocess.run(  # noqa: S603  # an argument list of our own
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0
