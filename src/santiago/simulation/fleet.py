"""Workers and a queue that outlive the coordinator, on the simulation's virtual clock; and the engine that speaks to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Literal

from santiago.contract.outcomes import AttemptOutcome, Outcome, Usage, without_work
from santiago.contract.ports.queue import Beat, Ended, Known, WorkerSeen
from santiago.contract.ports.run import Performer
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.steps import Attempt, Order, Propose, Step
from santiago.simulation.world import EventEngine, SimulatedPerformer, Unhurried, VirtualClock

URL = "postgresql://workers@queue/santiago"
LEASE_MS = 3_000


@lean(slots=False, eq=False)
class Worker:
    """One machine: it takes one order at a time, of its own pool, and is there from a time on."""

    pool: str = ""
    since: int = 0
    busy: str = ""


@lean(slots=False, eq=False)
class Placed:
    """An order in the queue, with what has become of it."""

    order: Order
    worker: int | None = None
    ends: int = 0
    fate: Literal["done", "lost", "declined", "stopped", "cancelled"] | None = None
    outcome: Outcome | None = None
    """What its worker brings."""


@lean(slots=False, eq=False)
class Fleet:
    """A step's end is drawn from a table when it is claimed. A lost worker's agent has worked nevertheless."""

    clock: VirtualClock
    performer: SimulatedPerformer
    workers: list[Worker] = field(default_factory=lambda: [Worker()])
    fate: Callable[[str], Literal["done", "lost", "declined"]] = lambda step: "done"
    said: Callable[[str], Usage] = lambda step: Usage()
    """What the last beat of a lost worker said of its step."""
    reports: int | None = None
    """After how long a lost worker's report arrives; None where it never does."""
    orders: dict[str, Placed] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    """Lost steps whose usage was reported."""

    def engine(
        self, jobs: int, clock: VirtualClock, duration: Callable[[Step], int], performer: Performer
    ) -> FleetEngine:
        return FleetEngine(jobs, clock, duration, performer, self)

    def put(self, order: Order) -> None:
        assert order.id not in self.orders, f"{order.id} was ordered twice"
        self.orders[order.id] = Placed(order)

    def advance(self, duration: Callable[[Step], int]) -> None:
        """Let everything happen that is due by now."""
        for placed in self.orders.values():
            if placed.worker is not None and placed.fate is None and placed.ends <= self.clock.now:
                self._end(placed, self.fate(placed.order.id))
        for number, worker in enumerate(self.workers):
            waiting = (one for one in self.orders.values() if one.worker is None and one.fate is None)
            found = next((one for one in waiting if one.order.pool == worker.pool), None)
            if found is not None and not worker.busy and worker.since <= self.clock.now:
                self._claim(found, number, duration)

    def _claim(self, placed: Placed, number: int, duration: Callable[[Step], int]) -> None:
        fate = self.fate(placed.order.id)
        length = {"lost": LEASE_MS, "declined": 100, "done": duration(placed.order.step)}[fate]
        placed.worker, placed.ends = number, self.clock.now + length
        self.workers[number].busy = placed.order.id
        if fate != "declined":
            placed.outcome = self.performer.perform(placed.order, Unhurried())  # refuses to begin a step twice

    def _end(self, placed: Placed, fate: Literal["done", "lost", "declined", "stopped"]) -> None:
        assert placed.worker is not None
        placed.fate, self.workers[placed.worker].busy = fate, ""

    def stop(self, step: str, *, now: bool) -> None:
        placed = self.orders.get(step)
        if placed is None or placed.fate is not None:
            return
        if placed.worker is None:
            placed.fate = "cancelled"
        elif now:
            self._end(placed, "lost")
        else:
            self._end(placed, "stopped" if placed.outcome else "declined")

    def next_event(self) -> int | None:
        """Return when something happens next by itself."""
        at_work = [one.ends for one in self.orders.values() if one.worker is not None and one.fate is None]
        wanted = {one.order.pool for one in self.orders.values() if one.worker is None and one.fate is None}
        coming = [one.since for one in self.workers if one.since > self.clock.now and one.pool in wanted]
        return min([*at_work, *coming], default=None)


