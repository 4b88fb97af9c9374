"""One loop for a board: two would take the same request apart, and be in each other's way in its run."""

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
def alone(place: Place) -> Iterator[None]:
    """Be the board's loop for as long as this lasts; raise where another one is."""
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
