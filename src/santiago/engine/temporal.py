"""Orders in Temporal. An order is a workflow with one activity and one try; the claim is the activity's task.

The coordinator hosts the workflow, since it is what notices an end: it learns of a lost worker also where no other is alive.
While it is dead nothing is lost: beats and ends are answered by the server, which keeps them until a coordinator is back.
A worker polls for one activity at a time by the plain call, because Temporal's own worker would take more than it can do.
Workers are seen as those that poll a queue on which nothing is ever put; one is asked to drain by a workflow of that name.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from temporalio import workflow
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
)
from temporalio.client import (
    AsyncActivityCancelledError,
    AsyncActivityHandle,
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from santiago.contract.lazy_regex import pattern
from santiago.contract.ports.queue import Address, Beat, Claim, Ended, Known, LostError, WorkerSeen
from santiago.engine.place import PRESENT_S, RETRY_S, ended_by_worker, told, utc
from santiago.engine.temporal_server import Background, retention, settled, silent

if TYPE_CHECKING:
    from santiago.engine.place import Place

T = TypeVar("T")

LOOKS_PER_S = 10
"""How often orders under way are looked at for who claimed them and what they do. Their end is told without looking."""
POLL = timedelta(seconds=70)
PRESENCE = timedelta(seconds=6)
LONGEST = timedelta(days=365)
GONE = RPCStatusCode.NOT_FOUND
FATAL = {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.INVALID_ARGUMENT}
TOKEN = pattern(r"[0-9a-f]{32}\Z")


@workflow.defn(name="santiago-order")
class OrderWorkflow:
    """Has one worker carry out one order. How it ended stands in the history, where no cancellation can hide it."""

    @workflow.run
    async def run(self, queue: str, commit: str, lease_ms: int) -> None:
        await workflow.execute_activity(
            "santiago-order", commit, task_queue=queue,
            heartbeat_timeout=timedelta(milliseconds=lease_ms), start_to_close_timeout=LONGEST,
            retry_policy=RetryPolicy(maximum_attempts=1),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )  # fmt: skip

    @workflow.signal(name="now")
    def now(self) -> None:
        """Stand in the history, where the worker reads it when it hears of the cancellation."""


class TemporalQueue:
    """The coordinator's end."""

    def __init__(self, url: str, place: Place, *, insecure: bool, patience_s: float) -> None:
        self.settings = settled(url, insecure=insecure)
        self.place, self.patience_s, self.background = place, patience_s, Background()
        try:
            self.client = self.background.ask(Client.connect(**self.settings))
            self.background.ask(retention(self.client))
        except BaseException:
            self.background.close()
            raise
        self.known: dict[str, Known] = {}
        self.heard: dict[str, tuple[datetime, float]] = {}
        """Worker → when it was last there by the server's clock, and since when by ours. The two clocks may differ."""
        self.looked_at, self.looks = 0.0, 0
        self.worker: Worker | None = None
        self.hosting: Future[None] | None = None

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what the server says, also if it must be asked again and again because it is away."""
        until = time.monotonic() + self.patience_s
        while True:
            if not self.background.loop.is_running():
                raise silent(ConnectionError("the connection is closed"))
            try:
                return self.background.call(work())
            except (RPCError, TimeoutError) as error:
                if getattr(error, "status", None) in FATAL or time.monotonic() > until:
                    raise silent(error) from error
                time.sleep(RETRY_S)

    def _host(self) -> None:
        if self.hosting is None:
            self.hosting = self.background.start(self._hosting())

    async def _hosting(self) -> None:
        """Host the workflow, also after a server that was away when the host began: the library tries that once for a connection.

        The host has no cache: after a death the next one gets every order at once.
        """
        queue, runner = self.place.orders("workflows"), UnsandboxedWorkflowRunner()
        while True:
            with suppress(RuntimeError, RPCError):
                client = await Client.connect(**self.settings)
                self.worker = Worker(
                    client, task_queue=queue, workflows=[OrderWorkflow], workflow_runner=runner, max_cached_workflows=0
                )
                return await self.worker.run()
            await asyncio.sleep(RETRY_S)

    def handle(self, name: str) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(f"{self.place.repository}/{name}")

    def put(self, address: Address, commit: str, lease_ms: int) -> None:
        self._host()
        to = self.place.orders(address.pool, judges=address.judges)
        name, queue = f"{self.place.repository}/{address.id}", self.place.orders("workflows")
        given = [to, commit, lease_ms]
        never = WorkflowIDReusePolicy.REJECT_DUPLICATE
        with suppress(WorkflowAlreadyStartedError):
            self.call(
                lambda: self.client.start_workflow(
                    "santiago-order", args=given, id=name, task_queue=queue, id_reuse_policy=never
                )
            )
        if address.id not in self.known:
            self.known[address.id] = Known()
            self.background.start(self._follow(address.id))

    def find(self, addresses: Sequence[Address]) -> dict[str, Known]:
        self._host()
        orders = [address.id for address in addresses]
        self.call(lambda: self._look(orders))
        return {order: self.known[order] for order in orders if order in self.known}

    async def _look(self, orders: Sequence[str]) -> None:
        """Look at orders of an earlier coordinator, and in turn at those that are open. What that costs is bounded."""
        for order in (one for one in orders if one not in self.known):
            with suppress_gone():
                seen, open_ = await self._look_at(order)
                if open_:
                    self.known[order] = seen
                    self.background.start(self._follow(order))
                else:
                    await self._take_end(order)
        waiting = [one for one in orders if one in self.known and not self.known[one].ended]
        if waiting and time.monotonic() > self.looked_at + 1 / LOOKS_PER_S:
            self.looked_at, self.looks = time.monotonic(), self.looks + 1
            try:
                self.known[order], _ = await self._look_at(order := waiting[self.looks % len(waiting)])
            except RPCError as error:
                if error.status != GONE:
                    raise
                self.known.pop(order, None)  # the server was made anew, or restored from before

    async def _look_at(self, order: str) -> tuple[Known, bool]:
        """Return who claimed an order and what it says, and whether it has not ended."""
        found = await self.handle(order).describe()
        known = self.known.get(order, Known())
        for activity in found.raw_description.pending_activities:
            if activity.HasField("last_started_time") and not known.ended:
                beat = told(Beat, self.read(activity.heartbeat_details))
                known = replace(known, claimed_by=activity.last_worker_identity, beat=beat)
        return known, found.status == WorkflowExecutionStatus.RUNNING

    async def _follow(self, order: str) -> None:
        """Wait for an order's end, which the server tells at once."""
        while order in self.known and not self.known[order].ended:
            try:
                await self._take_end(order)
            except RPCError as error:
                if error.status == GONE:
                    self.known.pop(order, None)
                await asyncio.sleep(RETRY_S)

    async def _take_end(self, order: str) -> None:
        with suppress(WorkflowFailureError):
            await self.handle(order).result()
        self.known[order] = await self.ending(order)

    async def ending(self, order: str) -> Known:
        """Return what the history of an order says of its end. One that an administrator ended is lost."""
        known = self.known.get(order, Known())
        ended, claimed_by, beat = Ended(fate="lost"), known.claimed_by, known.beat
        async for event in self.handle(order).fetch_history_events():
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
                claimed_by = event.activity_task_started_event_attributes.identity
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
                failure = event.activity_task_timed_out_event_attributes.failure
                beat = told(Beat, self.read(failure.timeout_failure_info.last_heartbeat_details)) or beat
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                said = self.read(event.activity_task_completed_event_attributes.result)
                token = str(said.get("token")) if isinstance(said, dict) else ""
                ended = ended_by_worker(said, token if TOKEN.match(token) else "")
            elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED and not claimed_by:
                ended = Ended(fate="cancelled")
        return Known(claimed_by=claimed_by, beat=beat, ended=ended)

    def read(self, payloads: Payloads) -> Any:
        """Return what a worker wrote; None if it wrote nothing that can be read."""
        try:
            return self.client.data_converter.payload_converter.from_payloads_wrapper(payloads)[0]
        except (IndexError, RuntimeError):
            return None

    def cancel(self, address: Address, *, now: bool) -> None:
        async def ask() -> None:
            handle = self.handle(address.id)
            with suppress_gone():
                if now:
                    await handle.signal("now")
                await handle.cancel()

        self._host()
        self.call(ask)

    def workers(self) -> list[WorkerSeen]:
        asked = DescribeTaskQueueRequest(
            namespace=self.client.namespace,
            task_queue=TaskQueue(name=self.place.workers),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        )
        found = self.call(lambda: self.client.workflow_service.describe_task_queue(asked))
        seen, now = [], time.monotonic()
        for poller in found.pollers:
            at = poller.last_access_time.ToDatetime(UTC)
            before, since = self.heard.get(poller.identity, (at, now - max(0.0, time.time() - at.timestamp())))
            self.heard[poller.identity] = at, since if at == before else now
            if now - self.heard[poller.identity][1] < PRESENT_S:
                seen.append(_worker(poller.identity, utc(at)))
        return sorted((worker for worker in seen if worker), key=lambda worker: worker.name)

    def drain(self, worker: str) -> None:
        name = f"{self.place.repository}/drain/{worker}"
        with suppress(WorkflowAlreadyStartedError):
            self.call(
                lambda: self.client.start_workflow(
                    "santiago-drain", id=name, task_queue=self.place.workers, execution_timeout=timedelta(days=1)
                )
            )

    def serve(self, worker: WorkerSeen) -> TemporalServing:
        return TemporalServing(self, worker)

    def close(self) -> None:
        if self.worker is not None:
            with suppress(TimeoutError):
                self.background.call(self.worker.shutdown())
        self.background.close()


