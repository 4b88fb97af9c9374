"""A command on a pseudo-terminal, for what a program asks, or shows, only where somebody is sitting."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from tests.util.terminal import Terminal

ANEW = re.compile(r"\x1b\[\d*[AJ]")
"""Where a picture is drawn over the one before."""


class Typist(Terminal):
    """Who types one command of a page."""

    def __init__(self, command: str, cwd: Path, env: dict[str, str], columns: int) -> None:
        whole = {**env, "COLUMNS": str(columns)}
        super().__init__(["sh", "-c", f"exec {command}"], cwd, whole, (40, columns), owned=True)
        self.shown = b"\n"

    def type(self, answers: list[tuple[str, str]]) -> bytes:
        """Type each answer once what stands before it on its line is there, and return all that was written."""
        read = 0
        for before, answer in answers:
            line = f"\n{before}".encode()
            read = self.until(line, read) + len(line)
            os.write(self.ours, b"\x03" if answer == "^C" else f"{answer}\n".encode())
        return self._end()

    def watch(self, is_there: Callable[[bytes], bool]) -> bytes:
        """Wait for a picture, then stop the command, and return the picture: this one, or the last that was drawn."""
        while not is_there(self._picture()) and self.more():
            pass
        seen = self._picture()
        os.write(self.ours, b"\x1c")  # Ctrl-\, which stops at once
        self._end()
        return seen

    def _picture(self) -> bytes:
        """Return the last picture that is whole: the next one has begun."""
        drawn = ANEW.split(self.shown.decode("utf-8", "replace"))
        return next((one for one in reversed(drawn[:-1]) if one.strip()), "").encode()

    def _end(self) -> bytes:
        self.ends()
        self.close()
        return self.shown[1:].replace(b"^C", b"")  # which a terminal shows, or not, as the program has set it by then
