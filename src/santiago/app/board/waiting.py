"""Waiting for the board to change: a look at the store's own counter now and then, for as long as was said."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.board.opening import Opened

PAUSE_S = 1.0


def wait_for_change(opened: Opened, minutes: int) -> bool:
    """Return whether anything happened on the board before the time was over."""
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
