"""A person at a terminal: reads what is shown, and types."""

import os
import re
import sys
from pathlib import Path

from tests.util.terminal import Terminal


class Person(Terminal):
    def __init__(self, *words: str, cwd: Path, env: dict[str, str]) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
        super().__init__([sys.executable, "-m", "santiago", *words], cwd, {**clean, "NO_COLOR": "1", **env})
        self.read = 0
        """Up to where the person has read."""

    @property
    def seen(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.shown.decode(errors="replace"))

    def sees(self, text: str) -> str:
        """Wait until a text is shown, and return all that came before it since the last look."""
        while (at := self.seen.find(text, self.read)) < 0:
            assert self.more(), f"{text!r} never came:\n{self.seen[-3000:]}"
        before, self.read = self.seen[self.read : at], at + len(text)
        return before

    def types(self, line: str) -> None:
        self.presses(f"{line}\n")

    def presses(self, key: str) -> None:
        os.write(self.ours, key.encode())

    def says(self, line: str, understood: str) -> None:
        """Answer the question that is shown, look at what was understood, and send it."""
        self.sees("\n> ")
        self.types(line)
        self.sees(f"understood: {understood}; Enter to send")
        self.presses("\n")

    def leaves(self) -> int:
        code = self.ends()
        self.close()
        return code
