"""Programs that some machines have and others do not."""

import subprocess
from functools import cache


@cache
def works(program: str) -> bool:
    """Whether a program is installed and starts: the front of a tool chain may stand there without the tool chain."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
