"""The engine port: where steps run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.outcomes import Outcome
    from santiago.contract.steps import Step


class Engine(Protocol):
    """Where steps run. Outcomes come back in any order; a second outcome of one step is dropped by its id."""

    def capacity(self) -> int:
        """Return how many more steps may be submitted now."""

    def submit(self, step: Step, work: Callable[[], Outcome]) -> None:
        """Start a step."""

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        """Return a finished step with what came of it, or None where the time ran out."""

    def close(self) -> None:
        """Wait for what is under way and let go of everything."""
