"""The board's own clock. It follows the machine's monotonic clock, so a jump of the wall clock changes no lease."""

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
"""The wall clock was changed if it and the monotonic clock have moved apart by more than this."""


@record
class Anchor:
    """One moment on all clocks: the machine's clocks, and the board's clock in `ticks`."""

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
    """Return the id of this boot, the monotonic clock and the wall clock, both in milliseconds."""
    return _boot(), time.monotonic_ns() // 1_000_000, time.time_ns() // 1_000_000


def utc() -> str:
    """Return the wall clock's time as events and leases contain it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def needs_anchor(anchor: Anchor | None) -> bool:
    """Tell whether a new anchor is needed: there is none, the machine was rebooted, or the wall clock jumped."""
    if anchor is None:
        return True
    boot, monotonic, wall = machine_clocks()
    jump = (wall - anchor.wall) - (monotonic - anchor.monotonic)
    return anchor.boot != boot or monotonic < anchor.monotonic or abs(jump) > JUMP_MS


def ticks_of(anchor: Anchor) -> int:
    """Return the board's time in milliseconds. It never goes back."""
    return anchor.ticks + machine_clocks()[1] - anchor.monotonic


def current_anchor(at: Writing) -> Anchor:
    """Return the anchor for this boot. Store a new one where it is needed, and record a jump of the wall clock."""
    boot, monotonic, wall = machine_clocks()
    text = at.meta("clock")
    old = Anchor(**json.loads(text)) if text else None
    if not needs_anchor(old):
        assert old is not None
        return old
    if old is None:
        ticks = 0
    elif old.boot == boot and monotonic >= old.monotonic:
        ticks = old.ticks + monotonic - old.monotonic
        seconds = ((wall - old.wall) - (monotonic - old.monotonic)) // 1000
        at.record("", BoardEvent.CLOCK_JUMPED, "santiago", about={"seconds": seconds})
    else:
        # Only the wall clock knows how long the machine was off. If it went back, that time counts as zero.
        ticks = old.ticks + max(0, wall - old.wall)
    new = {"boot": boot, "monotonic": monotonic, "wall": wall, "ticks": ticks}
    at.set_meta("clock", json.dumps(new))
    return Anchor(boot=boot, monotonic=monotonic, wall=wall, ticks=ticks)
