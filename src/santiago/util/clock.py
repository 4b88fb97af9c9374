"""The real clock, and a clock that counts only the time of work."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.ports.run import Clock


class SystemClock:
    """Time of this machine: monotonic for deadlines (it stands still while the machine sleeps), UTC for people."""

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def utc(self) -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


STOPPED_MS = 5000
"""Longest usual time between two readings. A working process reads the clock several times a second, unless it is stopped."""


class WorkClock:
    """A clock that counts work. While this process is stopped, time counts only if its programs go on.

    `worked` tells for how long they did, between two readings of the clock. It may learn of that a little later, so the latest
    such times are asked for again.
    """

    def __init__(self, clock: Clock, worked: Callable[[int, int], int]) -> None:
        self.clock = clock
        self.worked = worked
        self.lock = threading.Lock()
        self.seen = clock.monotonic_ms()
        self.lost = self.told = 0
        self.stops: list[tuple[int, int]] = []

    def monotonic_ms(self) -> int:
        with self.lock:
            now = self.clock.monotonic_ms()
            if now - self.seen > STOPPED_MS:
                self.stops.append((self.seen, now))
            self.seen = now
            if not self.stops:
                self.told = max(self.told, now - self.lost)
                return self.told
            idle = [(stop, stop[1] - stop[0] - self.worked(*stop)) for stop in self.stops]
            self.told = max(self.told, now - self.lost - sum(ms for _, ms in idle))
            self.lost += sum(ms for (_, end), ms in idle if now - end > STOPPED_MS)
            self.stops = [stop for stop in self.stops if now - stop[1] <= STOPPED_MS]
            return self.told

    def utc(self) -> str:
        return self.clock.utc()


def between(earlier: str, later: str) -> int:
    """Return the milliseconds between two UTC times of a log; 0 if the wall clock went back."""
    return max(0, round((_moment(later) - _moment(earlier)).total_seconds() * 1000))


def _moment(utc: str) -> datetime:
    return datetime.fromisoformat(utc)


def here(utc: str) -> datetime | None:
    """Return a UTC time of a log as local time; None if it is not a time."""
    try:
        return _moment(utc).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def time_of_day(utc: str) -> str:
    """Return the local time of day without its zone, which the heading names."""
    found = here(utc)
    return found.strftime("%H:%M:%S") if found else utc


def moment(utc: str, now: str = "") -> str:
    """Return a local time with its zone, `10:16:56 CET`, and with the day unless it is the day of `now`."""
    found, today = here(utc), here(now) if now else None
    if found is None:
        return utc
    return found.strftime("%H:%M:%S %Z" if today and today.date() == found.date() else "%Y-%m-%d %H:%M:%S %Z")


def zone(utc: str) -> str:
    """Return the name of the local zone at a time."""
    found = here(utc)
    return found.strftime("%Z") if found else "UTC"
