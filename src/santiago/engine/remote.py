"""Has agents' steps carried out by workers on other machines, and everything else by threads of this process.

One thread speaks to queue and remote, so that a connection that hangs delays neither a stop nor what is carried out here.
What a worker brings gets its verdict as adopted work does: the loop sees one step, from its submission to its verdict.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from santiago import __version__
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.outcomes import AttemptOutcome, ProposalOutcome, Usage, without_work
from santiago.contract.ports.judge import Judged
from santiago.contract.ports.queue import POOL, Address, Known
from santiago.contract.ports.workspace import WorkspaceConflictError
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.steps import Adopt, Attempt, Order, Propose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from santiago.contract.outcomes import AgentEnding, Outcome
    from santiago.contract.ports.queue import Beat, Courier, Ended, Queue, Report, WorkerSeen
    from santiago.contract.steps import Step
    from santiago.engine.threads import ThreadsEngine

SPARE = 2
"""Orders that may wait for a worker, so that none has to wait for the coordinator."""
POLL_S, WORKERS_S, LATE_S = 0.2, 2.0, 60.0
"""How often the queue is asked about orders, about workers, and the remote about results of lost workers."""
PATIENCE_S = 600.0
"""How long a remote that fails is tried again."""
CLOSE_S = 5.0
"""How long leaving waits for an engine that does not answer. What was asked of it then is asked by the next start."""
REST_S = 300
"""How long a worker rests whose agent's service refused it and did not say for how long."""


@lean(kw_only=True)
class Brought:
    """What workers brought that nobody here has to find out again, and who of them is connected."""

    workers: tuple[WorkerSeen, ...] = ()
    endings: dict[str, AgentEnding] = field(default_factory=dict)
    """Step → the ending of the agent that wrote its detailed plan."""
    verdicts: dict[tuple[str, int], Judged] = field(default_factory=dict)
    """Story and attempt → the verdict of a worker that is trusted."""


@lean(kw_only=True)
class Out:
    """One order that workers have, or are to get."""

    order: Order
    step: Attempt | Propose
    address: Address
    is_put: bool = False
    """Whether the queue has it."""
    offered: bool = False
    """Whether the queue may have it, though perhaps nobody answered."""
    asked: bool = False
    at_once: bool = False
    at_once_since: float = 0.0
    told: tuple[bool, bool] = (False, False)
    """What of the two was said to the queue."""
    known: Known = Known()
    failing_since: float = 0.0
    unknown_since: float = 0.0
    """Since when the queue has not known it, though it was put."""
    is_judged: bool = False
    """Whether the verdict on its work was begun."""
    remarks: tuple[str, ...] = ()


