"""Allows one loop for each board. Two loops would route the same request, and disturb each other in its run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.artifacts.lock import Lock
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.util.clock import SystemClock
from santiago.util.disk import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.board.root import Place


@contextmanager
def only_loop(place: Place) -> Iterator[None]:
    """Hold the board's loop lock during the block; raise where another loop holds it."""
    folder = place.root / "locks"
    with guarding(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder, since=SystemClock().utc(), name="loop.lock")
    try:
        lock.acquire()
    except SantiagoError as error:
        if error.reason is not Reason.LOCK_HELD:
            raise
        message = f"another loop works on this board: {error.message.removeprefix('it is in use by ')}"
        hint = "It will also work on tickets that are added now. Wait for it, or stop it with Ctrl-C in its terminal."
        raise SantiagoError(Kind.TRANSIENT, message, hint=hint, reason=Reason.LOCK_HELD) from None
    try:
        yield
    finally:
        lock.release()
