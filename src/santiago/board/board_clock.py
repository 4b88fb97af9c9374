"""The board's own clock. It follows the machine's monotonic clock, so a jump of the wall clock changes no lease."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

from santiago.contract.record import record

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
