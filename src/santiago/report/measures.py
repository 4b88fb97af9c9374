"""Times and sizes as people read them."""

from __future__ import annotations

from santiago.contract.counting import count
from santiago.util.clock import between

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def span(ms: int) -> str:
    """Return a length of time: `0.4 s`, `12 s`, `2m14s`, `1h05m`."""
    seconds = max(ms, 0) / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"


def roughly(ms: float) -> str:
    """Return a length of time that nobody knows exactly: `20 s`, `40 min`, `2.5 h`."""
    seconds = max(ms, 0) / 1000
    for most, unit, word in ((90, 1, "s"), (90 * _MINUTE, _MINUTE, "min"), (48 * _HOUR, _HOUR, "h")):
        if seconds < most:
            return f"{_rounded(seconds / unit):g} {word}"
    return f"{_rounded(seconds / _DAY):g} days"


def _rounded(number: float) -> float:
    """Return a number as one says it where it is not certain: 2.5, 7, 40."""
    step = 0.5 if number < 5 else 1 if number < 20 else 5
    return max(step, round(number / step) * step)


def clock(ms: int) -> str:
    """Return a running time: `0:07`, `12:40`, `1:02:03`."""
    whole = max(ms, 0) // 1000
    hours, rest = divmod(whole, _HOUR)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def of_checks(ms: int) -> str:
    """Return how long the checks take, and what that means for each attempt."""
    return f"{span(ms)} for all checks once, so {span(ms)} to {span(3 * ms)} for an attempt: its work, old tests, new tests"


def limit(ms: int) -> str:
    """Return a limit of time: `45 s`, `20m`, `3h`, `1h30m`."""
    whole = ms // 1000
    if whole < _MINUTE:
        return f"{whole} s"
    hours, minutes = divmod(whole // _MINUTE, 60)
    return f"{hours}h{minutes:02}m" if hours and minutes else f"{hours}h" if hours else f"{minutes}m"


def ago(utc: str, now: str) -> str:
    seconds = between(utc, now) // 1000
    if seconds < _MINUTE:
        return f"{seconds} s ago"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR} h ago"
    return f"{seconds // _DAY} days ago"


def size(count: int) -> str:
    """Return a number of bytes: `812 B`, `4.2 MiB`."""
    if count < 1024:
        return f"{count} B"
    number = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        number /= 1024
        if number < 1024 or unit == "GiB":
            break
    return f"{number:.1f} {unit}"


def spoken(ms: int) -> str:
    """Return a length of time as one says it: `40 s`, `12 min`, `4 h 50 min`, `2 days 3 h`."""
    seconds = round(max(ms, 0) / 1000)
    if seconds < _MINUTE:
        return f"{seconds} s"
    for most, unit, word, part, smaller in (
        (10 * _MINUTE, _MINUTE, "min", 1, "s"), (_HOUR, _MINUTE, "min", _MINUTE, ""), (_DAY, _HOUR, "h", _MINUTE, "min"),
    ):  # fmt: skip
        if seconds < most:
            whole, rest = seconds // unit, seconds % unit // part
            return f"{whole} {word} {rest} {smaller}" if rest and smaller else f"{whole} {word}"
    return f"{count(seconds // _DAY, 'day')} {seconds % _DAY // _HOUR} h"
