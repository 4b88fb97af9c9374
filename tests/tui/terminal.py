"""A program on a pseudo-terminal of a given size, and all that it writes."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
from pathlib import Path

SECONDS = 60
"""How long something is waited for that must come."""


class Terminal:
    def __init__(
        self, *words: str, cwd: Path, env: dict[str, str] | None = None, size: tuple[int, int] = (24, 80)
    ) -> None:
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, size)
        self.before = termios.tcgetattr(self.theirs)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SANTIAGO_", "NO_COLOR"))}
        self.process = subprocess.Popen(
            [sys.executable, *words],
            cwd=cwd, env={**clean, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})},
            stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, start_new_session=True,
        )  # fmt: skip
        self.shown = b""

    def until(self, text: bytes) -> None:
        while text not in self.shown:
            ready, _, _ = select.select([self.ours], [], [], SECONDS)
            assert ready, self.shown[-2000:]
            self.shown += os.read(self.ours, 65536)

    def ends(self) -> int:
        """Wait for the end, and return the exit code; what was written last is read on the way."""
        while self.process.poll() is None:
            if select.select([self.ours], [], [], 0.05)[0]:
                self.shown += os.read(self.ours, 65536)
        while select.select([self.ours], [], [], 0.2)[0]:
            self.shown += os.read(self.ours, 65536)
        return self.process.returncode

    def close(self) -> None:
        os.close(self.ours)
        os.close(self.theirs)
