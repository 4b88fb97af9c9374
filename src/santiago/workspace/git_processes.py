"""Git processes that stay alive and answer many questions, so that no question needs a new process."""

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
    """One git command that reads its standard input. It is started when first needed, and again after a broken answer.

    Between two questions it holds no lock and no unwritten data. When santiago dies, its input ends, and so it ends too.
    """

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.arguments, self._env, self._cwd = arguments, env, cwd
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: bytes, last: bytes, take: Callable[[bytes], bool] = lambda _: True) -> None:
        """Pass the answer on piece by piece, up to its `last` words or until `take` has enough; raise if git ends."""
        tail = b""

        def pass_on(piece: bytes) -> bool:
            nonlocal tail
            tail = (tail + piece)[-len(last) :]
            return take(piece) and tail != last

        with self._lock:
            process = self._running()
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # the process is dead; its other streams tell why
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
            self._end()  # it was killed while it was idle
        if self._process is None:
            self._process = start(self.arguments, self._env, self._cwd, subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            with self._process as process:  # closes its streams, and waits
                end(process)
            self._process = None
