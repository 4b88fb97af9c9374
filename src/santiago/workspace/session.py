"""Moving refs through one git process that stays: each move is a transaction of its own, and costs no new process."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.workspace.git import end, read, start
from santiago.workspace.troubles import trouble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_DONE = b"start: ok\nprepare: ok\ncommit: ok\n"


class RefSession:
    """`git update-ref --stdin`, started when it is first needed, and anew after a move that git refused.

    Between two moves it holds no lock and keeps nothing back; when santiago dies its input ends, and so does it.
    """

    def __init__(self, options: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._arguments = (*options, "update-ref", "--stdin")
        self._env, self._cwd = env, cwd
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def move(self, ref: str, new: str, old: str) -> None:
        """Write a ref if it still is `old`; git has written it on return."""
        said = bytearray()

        def take(piece: bytes) -> bool:
            said.extend(piece)
            return said != _DONE

        with self._lock:
            process = self._running()
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it is dead; its other streams tell why
                process.stdin.write(f"start\nupdate {ref} {new} {old}\nprepare\ncommit\n".encode())
            done = False
            try:
                words, done = read(process, self._arguments, take)
            finally:
                if not done:
                    self._end()
        if not done:
            raise trouble(self._arguments, words.decode("utf-8", "backslashreplace"))

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()  # somebody killed it while it had nothing to do
        if self._process is None:
            self._process = start(self._arguments, self._env, self._cwd, subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            with self._process as process:  # closes its streams, and waits
                end(process)
            self._process = None
