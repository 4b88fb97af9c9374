"""A lock between processes. The system releases it when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S = 30.0
_POLL_S = 0.005


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold a lock file, and yield its handle. Raise where another process holds it for longer than WAIT_S."""
    with guarding(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    try:
        _take(handle, path)
        yield handle
    finally:
        os.close(handle)


def _take(handle: int, path: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"another santiago has been writing the board's files for {WAIT_S:.0f} s"
                hint = "What was recorded is kept. Find out whether that process hangs; then run `santiago queue sync`."
                raise SantiagoError(
                    Kind.TRANSIENT, message, where=str(path), hint=hint, reason=Reason.LOCK_HELD
                ) from None
            time.sleep(_POLL_S)
