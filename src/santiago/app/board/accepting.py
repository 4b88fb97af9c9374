"""Accepts a ticket from a screen. This runs in a process of its own, since it may start the ticket's run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from santiago.util.text import first, flat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LONGEST = 2000
"""The most characters of the message."""


def accepted(project: Path, ticket: str, actor: str) -> tuple[bool, str]:
    """Take a ticket through the done gate. Return whether it is done, and a message."""
    moved = ("queue", "move", "--id", ticket, "--from", "planner-review", "--to", "done")
    return _said(project, ticket, (*moved, "--in-person", "--actor", actor))


def attested(project: Path, ticket: str, run: str, story: str, why: str, actor: str) -> tuple[bool, str]:
    """Take a ticket with unproven work as done, on a person's word. Return whether it is done, and a message."""
    done, said = _said(project, ticket, ("accept", run, story, "--why", why, "--actor", actor))
    # Other stories of the run may be unproven too, which the exit code tells.
    return (True, f"{ticket} is done, and in the archive") if f"{ticket} is done" in said else (done, said)


def _said(project: Path, ticket: str, words: Sequence[str]) -> tuple[bool, str]:
    command = [sys.executable, "-m", "santiago", *words]
    done = subprocess.run(  # noqa: S603  # our own arguments, and no shell
        command, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0:
        return True, f"{ticket} is done, and in the archive"
    return False, first(flat(done.stderr).removeprefix("error: "), LONGEST)
