"""What a step hears from the run that it belongs to: the time, and whether to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from santiago.contract.outcomes import Outcome
    from santiago.contract.steps import Order


class Clock(Protocol):
    """Time. Deadlines use `monotonic_ms`, which no change of the wall clock moves; `utc` is for people."""

    def monotonic_ms(self) -> int:
        """Return milliseconds that only ever grow, and stand still while the machine sleeps."""

    def utc(self) -> str:
        """Return the wall time as ISO 8601 in UTC."""


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


class Performer(Protocol):
    """Carries out one order, wherever it is called."""

    def perform(self, order: Order, stop: Stop) -> Outcome:
        """Return the outcome; raise only for what no outcome can express."""