class FleetEngine(EventEngine):
    """What agents do is ordered from the fleet; the rest runs here. It dies with its coordinator, and the fleet does not."""

    def __init__(
        self, jobs: int, clock: VirtualClock, duration: Callable[[Step], int], performer: Performer, fleet: Fleet
    ) -> None:
        super().__init__(jobs, clock, duration, performer)
        self.fleet = fleet
        self.out: dict[str, Placed] = {}
        """What this coordinator waits for."""
        self.idle_ms = 0

    def attach(self, steps: Sequence[str]) -> list[Order]:
        self.out = {step: self.fleet.orders[step] for step in steps if step in self.fleet.orders}
        return [placed.order for placed in self.out.values()]

    def capacity(self) -> int:
        return super().capacity() - len(self.out)

    def reserved(self) -> Mapping[str, int]:
        slots = Counter(one.pool for one in self.fleet.workers if one.since <= self.clock.now)
        slots.subtract(placed.order.pool for placed in self.out.values())
        return +slots

    def submit(self, order: Order) -> None:
        if not isinstance(order.step, Attempt | Propose):
            super().submit(order)
            return
        self.fleet.put(order)
        self.out[order.id] = self.fleet.orders[order.id]

    def stop(self, step: str, *, now: bool) -> None:
        super().stop(step, now=now)
        self.fleet.stop(step, now=now)

    def known(self) -> Mapping[str, Known]:
        return {step: self._known(placed) for step, placed in self.out.items()}

    def _known(self, placed: Placed) -> Known:
        if placed.worker is None:
            return Known(ended=Ended(fate=placed.fate) if placed.fate else None)
        name, said = f"w{placed.worker}", self.fleet.said(placed.order.id)
        return Known(claimed_by=name, beat=Beat(worker=name, doing="agent", tokens=said.tokens))

    def late(self) -> Mapping[str, Usage]:
        after, now = self.fleet.reports, self.clock.now
        found = {
            step: placed.outcome.ending.usage
            for step, placed in self.fleet.orders.items()
            if placed.fate == "lost" and step not in self.out and step not in self.fleet.told
            if after is not None and placed.ends + after <= now
            if isinstance(placed.outcome, AttemptOutcome) and placed.outcome.ending
        }
        self.fleet.told |= found.keys()
        return found

    def workers(self) -> Sequence[WorkerSeen]:
        seen = partial(WorkerSeen, version="1", jobs=1, judges=False, since="", beat_at="")
        return [seen(name=f"w{number}", pool=one.pool) for number, one in enumerate(self.fleet.workers)]

    def detach(self) -> Sequence[str]:
        gone, self.out = list(self.out), {}
        return gone

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        self.fleet.advance(self.duration)
        for step, placed in self.out.items():
            if placed.fate is not None:
                del self.out[step]
                return placed.order.step, self._outcome(placed)
        until, coming = self.clock.now + timeout_ms, self.fleet.next_event()
        here = self.heap[0][0] if self.heap else None
        if here is not None and here <= min(until, coming or until):
            return super().wait(timeout_ms)
        self.clock.now = min(until, max(self.clock.now, coming)) if coming is not None else until
        return None

    def _outcome(self, placed: Placed) -> Outcome:
        """Return the end of an order. What was stopped has its verdict at once here, as the next start would give it."""
        step = placed.order.step
        assert isinstance(step, Attempt | Propose)
        match placed.fate:
            case "lost":
                return without_work(step, Reason.WORKER_LOST, self.fleet.said(step.id))
            case "declined":
                return without_work(step, Reason.DECLINED, message="git is too old")
            case "cancelled":
                return without_work(step, Reason.INTERRUPTED)
            case _:
                assert placed.outcome is not None
                return placed.outcome
