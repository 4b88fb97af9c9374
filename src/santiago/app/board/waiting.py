"""Waits until the board changes, by looking for a new event once in a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.board.opening import Opened

PAUSE_S = 1.0


def wait_for_change(opened: Opened, minutes: int) -> bool:
    """Return whether anything happened on the board within these minutes."""
    opened.projections.flush()
    with opened.store.reading() as at:
        seen = at.last()
    until = time.monotonic() + minutes * 60
    while time.monotonic() < until:
        time.sleep(PAUSE_S)
        with opened.store.reading() as at:
            if at.last() != seen:
                return True
    return False
