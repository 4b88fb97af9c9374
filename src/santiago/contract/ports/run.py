"""What a step hears from the run that it belongs to: the time, and whether to stop."""

from __future__ import annotations

from typing import Protocol

from santiago.contract.record import record


class Clock(Protocol):
    """Time. Deadlines use `monotonic_ms`, which no change of the wall clock moves; `utc` is for people."""

    def monotonic_ms(self) -> int:
        """Return milliseconds that only ever grow, and stand still while the machine sleeps."""

    def utc(self) -> str:
        """Return the wall time as ISO 8601 in UTC."""


@record
class Sign:
    """A sign of life. After a crash the next start counts these times, which no event has recorded. Taken by `monotonic_ms`."""

    used_ms: int
    """Execution time of the run up to now."""
    steps: dict[str, int]
    """How long each step under way has lasted, by its id."""


class Stop(Protocol):
    """How urgently what is under way should end."""

    def soon(self) -> bool:
        """Tell whether to stop at the next safe boundary."""

    def now(self) -> bool:
        """Tell whether to stop at once."""


class Never:
    """A `Stop` that never asks for a stop."""

    def soon(self) -> bool:
        return False

    def now(self) -> bool:
        return False
