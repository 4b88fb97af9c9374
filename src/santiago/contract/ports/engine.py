"""What carries out the steps of a run, here or by workers; and the sign of life that the run gives meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from santiago.contract.record import record

if TYPE_CHECKING:
    from santiago.contract.outcomes import Outcome, Usage
    from santiago.contract.ports.queue import Beat, Known, WorkerSeen
    from santiago.contract.steps import Order, Step


@record
class Sign:
    """A sign of life. After a crash the next start counts these times, which no event has recorded. Taken by `monotonic_ms`."""

    used_ms: int
    """Execution time of the run up to now."""
    steps: dict[str, int]
    """How long each step under way has lasted, by its id."""
    workers: dict[str, Beat] = field(default_factory=dict)
    """What workers have of them, for people who look at the run; without a name where no worker has it yet."""


class Engine(Protocol):
    """Has orders carried out, by this process or by workers. Outcomes come back in any order. A second outcome of a step is dropped."""

    def attach(self, steps: Sequence[str]) -> list[Order]:
        """Take up what an earlier start gave to workers: return the orders of these steps that are at work, or ended and not
        yet recorded. `wait` returns them like those of this start. A step that is not returned was never begun by a worker.

        It is called once, before anything is submitted.
        """

    def capacity(self) -> int:
        """Return how many more steps may be submitted now."""

    def reserved(self) -> Mapping[str, int]:
        """Return how many of these only the workers of one pool may take, by its name as `Story.pool` has it."""

    def judging(self) -> int | None:
        """Return how many verifications ahead may begin now, where they take none of these places; else None."""

    def submit(self, order: Order) -> None:
        """Begin to carry out an order."""

    def stop(self, step: str, *, now: bool) -> None:
        """Ask a step to end at its next safe boundary, or at once. `wait` still returns it. Asking again changes nothing.

        An order that no worker has claimed is withdrawn. It ends as interrupted, and nothing was spent on it.
        """

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        """Return a finished step with its outcome, or None where the time ran out.

        What an earlier call returned is on disk by now: the log has it.
        """

    def known(self) -> Mapping[str, Known]:
        """Return what is known of the steps that workers have or that wait for one, by id. It is cheap, and asks nobody."""

    def late(self) -> Mapping[str, Usage]:
        """Return what workers reported of steps that had been given up as lost, each once, by id. Their work does not count."""

    def workers(self) -> Sequence[WorkerSeen]:
        """Return the workers that are connected now. This process is none of them."""

    def detach(self) -> Sequence[str]:
        """Let go of what workers have or wait for: return these steps. They go on, and `wait` returns them no more."""

    def close(self) -> None:
        """End every step that this process carries out at once, wait until they have ended, and release all resources.

        What workers carry out goes on.
        """


class WithoutWorkers:
    """The part of an `Engine` that is about workers, for one that has none. What it carried out ended with its process."""

    def attach(self, steps: Sequence[str]) -> list[Order]:  # noqa: ARG002  # of the port
        return []

    def reserved(self) -> Mapping[str, int]:
        return {}

    def judging(self) -> int | None:
        return None

    def known(self) -> Mapping[str, Known]:
        return {}

    def late(self) -> Mapping[str, Usage]:
        return {}

    def workers(self) -> Sequence[WorkerSeen]:
        return ()

    def detach(self) -> Sequence[str]:
        return ()
