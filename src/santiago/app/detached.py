"""Starting a run as a separate process that outlives its parent. Its output goes into a file of the run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from santiago.artifacts.names import STARTED
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHOWN = 16_384
"""How many bytes at the end of the output are read."""


class Detached:
    """A separate `santiago` process in its own session, so that no signal of this terminal reaches it."""

    def __init__(self, out_dir: Path, words: Sequence[str], alone: Sequence[str] = ("--no-input", "--plain")) -> None:
        """`alone` are the options by which the command knows that nobody sits before it."""
        self.command = ("santiago", *words)
        self._file = out_dir / STARTED
        self._code: int | None = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self._file, flags, 0o644)
        try:
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-m", "santiago", *words, *alone],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, handle, 1),
                    (os.POSIX_SPAWN_DUP2, handle, 2),
                ],
                setsid=True,
            )
        finally:
            os.close(handle)

    def ended(self) -> int | None:
        """Return the exit code; None while it runs. The starter must call this, so that no zombie process is left."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def said(self, most: int = 6) -> list[str]:
        """Return the last lines that it printed."""
        try:
            with self._file.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - SHOWN))
                text = file.read(SHOWN).decode("utf-8", "replace")
        except OSError:
            return []
        lines = (harmless(line).rstrip() for line in text.splitlines())
        return [line for line in lines if line][-most:]


def resume(
    out_dir: Path, *, chunks: str = "", gate: str = "", attempts: int = 0, minutes: float = 0, usd: float = 0,
    consents: Sequence[str] = (), actor: str = "",
) -> Detached:  # fmt: skip
    """Go on with a run, or begin it. It is refused if it needs a consent that is not among `consents`."""
    words = ["resume", str(out_dir), "--attended", *consents]
    words += ["--actor", actor] if actor else []
    words += ["--chunks", chunks] if chunks else []
    words += ["--gate", gate] if gate else []
    words += ["--add-attempts", str(attempts)] if attempts else []
    words += ["--add-minutes", f"{minutes:g}"] if minutes else []
    words += ["--add-cost", f"{usd:g}"] if usd else []
    return Detached(out_dir, words)
