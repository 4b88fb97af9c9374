"""The board's own clock: it goes on with the machine's monotonic one, so that no jump of the wall clock moves a lease."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.contract.board import BoardEvent
from santiago.contract.record import record

if TYPE_CHECKING:
    from santiago.board.records import Writing

_BOOT = Path("/proc/sys/kernel/random/boot_id")
JUMP_MS = 60_000
"""Further apart than this, wall clock and monotonic clock were moved against each other."""


@record
class Anchor:
    """One moment by all clocks: how far the board's own was when the machine's showed these."""

    boot: str
    monotonic: int
    wall: int
    ticks: int


@cache
def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def machine_clocks() -> tuple[str, int, int]:
    """Return this start of the machine, its monotonic and its wall clock, both in milliseconds."""
    return _boot(), time.monotonic_ns() // 1_000_000, time.time_ns() // 1_000_000


def is_off(anchor: Anchor | None) -> bool:
    """Tell whether the clock has to be set: there is no anchor yet, the machine was started anew, or the wall clock jumped."""
    if anchor is None:
        return True
    boot, monotonic, wall = machine_clocks()
    jump = (wall - anchor.wall) - (monotonic - anchor.monotonic)
    return anchor.boot != boot or monotonic < anchor.monotonic or abs(jump) > JUMP_MS


def ticks_of(anchor: Anchor) -> int:
    """Return the board's time in milliseconds, which never goes back."""
    return anchor.ticks + machine_clocks()[1] - anchor.monotonic


def settled(at: Writing) -> Anchor:
    """Return the anchor that holds for this start of the machine; set it where it is off, and say where the wall clock jumped."""
    boot, monotonic, wall = machine_clocks()
    text = at.meta("clock")
    old = Anchor(**json.loads(text)) if text else None
    if not is_off(old):
        assert old is not None
        return old
    if old is None:
        ticks = 0
    elif old.boot == boot and monotonic >= old.monotonic:
        ticks = old.ticks + monotonic - old.monotonic
        seconds = ((wall - old.wall) - (monotonic - old.monotonic)) // 1000
        at.record("", BoardEvent.CLOCK_JUMPED, "santiago", about={"seconds": seconds})
    else:
        # Only the wall clock knows how long the machine was off, and it is not believed where it went back.
        ticks = old.ticks + max(0, wall - old.wall)
    new = {"boot": boot, "monotonic": monotonic, "wall": wall, "ticks": ticks}
    at.set_meta("clock", json.dumps(new))
    return Anchor(boot=boot, monotonic=monotonic, wall=wall, ticks=ticks)
