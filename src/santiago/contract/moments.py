"""UTC time as text and as milliseconds since 1970: arithmetic only, since the core may not ask any clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def ms_of(text: str) -> int:
    """Return a time of the log's form (`2026-01-02T03:04:05.678Z`, thousandths may be missing) in milliseconds."""
    return (datetime.fromisoformat(text) - _BEGIN) // _MS


def text_of(ms: int) -> str:
    """Return milliseconds since 1970 as a time of the log's form."""
    return (_BEGIN + ms * _MS).isoformat(timespec="milliseconds").replace("+00:00", "Z")
