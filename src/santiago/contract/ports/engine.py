"""The engine port: where steps run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from santiago.contract.outcomes import Outcome
    from santiago.contract.ports.run import Stop
    from santiago.contract.steps import Order, Step


class Performer(Protocol):
    """Carries out one order, wherever it is called."""

    def perform(self, order: Order, stop: Stop) -> Outcome:
        """Return the outcome; raise only for what no outcome can express."""


class Engine(Protocol):
    """Has orders carried out. Outcomes come back in any order. A second outcome with the same step id is dropped."""

    def capacity(self) -> int:
        """Return how many more steps may be submitted now."""

    def submit(self, order: Order) -> None:
        """Begin to carry out an order."""

    def stop(self, step: str, *, now: bool) -> None:
        """Ask a step to end at its next safe boundary, or at once. `wait` still returns it."""

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        """Return a finished step with its outcome, or None where the time ran out."""

    def close(self) -> None:
        """End every step that is under way at once, wait until they have ended, and release all resources."""
