"""A program on a pseudo-terminal, and all that it writes."""

import fcntl
import os
import pty
import select
import subprocess
import termios
from pathlib import Path

SECONDS = 120
"""How long something is waited for that must come; nothing but a defect makes it pass."""


class Terminal:
    def __init__(
        self, words: list[str], cwd: Path, env: dict[str, str], size: tuple[int, int] = (24, 80), *, owned: bool = False
    ) -> None:
        """Start a command; where it owns the terminal, Ctrl-C reaches it."""
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, size)
        self.before = termios.tcgetattr(theirs)
        self.process = subprocess.Popen(
            words, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=_take if owned else None,
        )  # fmt: skip
        os.close(theirs)
        self.shown = b""

    def until(self, text: bytes, since: int = 0) -> int:
        """Wait until a text is shown, and return where it stands."""
        while (at := self.shown.find(text, since)) < 0:
            assert self.more(), f"{text!r} never came: {self.shown[-3000:]!r}"
        return at

    def more(self) -> bool:
        """Read on; say whether there was anything."""
        ready, _, _ = select.select([self.ours], [], [], SECONDS)
        try:
            piece = os.read(self.ours, 65536) if ready else b""
        except OSError:  # how a terminal says that nobody is left
            piece = b""
        self.shown += piece
        return bool(piece)

    def ends(self) -> int:
        """Wait for the end, and return the exit code; what was written last is read on the way."""
        while self.more():
            pass
        return self.process.wait(SECONDS)

    def close(self) -> None:
        os.close(self.ours)


def _take() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
