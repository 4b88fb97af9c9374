"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Time of this machine: monotonic for deadlines (it stands still while the machine sleeps), UTC for people."""

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def utc(self) -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