class RemoteEngine:
    """Orders of one run. `lead` of the courier has been taken."""

    def __init__(
        self,
        inner: ThreadsEngine,
        queue: Queue,
        courier: Courier,
        lease_ms: int,
        brought: Brought,
        *,
        trusts: bool = False,
    ) -> None:
        self.inner, self.queue, self.courier, self.lease_ms = inner, queue, courier, lease_ms
        self.brought, self.trusts = brought, trusts
        self.out: dict[str, Out] = {}
        self.here: dict[str, Out] = {}
        """Step of this process → the order whose work it judges, from its arrival until the verdict is returned."""
        self.returned: str = ""
        """The step that `wait` returned last. Its end may not be on disk yet."""
        self.held: set[str] = set()
        """Steps whose refs the remote must keep, since the log does not have their ends."""
        self.resting: dict[str, float] = {}
        self.lost: set[str] = set()
        self.reported: dict[str, Usage] = {}
        brought.workers = self._present()
        self.due = {"workers": time.monotonic() + WORKERS_S, "late": time.monotonic() + LATE_S}
        self.wake, self.closing, self.lock = threading.Event(), threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self._serve, name="remote", daemon=True)
        self.answered = time.monotonic()
        """When the thread last had all its answers."""

    # The port

    def attach(self, steps: Sequence[str]) -> list[Order]:
        sent = [order for step in steps if (order := self.courier.sent(step)) is not None]
        outs = [_out(order, order.step) for order in sent if isinstance(order.step, Attempt | Propose)]
        known = self.queue.find([out.address for out in outs])
        for out in outs:
            if out.address.id in known:
                out.is_put, out.known = True, known[out.address.id]
                self.out[out.step.id] = out
        self.held |= self.out.keys()
        self._sweep()
        self.thread.start()
        return [out.order for out in self.out.values()]

    def capacity(self) -> int:
        self._recorded()  # the loop comes back only after it has recorded what it got
        slots = sum(worker.jobs for worker in self._awake_workers())
        return max(0, slots + SPARE - len(self.out))

    def reserved(self) -> Mapping[str, int]:
        slots = Counter[str]()
        for worker in self._awake_workers():
            slots[worker.pool] += worker.jobs
        slots.subtract(out.address.pool for out in tuple(self.out.values()))
        return {"" if pool == POOL else pool: free for pool, free in slots.items() if free > 0}

    def judging(self) -> int | None:
        served = sum(worker.jobs for worker in self.brought.workers if worker.judges)
        free = served - len(self.inner.running) if served else self.inner.capacity()
        with self.lock:  # the verdict on what came goes first: it lets others begin
            return max(0, free - sum(not out.is_judged for out in self.here.values()))

    def submit(self, order: Order) -> None:
        if not isinstance(order.step, Attempt | Propose):
            self.inner.submit(order)
            return
        with self.lock:
            self.out[order.id] = _out(replace(order, trusted=self.trusts), order.step)
            self.held.add(order.id)
        self.wake.set()

    def stop(self, step: str, *, now: bool) -> None:
        with self.lock:
            out = next((one for one in (*self.out.values(), *self.here.values()) if one.step.id == step), None)
        if out is not None:
            if now and not out.at_once:
                out.at_once_since = time.monotonic()
            out.asked, out.at_once = True, out.at_once or now
            step = _judged_as(out.step).id
        self.inner.stop(step, now=now)
        self.wake.set()

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        self._recorded()
        until = time.monotonic() + timeout_ms / 1000
        while True:
            self._give_up()
            self._judge_next()
            found = self.inner.wait(max(0, int((until - time.monotonic()) * 1000)))
            if found is None:
                return None
            step, result = found
            if isinstance(result, _Here):
                continue
            if (out := self.here.pop(step.id, None)) is not None:
                step, result = out.step, _as_ordered(out, result)
            if step.id in self.held and not _is_unfinished(result):
                self.returned = step.id
            return step, result

    def known(self) -> Mapping[str, Known]:
        with self.lock:
            return {step: out.known for step, out in self.out.items()}

    def late(self) -> Mapping[str, Usage]:
        with self.lock:
            found, self.reported = self.reported, {}
        return found

    def workers(self) -> Sequence[WorkerSeen]:
        return self.brought.workers

    def detach(self) -> Sequence[str]:
        with self.lock:
            gone, self.out = list(self.out), {}
        return gone

    def close(self) -> None:
        """End what runs here. Orders go on. If there are none, nothing of the run stays on the remote."""
        if self.closing.is_set():
            return
        self.closing.set()
        self.wake.set()
        if self.thread.is_alive():
            self.thread.join(CLOSE_S)
        self.inner.close()
        with suppress(SantiagoError):  # the next start sweeps as well
            if not self.thread.is_alive():
                self._sweep()
            if not self.held:
                self.courier.resign()
        self.out, self.here, self.held = {}, {}, set()

    # Verdicts, by the thread that waits

    def _judge_next(self) -> None:
        """Begin verdicts on what came, as many at a time as this machine has jobs."""
        with self.lock:
            waiting = [out for out in self.here.values() if not out.is_judged]
        for out in waiting[: self.inner.capacity()]:
            out.is_judged, inner = True, _judged_as(out.step)
            self.inner.submit(replace(out.order, step=inner))
            if out.asked:
                self.inner.stop(inner.id, now=out.at_once)

    def _give_up(self) -> None:
        """End what was to end at once where nobody answers: after a lease its worker has ended it by its own clock."""
        since = time.monotonic() - self.lease_ms / 1000 - CLOSE_S
        with self.lock:
            unheard = [
                out for out in self.out.values() if out.at_once and max(out.at_once_since, self.answered) < since
            ]
        for out in unheard:
            message = "neither engine nor git remote answer, so the next start asks what became of the order"
            hint = "See whether both can be reached from here; then go on with the run."
            self._finish(out, SantiagoError(Kind.TRANSIENT, message, where=out.address.id, hint=hint))

    def _recorded(self) -> None:
        """What was returned before is on disk by now, so its refs may go."""
        if self.returned:
            self.courier.forget([self.returned])
            self.held.discard(self.returned)
            self.returned = ""

    # The thread that speaks to queue and remote

    def _serve(self) -> None:
        while not self.closing.is_set():
            self.wake.clear()
            with self.lock:
                outs = list(self.out.values())
            try:
                self._begin(out for out in outs if not out.is_put)
                self._look([out for out in outs if out.is_put])
                self._now_and_then()
                self.answered = time.monotonic()
            except Exception as error:  # whoever waits is told, with every order that is out
                for out in outs:
                    self._finish(out, error)
            self.wake.wait(POLL_S if outs else WORKERS_S)

    def _begin(self, outs: Iterable[Out]) -> None:
        for out in outs:
            if out.asked and not out.offered:
                self._finish(out, without_work(out.step, Reason.INTERRUPTED))
                continue
            try:
                commit = self.courier.send(out.order)
                out.offered = True
                self.queue.put(out.address, commit, self.lease_ms)
                out.is_put, out.failing_since = True, 0.0
            except WorkspaceConflictError as error:
                self._finish(out, without_work(out.step, Reason.WORKSPACE_CONFLICT, message=error.message))
            except SantiagoError as error:
                if not self._may_retry(out, error):
                    self._finish(out, error)

    def _look(self, outs: Sequence[Out]) -> None:
        known = self.queue.find([out.address for out in outs]) if outs else {}
        now = time.monotonic()
        for out in outs:
            out.known = known.get(out.address.id, out.known)
            out.unknown_since = 0.0 if out.address.id in known else out.unknown_since or now
            if out.unknown_since:
                # Its server was made anew, or restored from before; or it has just begun and does not know yet what it has.
                if (now - out.unknown_since) * 1000 >= self.lease_ms:
                    self._lose(out, "the engine does not know the order any more")
            elif out.known.ended is not None:
                self._end(out, out.known.ended)
            elif out.told != (wanted := (out.asked, out.at_once)):
                self.queue.cancel(out.address, now=out.at_once)
                out.told = wanted

    def _now_and_then(self) -> None:
        now = time.monotonic()
        if now >= self.due["workers"]:
            self.brought.workers, self.due["workers"] = self._present(), now + WORKERS_S
        if self.lost and now >= self.due["late"]:
            with suppress(SantiagoError):
                self._sweep()
            self.due["late"] = now + LATE_S

    def _sweep(self) -> None:
        """Delete what nobody needs from the remote; note what results that came too late say of usage."""
        for step, report in self.courier.sweep(sorted(self.held)).items():
            ending = report.outcome.ending if report.outcome else None
            if ending is not None:
                with self.lock:
                    self.reported[step] = ending.usage
                self.lost.discard(step)

    def _end(self, out: Out, ended: Ended) -> None:
        """Do what an order's end asks for. A result that cannot be fetched is tried again, one that is wrong is not."""
        if ended.fate == "cancelled":
            self._finish(out, without_work(out.step, Reason.INTERRUPTED))
            return
        if ended.fate == "declined" and not ended.commit:  # before it could say why
            message = f"{out.known.claimed_by} declined, and its own output says why"
            self._finish(out, without_work(out.step, Reason.DECLINED, message=message))
            return
        if ended.fate == "lost":
            self._lose(out, f"{out.known.claimed_by or 'its worker'} was not heard of any more")
            return
        try:
            report = self.courier.take(out.step.id, ended)
        except SantiagoError as error:
            if not self._may_retry(out, error):
                self._lose(out, error.message)
            return
        self._take(out, ended, report)

    def _take(self, out: Out, ended: Ended, report: Report) -> None:
        outcome = report.outcome
        ending = outcome.ending if outcome else None
        if ended.fate == "declined" or outcome is None:
            why = report.why or "it did not say why"
            self._finish(out, without_work(out.step, Reason.DECLINED, message=f"{report.worker} declined: {why}"))
        elif ending is None:  # no agent was asked, and that may be different elsewhere
            why = outcome.message or "it could not prepare the attempt"
            reason = Reason.INTERRUPTED if ended.fate == "stopped" else Reason.DECLINED
            self._finish(out, without_work(out.step, reason, message=f"{report.worker}: {why}"))
        elif ending.reason is Reason.AGENT_RATE_LIMITED and self._others(report.worker, out, ending):
            words = f"{report.worker} rests: {ending.message.strip()[-300:]}"
            self._finish(out, without_work(out.step, Reason.DECLINED, ending.usage, words))
        else:
            if isinstance(outcome, ProposalOutcome):
                self.brought.endings[out.step.id] = ending
            elif self.trusts and isinstance(report.judged, Judged):
                self.brought.verdicts[outcome.story, outcome.number] = report.judged
            out.remarks = report.left_behind
            self._finish(out, _Here())

    def _others(self, worker: str, out: Out, ending: AgentEnding) -> bool:
        """Let a worker rest whose agent's service refuses it; tell whether another one may carry the order out."""
        self.resting[worker] = time.monotonic() + (ending.wait_seconds or REST_S)
        self.brought.workers = self._present()  # one may just have come
        return any(one.pool == out.address.pool for one in self._awake_workers())

    def _awake_workers(self) -> list[WorkerSeen]:
        now = time.monotonic()
        return [one for one in self.brought.workers if not one.judges and self.resting.get(one.name, 0) <= now]

    def _present(self) -> tuple[WorkerSeen, ...]:
        """Return the workers that orders of this version reach."""
        return tuple(one for one in self.queue.workers() if one.version == __version__)

    def _lose(self, out: Out, message: str) -> None:
        self.lost.add(out.step.id)
        usage = _said(out.known.beat)
        self._finish(out, without_work(out.step, Reason.WORKER_LOST, usage, message))

    def _may_retry(self, out: Out, error: SantiagoError) -> bool:
        if error.kind is not Kind.TRANSIENT or error.reason is Reason.LOCK_HELD:
            return False
        now = time.monotonic()
        out.failing_since = out.failing_since or now
        return now - out.failing_since < PATIENCE_S

    def _finish(self, out: Out, result: Outcome | BaseException) -> None:
        """Hand a result to the one who waits, unless the order was let go meanwhile."""
        if isinstance(result, AttemptOutcome):
            result = replace(result, worker=out.known.claimed_by)
        with self.lock:
            if self.out.pop(out.step.id, None) is None:
                return
            if isinstance(result, _Here):
                self.here[_judged_as(out.step).id] = out
        self.inner.finished.put((out.step, result))


