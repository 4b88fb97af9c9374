"""Running the real program, as a user would."""

import os
import subprocess
import sys
from pathlib import Path

from tests import forked

PROGRAM = ("-m", "santiago")
UNPROVEN = {"SANTIAGO_POLICY_UNPROVEN": "accept"}
"""Agents of most tests bring no tests, since their runs are about something else. Tests about proof set it to `ask`."""


_STARTERS = ("run", "execute", "resume", "accept", "verify", "doctor")


def trusted(*arguments: str | Path) -> list[str]:
    """Return a command line as one types it who trusts the settings of the repository."""
    words = [str(word) for word in arguments]
    return [words[0], "--trust-project", *words[1:]] if words and words[0] in _STARTERS else words


def santiago(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    seconds: int = 300,
    trusting: bool = True,
    program: tuple[str, ...] = PROGRAM,
    code: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command line, and see it end with `code`."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SANTIAGO_", "FORCE_COLOR", "CLICOLOR"))
    }
    words = trusted(*arguments) if trusting else [str(word) for word in arguments]
    whole = {**clean, "USER": "user", **UNPROVEN, **(env or {})}
    if program == PROGRAM and forked.fits(whole):
        ran = forked.run(words, cwd=cwd, env=whole, seconds=seconds)
    else:
        ran = subprocess.run(
            [sys.executable, *program, *words],
            cwd=cwd, env=whole, capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip
    assert code in (None, ran.returncode), (ran.returncode, ran.stdout, ran.stderr)
    return ran
