"""A command on a pseudo-terminal, for what a program asks, or shows, only where somebody is sitting."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS = 120
"""How long something is waited for that must come; nothing but a defect makes it pass."""
ANEW = re.compile(r"\x1b\[\d*[AJ]")
"""Where a picture is drawn over the one before."""


class Terminal:
    """One command, and all that it writes."""

    def __init__(self, command: str, cwd: Path, env: dict[str, str], columns: int) -> None:
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, columns))
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=cwd, env={**env, "COLUMNS": str(columns)},
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.told = b"\n"

    def type(self, answers: list[tuple[str, str]]) -> bytes:
        """Type each answer once what stands before it on its line is there, and return all that was written."""
        read = 0
        for before, answer in answers:
            line = f"\n{before}".encode()
            while (at := self.told.find(line, read)) < 0 and self._more():
                pass
            read = at + len(line)
            os.write(self.ours, b"\x03" if answer == "^C" else f"{answer}\n".encode())
        return self._end()

    def watch(self, is_there: Callable[[bytes], bool]) -> bytes:
        """Wait for a picture, then stop the command, and return the picture: this one, or the last that was drawn."""
        while not is_there(self._picture()) and self._more():
            pass
        seen = self._picture()
        os.write(self.ours, b"\x1c")  # Ctrl-\, which stops at once
        self._end()
        return seen

    def _picture(self) -> bytes:
        """Return the last picture that is whole: the next one has begun."""
        drawn = ANEW.split(self.told.decode("utf-8", "replace"))
        return next((one for one in reversed(drawn[:-1]) if one.strip()), "").encode()

    def _end(self) -> bytes:
        while self._more():
            pass
        self.process.wait(SECONDS)
        os.close(self.ours)
        return self.told[1:].replace(b"^C", b"")  # which a terminal shows, or not, as the program has set it by then

    def _more(self) -> bool:
        """Read on; say whether there was anything."""
        ready, _, _ = select.select([self.ours], [], [], SECONDS)
        try:
            piece = os.read(self.ours, 65536) if ready else b""
        except OSError:  # how a terminal says that nobody is left
            piece = b""
        self.told += piece
        return bool(piece)


def _own_terminal() -> None:
    """Make it the terminal by which Ctrl-C reaches the command."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