class _Here(Exception):  # noqa: N818  # no error: it goes the way of results
    """Tells the one who waits that the work of an order is here, and lacks its verdict."""


def _out(order: Order, step: Attempt | Propose) -> Out:
    address = Address(id=f"{order.run_id}/{order.id}", pool=order.pool or POOL)
    return Out(order=order, step=step, address=address)


def _judged_as(step: Attempt | Propose) -> Adopt | Propose:
    """Return the step of this process that ends one of a worker's."""
    return Adopt(story=step.story, number=step.number, tests=step.tests) if isinstance(step, Attempt) else step


def _as_ordered(out: Out, result: Outcome | BaseException) -> Outcome | BaseException:
    """Return the verdict on a worker's attempt as the outcome of the attempt."""
    if isinstance(result, AttemptOutcome):
        notes, worker = (*result.notes, *out.remarks), out.known.claimed_by
        return replace(result, step=out.step.id, notes=notes, worker=worker)
    return result


def _said(beat: Beat | None) -> Usage:
    if beat is None:
        return Usage()
    return Usage(tokens=beat.tokens, cost_usd=None if beat.micro_usd is None else Usd(beat.micro_usd))


def _is_unfinished(result: Outcome | BaseException) -> bool:
    """Tell whether the log does not get the end of a step by this result."""
    if isinstance(result, AttemptOutcome):
        return result.status == "stopped" and result.reason is None
    return isinstance(result, BaseException)
