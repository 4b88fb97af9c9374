"""Git processes that stay: one answers question after question, and none of them costs a new process."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from santiago.workspace.git import end, read, start
from santiago.workspace.troubles import trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


class Session:
    """One git command that reads its standard input, started when it is first needed, and anew after a broken answer.

    Between two questions it holds no lock and keeps nothing back; when santiago dies its input ends, and so does it.
    """

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.arguments, self._env, self._cwd = arguments, env, cwd
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: bytes, last: bytes, take: Callable[[bytes], bool] = lambda _: True) -> None:
        """Hand over the answer piece by piece up to its `last` words, or until the taker has enough; raise where git ends."""
        tail = b""

        def pass_on(piece: bytes) -> bool:
            nonlocal tail
            tail = (tail + piece)[-len(last) :]
            return take(piece) and tail != last

        with self._lock:
            process = self._running()
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it is dead; its other streams tell why
                process.stdin.write(question)
            try:
                words, enough = read(process, self.arguments, pass_on)
            finally:
                if tail != last:
                    self._end()
        if not enough:
            raise trouble(self.arguments, words.decode("utf-8", "backslashreplace"))

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()  # somebody killed it while it had nothing to do
        if self._process is None:
            self._process = start(self.arguments, self._env, self._cwd, subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            with self._process as process:  # closes its streams, and waits
                end(process)
            self._process = None
