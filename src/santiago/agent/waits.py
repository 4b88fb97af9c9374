"""How long a refusal lasts, read from its text: durations, dates and times of day, as services and agents write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

MOST_WAIT = 14 * 24 * 3600
"""Longest wait in seconds that is believed."""
_EPOCH = 1_000_000_000
"""A larger number of seconds is a date, not a duration."""
_MOST_WORDS = 20_000

_UNITS = {"d": 86400.0, "h": 3600.0, "ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0}
_UNIT = r"(?:days?|d|hours?|hrs?|hr|h|milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])"
_PART = r"(\d{1,9}(?:\.\d{1,9})?)\s{0,2}(d|h|milli|ms|mi|m|s)"
_LASTS = (
    r"(?:\bagain|\bretry(?:ing)?|\bresets?|\bavailable|\bwait|retry_?delay)\W{1,5}(?:again\W{1,3})?"
    rf"(?:(?:in|after|for|another|about)\W{{1,3}})?((?:\d{{1,9}}(?:\.\d{{1,9}})?\s{{0,2}}{_UNIT}[\s,]{{0,3}}(?:and\s)?)+)"
)
_SECONDS = r"(?:retry[-_ ]?after(?:[-_ ]seconds)?|resets?_in_seconds|reset_after_seconds)\W{1,5}(\d{1,9})(?![\d.:-]*\d|\s{0,2}[a-z])"
_SINCE = r"(?:resets?|until|available|limit reached)\D{0,30}?\b(1[6-9]\d{8}|2\d{9})(?:\d{3})?\b"
_ISO = r"(?:resets?|until|available|after|again)\D{0,30}?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = (
    r"(?:\bresets?|\buntil|\bagain)\W{1,3}(?:(?:at|on|until)\W{1,3})?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?(?:,|\s+at)?\s+)?"
    r"(?P<hour>\d{1,2})(?!\d)(?::(?P<minute>\d\d))?(?::\d\d)?\s?(?P<half>[ap])?(?:\.?m\b\.?)?"
    r"\s?\(?(?P<zone>UTC|GMT|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2})?"
)


def wait_in(words: str, now: datetime | None = None) -> int | None:
    """Return the seconds after which an error will be over, by its text; None if it does not tell."""
    now = now or datetime.now(UTC)
    words = words[:_MOST_WORDS]
    if found := _search(_SINCE, words):
        return bounded(float(found[1]), now)
    if found := _search(_ISO, words):
        return _from_iso(found, now)
    if found := _search(_LASTS, words):
        return bounded(
            sum(float(n) * _UNITS[_short(unit)] for n, unit in re.findall(_PART, found[1], re.IGNORECASE)), now
        )
    if found := _search(_SECONDS, words):
        return bounded(float(found[1]), now)
    if found := _search(_CLOCK, words):
        return _from_clock(found, now)
    return None


def _search(pattern: str, words: str) -> re.Match[str] | None:
    # Compiled when first asked for: most runs are never refused.
    return re.search(pattern, words, re.IGNORECASE)


def bounded(value: float, now: datetime) -> int | None:
    """Return a duration, given a duration or a date in seconds; None if it makes no sense."""
    seconds = value - now.timestamp() if value > _EPOCH else value
    return max(0, int(seconds + 0.999)) if seconds <= MOST_WAIT else None


def _short(unit: str) -> str:
    low = unit.lower()
    return "ms" if low in ("ms", "milli") else low


def _from_iso(found: re.Match[str], now: datetime) -> int | None:
    offset = "+00:00" if found[3].upper() in ("Z", "UTC", "GMT") else found[3]
    try:
        return bounded(datetime.fromisoformat(f"{found[1]}T{found[2]}{offset}").timestamp(), now)
    except (ValueError, OverflowError):
        return None


def _from_clock(found: re.Match[str], now: datetime) -> int | None:
    """Return the seconds until a time of day, in its zone or in ours: today, tomorrow, or on the named day."""
    if not found["half"] and not found["minute"]:
        return None  # a bare number is not a time
    here = now.astimezone(_zone(found["zone"]))
    try:
        hour = int(found["hour"])
        hour = hour % 12 + 12 * (found["half"].lower() == "p") if found["half"] else hour
        then = here.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            then = then.replace(year=int(found["year"] or here.year), month=month, day=int(found["day"]))
            if not found["year"] and then < here - timedelta(days=180):
                then = then.replace(year=here.year + 1)
        elif then <= here:
            then += timedelta(days=1)
        return bounded(then.timestamp(), now)
    except (ValueError, OverflowError):
        return None


def _zone(name: str | None) -> tzinfo | None:
    """Return a time zone; None, which means ours, if none is named or it is unknown."""
    if not name:
        return None
    if name.upper() in ("UTC", "GMT"):
        return UTC
    from zoneinfo import ZoneInfo  # loaded here, since hardly any refusal names a zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
