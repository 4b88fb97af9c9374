"""A person at a terminal: reads what is shown, and types."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

SECONDS = 60
"""How long something is waited for that must come; nothing but a defect makes it pass."""


class Person:
    def __init__(self, *words: str, cwd: Path, env: dict[str, str]) -> None:
        self.ours, theirs = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "santiago", *words],
            cwd=cwd, env={**clean, "NO_COLOR": "1", **env}, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""
        self.read = 0
        """Up to where the person has read."""

    def sees(self, text: str) -> str:
        """Wait until a text is shown, and return all that came before it since the last look."""
        while (at := self.shown.find(text, self.read)) < 0:
            if not self._more():
                raise AssertionError(f"{text!r} never came:\n{self.shown[-3000:]}")
        before, self.read = self.shown[self.read : at], at + len(text)
        return before

    def types(self, line: str) -> None:
        os.write(self.ours, f"{line}\n".encode())

    def presses(self, key: str) -> None:
        os.write(self.ours, key.encode())

    def says(self, line: str, understood: str) -> None:
        """Answer the question that is shown, look at what was understood, and send it."""
        self.sees("\n> ")
        self.types(line)
        self.sees(f"understood: {understood}; Enter to send")
        self.presses("\n")

    def leaves(self) -> int:
        while self._more():
            pass
        os.close(self.ours)
        return self.process.wait(SECONDS)

    def _more(self) -> bool:
        ready, _, _ = select.select([self.ours], [], [], SECONDS)
        try:
            piece = os.read(self.ours, 65536) if ready else b""
        except OSError:  # how a terminal says that nobody is left
            piece = b""
        self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", piece.decode(errors="replace"))
        return bool(piece)