def _worker(identity: str, beat_at: str) -> WorkerSeen | None:
    try:
        return told(WorkerSeen, {**json.loads(identity), "beat_at": beat_at})
    except (ValueError, TypeError):
        return None


@contextmanager
def suppress_gone() -> Iterator[None]:
    """Let pass that something is not there, or has ended."""
    try:
        yield
    except RPCError as error:
        if error.status != GONE:
            raise


class TemporalServing:
    """A worker's end."""

    def __init__(self, queue: TemporalQueue, worker: WorkerSeen) -> None:
        self.queue, self.worker, self.client = queue, worker, queue.client
        self.claims: dict[str, tuple[str, AsyncActivityHandle]] = {}
        self.draining = False
        self.answered = time.monotonic()
        self.polling: Future[PollActivityTaskQueueResponse] | None = None
        self.drain = queue.handle(f"drain/{worker.name}")
        queue.call(self._come)
        self.presence = queue.background.start(self._present())

    async def _come(self) -> None:
        """Begin anew: who asked an earlier worker of this name to drain did not mean this one."""
        with suppress_gone():
            await self.drain.terminate()

    async def _present(self) -> None:
        identity = json.dumps({**asdict(self.worker), "beat_at": ""})
        while True:
            try:
                await self._ask(self.queue.place.workers, identity, PRESENCE)
                with suppress_gone():
                    status = (await self.drain.describe()).status
                    self.draining |= status == WorkflowExecutionStatus.RUNNING
            except RPCError:
                await asyncio.sleep(RETRY_S)
            if self.draining and self.polling is not None:
                self.polling.cancel()

    async def _ask(self, queue: str, identity: str, within: timedelta) -> PollActivityTaskQueueResponse:
        asked = PollActivityTaskQueueRequest(
            namespace=self.client.namespace, task_queue=TaskQueue(name=queue), identity=identity
        )
        return await self.client.workflow_service.poll_activity_task_queue(asked, timeout=within)

    async def _poll(self) -> PollActivityTaskQueueResponse:
        queue = self.queue.place.orders(self.worker.pool, judges=self.worker.judges)
        while True:
            try:
                found = await self._ask(queue, self.worker.name, POLL)
            except RPCError as error:
                if error.status in FATAL or time.monotonic() > self.answered + self.queue.patience_s:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                self.answered = time.monotonic()
                if found.task_token:
                    return found

    def claim(self, timeout_ms: int) -> Claim | None:
        """Go on with the poll of an earlier call: one that is broken off may have been given an order already."""
        if self.polling is None:
            if self.draining:
                return None
            self.answered = time.monotonic()
            self.polling = self.queue.background.start(self._poll())
        try:
            found = self.polling.result(timeout_ms / 1000)
        except TimeoutError:
            return None
        except (RPCError, Dropped) as error:
            self.polling = None
            if isinstance(error, RPCError):
                raise silent(error) from error
            return None
        self.polling = None
        return self._claimed(found)

    def _claimed(self, found: PollActivityTaskQueueResponse) -> Claim:
        token = hashlib.sha256(found.task_token).hexdigest()[:32]
        order = found.workflow_execution.workflow_id.removeprefix(f"{self.queue.place.repository}/")
        self.claims[token] = (order, self.client.get_async_activity_handle(task_token=found.task_token))
        commit = str(self.queue.read(found.input))
        address = Address(id=order, pool=self.worker.pool, judges=self.worker.judges)
        lease_ms = found.heartbeat_timeout.ToMilliseconds()
        return Claim(address=address, commit=commit, token=token, lease_ms=lease_ms)

    def beat(self, claim: Claim, beat: Beat, timeout_ms: int) -> Literal["go on", "stop", "stop now"]:
        return self.queue.background.call(self._beat(claim, beat), timeout_ms / 1000)

    async def _beat(self, claim: Claim, beat: Beat) -> Literal["go on", "stop", "stop now"]:
        order, handle = self.claims[claim.token]
        try:
            await handle.heartbeat(asdict(beat))
        except AsyncActivityCancelledError:
            signalled = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
            events = self.queue.handle(order).fetch_history_events()
            return "stop now" if any([event.event_type == signalled async for event in events]) else "stop"
        except RPCError as error:
            if error.status == GONE:
                raise LostError(order) from error
            raise
        return "go on"

    def end(self, claim: Claim, ended: Ended) -> bool:
        return self.queue.call(lambda: self._end(claim, ended))

    async def _end(self, claim: Claim, ended: Ended) -> bool:
        order, handle = self.claims[claim.token]
        try:
            await handle.complete(asdict(ended))
        except RPCError as error:
            if error.status != GONE:
                raise
            found = None  # an earlier try may have ended it, and its answer may be lost
            with suppress_gone():
                found = (await self.queue.ending(order)).ended
            return found == ended
        return True

    def close(self) -> None:
        self.presence.cancel()
        if self.polling is not None and not self.polling.cancel():
            with suppress(RPCError):
                claim = self._claimed(self.polling.result())
                self.end(claim, Ended(fate="declined", token=claim.token))
