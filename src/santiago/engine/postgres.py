"""Orders in PostgreSQL, by the functions of absurd. An order is a task with one attempt, and its claim is the task's run.

What absurd leaves to its callers: it notices an expired claim only when somebody claims, so `find` fails them, under the lock
of the row that a late beat would need. Stops and beats are checkpoints. A worker's presence is a task that nobody claims,
with a checkpoint that the worker renews; so it needs no table of ours, and a pooler between does not hide it.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import psycopg
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from santiago.contract.errors import SantiagoError
from santiago.contract.ports.queue import Address, Beat, Claim, Ended, Known, LostError, WorkerSeen
from santiago.engine.place import PRESENT_S, RETRY_S, ended_by_worker, told, utc
from santiago.engine.postgres_server import LOST, Row, check, connect, settled, silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.engine.place import Place

ANSWER_S = 20.0
"""Longest time for the answer to one statement; a connection that is slower counts as lost."""
TOUCH_S = 2.0
REFUSED = frozenset({"AB001", "AB002", "P0001"})
"""absurd's errors for a run that is cancelled, failed, or not running for another reason."""

PUT = "select created from absurd.spawn_task(%(queue)s, 'order', %(params)s, %(options)s)"
SWEEP = """
    select absurd.fail_run(%(queue)s, run_id, '{{"name": "$ClaimTimeout"}}') from (
      select run_id from absurd.{r} where state = 'running' and claim_expires_at <= absurd.current_time()
      for update skip locked) expired"""
FIND = """
    select t.idempotency_key as id, t.state, t.completed_payload as ended, r.run_id, r.claimed_by, c.state as beat
    from absurd.{t} t join absurd.{r} r on r.run_id = t.last_attempt_run
    left join absurd.{c} c on c.task_id = t.task_id and c.checkpoint_name = 'beat'
    where t.idempotency_key = any(%(ids)s)"""
CANCEL = """
    with found as materialized (
      select t.task_id, r.run_id, r.state from absurd.{t} t join absurd.{r} r on r.run_id = t.last_attempt_run
      where t.idempotency_key = %(id)s for update of r)
    select case state when 'pending' then absurd.cancel_task(%(queue)s, task_id)::text
      when 'running' then absurd.set_task_checkpoint_state(%(queue)s, task_id, %(wish)s, 'null', run_id)::text end
    from found"""
CLAIM = """
    select task_id, run_id, params, absurd.extend_claim(%(queue)s, run_id, (params->>'lease_s')::int)
    from absurd.claim_task(%(queue)s, %(worker)s, 60, 1)"""
BEAT = """
    select absurd.extend_claim(%(queue)s, %(run)s, %(lease_s)s),
      absurd.set_task_checkpoint_state(%(queue)s, %(task)s, 'beat', %(beat)s, %(run)s),
      (select max(checkpoint_name) from absurd.{c} where task_id = %(task)s and checkpoint_name like 'stop%%') as stop"""
END = "select absurd.complete_run(%(queue)s, %(run)s, %(ended)s)"
ENDED = "select result from absurd.get_task_result(%(queue)s, %(task)s)"
COME = "select task_id, run_id from absurd.spawn_task(%(queue)s, 'worker', %(worker)s, %(options)s)"
TOUCH = """
    select absurd.set_task_checkpoint_state(%(queue)s, %(task_id)s, 'beat', 'null', %(run_id)s),
      exists (select from absurd.{c} where task_id = %(task_id)s and checkpoint_name = 'drain') as drain"""
GO = "select absurd.cancel_task(%(queue)s, %(task_id)s)"
WORKERS = """
    select t.params, c.updated_at from absurd.{t} t join absurd.{c} c on c.task_id = t.task_id and c.checkpoint_name = 'beat'
    where t.state = 'pending' and c.updated_at > absurd.current_time() - make_interval(secs => %(present_s)s)
    order by t.task_id"""
DRAIN = """
    select absurd.set_task_checkpoint_state(%(queue)s, task_id, 'drain', 'null', last_attempt_run)
    from absurd.{t} where state = 'pending' and params->>'name' = %(name)s"""
FORGET = """
    select absurd.cancel_task(%(queue)s, t.task_id) from absurd.{t} t
    join absurd.{c} c on c.task_id = t.task_id and c.checkpoint_name = 'beat'
    where t.state = 'pending' and c.updated_at < absurd.current_time() - interval '1 day'"""
CLEAN = "select absurd.cleanup_all_queues(%(queue)s)"


class Database:
    """One connection, made anew when it was lost. For any thread."""

    def __init__(self, settings: str, patience_s: float) -> None:
        self.settings, self.patience_s = settings, patience_s
        self.lock, self.closing = threading.Lock(), threading.Event()
        self.answered = time.monotonic()
        self.connection: psycopg.Connection[Row] | None = None
        self.made: dict[str, None] = {}

    def once(self, queue: str, statement: str, *, within_s: float = ANSWER_S, **values: Any) -> list[Row]:
        """Carry out one statement as a transaction of its own; raise if the answer is not there in time."""
        until = time.monotonic() + within_s
        if not self.lock.acquire(timeout=within_s):
            raise psycopg.OperationalError("the connection is busy")
        try:
            if self.connection is None or self.connection.closed:
                self.connection = connect(self.settings)
            tables = {kind: Identifier(f"{kind}_{queue}") for kind in "trc"}
            with _until(self.connection, until):
                cursor = self.connection.execute(SQL(statement).format(**tables), {"queue": queue, **values})
                rows = cursor.fetchall()
            self.answered = time.monotonic()
            return rows
        finally:
            self.lock.release()

    def run(self, queue: str, statement: str, *, until: float = 0, **values: Any) -> list[Row]:
        """Carry out one statement, again and again while the server cannot be reached."""
        until = until or time.monotonic() + self.patience_s
        while True:
            try:
                return self.once(queue, statement, within_s=min(ANSWER_S, until - time.monotonic()), **values)
            except LOST as error:
                if time.monotonic() + RETRY_S > until or self.closing.wait(RETRY_S):
                    raise silent(error) from error

    def ready(self, queue: str) -> str:
        """Return the name of a queue, which is created if it is not there yet."""
        if queue not in self.made:
            self.run(queue, "select absurd.create_queue(%(queue)s)")
            self.made[queue] = None
        return queue

    @property
    def is_silent(self) -> bool:
        """Whether something waits for an answer for longer than any usually takes."""
        return self.lock.locked() and time.monotonic() - self.answered > TOUCH_S

    def close(self) -> None:
        """Close the connection. Calls of other threads that wait for an answer end with it."""
        self.closing.set()
        if self.is_silent and self.connection is not None:
            with socket.socket(fileno=os.dup(self.connection.fileno())) as duplicate:
                _cut(duplicate)
        with self.lock:
            if self.connection is not None:
                self.connection.close()


@contextmanager
def _until(connection: psycopg.Connection[Row], until: float) -> Iterator[None]:
    """Cut a connection off that does not answer in time; otherwise it would hang for as long as TCP is patient."""
    with socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        timer = threading.Timer(max(0.05, until - time.monotonic()), _cut, [duplicate])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):  # it has just answered
        connection.shutdown(socket.SHUT_RDWR)


class PostgresQueue:
    """The coordinator's end."""

    def __init__(self, url: str, place: Place, *, insecure: bool, patience_s: float) -> None:
        settings = settled(url, insecure=insecure)
        check(settings)
        self.place, self.database = place, Database(settings, patience_s)
        self.presence = self.database.ready(place.workers)

    def _queue(self, address: Address) -> str:
        return self.database.ready(self.place.orders(address.pool, judges=address.judges))

    def put(self, address: Address, commit: str, lease_ms: int) -> None:
        params = {"id": address.id, "commit": commit, "lease_s": max(1, math.ceil(lease_ms / 1000))}
        options = {"max_attempts": 1, "idempotency_key": address.id}
        self.database.run(self._queue(address), PUT, params=Jsonb(params), options=Jsonb(options))

    def find(self, addresses: Sequence[Address]) -> dict[str, Known]:
        asked: dict[str, list[str]] = {}
        for address in addresses:
            asked.setdefault(self._queue(address), []).append(address.id)
        rows: list[Row] = []
        for queue, ids in asked.items():
            self.database.run(queue, SWEEP)
            rows += self.database.run(queue, FIND, ids=ids)
        return {row["id"]: _known(row) for row in rows}

    def cancel(self, address: Address, *, now: bool) -> None:
        self.database.run(self._queue(address), CANCEL, id=address.id, wish="stop now" if now else "stop")

    def workers(self) -> list[WorkerSeen]:
        rows = self.database.run(self.presence, WORKERS, present_s=PRESENT_S)
        seen = [told(WorkerSeen, {**row["params"], "beat_at": utc(row["updated_at"])}) for row in rows]
        return [worker for worker in seen if worker is not None]

    def drain(self, worker: str) -> None:
        self.database.run(self.presence, DRAIN, name=worker)

    def serve(self, worker: WorkerSeen) -> PostgresServing:
        return PostgresServing(self.place, Database(self.database.settings, self.database.patience_s), worker)

    def close(self) -> None:
        """Close, after removing what is older than its queue's time of retention."""
        with suppress(psycopg.Error):
            if not self.database.is_silent:
                self.database.once(self.presence, FORGET)
                for queue in self.database.made:
                    self.database.once(queue, CLEAN)
        self.database.close()


def _known(row: Row) -> Known:
    ended = None
    if row["state"] == "cancelled":
        ended = Ended(fate="cancelled")
    elif row["state"] in {"completed", "failed"}:  # a failed one has written nothing
        ended = ended_by_worker(row["ended"], str(row["run_id"]))
    return Known(claimed_by=row["claimed_by"] or "", beat=told(Beat, row["beat"]), ended=ended)


class PostgresServing:
    """A worker's end. A thread tells that the worker is there, and hears whether it is to drain."""

    def __init__(self, place: Place, database: Database, worker: WorkerSeen) -> None:
        self.database, self.worker, self.presence = database, worker, database.ready(place.workers)
        self.queue = database.ready(place.orders(worker.pool, judges=worker.judges))
        self.tasks: dict[str, str] = {}
        self.draining = False
        self.closing = threading.Event()
        self.here = self._come()
        self.toucher = threading.Thread(target=self._touch, name="presence", daemon=True)
        self.toucher.start()

    def _come(self) -> Row:
        options = {"max_attempts": 1, "idempotency_key": uuid.uuid4().hex}
        rows = self.database.run(self.presence, COME, worker=Jsonb(asdict(self.worker)), options=Jsonb(options))
        self.database.run(self.presence, TOUCH, **rows[0])
        return rows[0]

    def _touch(self) -> None:
        while not self.closing.wait(TOUCH_S):
            with suppress(*LOST, SantiagoError):
                try:
                    self.draining |= self.database.once(self.presence, TOUCH, within_s=TOUCH_S, **self.here)[0]["drain"]
                except psycopg.Error as error:
                    if error.sqlstate not in REFUSED:
                        raise
                    self.here = self._come()  # the server was restored from before, or this machine slept for days

    def claim(self, timeout_ms: int) -> Claim | None:
        until = time.monotonic() + timeout_ms / 1000
        while not self.draining:
            try:
                for row in self.database.once(self.queue, CLAIM, worker=self.worker.name):
                    return self._claimed(row)
            except LOST as error:  # a server may be away for as long as patience lasts, counted from its last answer
                if time.monotonic() > self.database.answered + self.database.patience_s:
                    raise silent(error) from error
            if time.monotonic() >= until or self.closing.wait(RETRY_S):
                break
        return None

    def _claimed(self, row: Row) -> Claim:
        token, params = str(row["run_id"]), row["params"]
        self.tasks[token] = row["task_id"]
        address = Address(id=params["id"], pool=self.worker.pool, judges=self.worker.judges)
        return Claim(address=address, commit=params["commit"], token=token, lease_ms=params["lease_s"] * 1000)

    def beat(self, claim: Claim, beat: Beat, timeout_ms: int) -> Literal["go on", "stop", "stop now"]:
        values = {"run": claim.token, "task": self.tasks[claim.token], "lease_s": claim.lease_ms // 1000}
        until = time.monotonic() + timeout_ms / 1000
        try:
            rows = self.database.run(self.queue, BEAT, until=until, beat=Jsonb(asdict(beat)), **values)
        except psycopg.Error as error:
            if error.sqlstate in REFUSED:
                raise LostError(claim.address.id) from error
            raise
        wish: Literal["stop", "stop now"] | None = rows[0]["stop"]
        return wish or "go on"

    def end(self, claim: Claim, ended: Ended) -> bool:
        said = asdict(ended)
        try:
            self.database.run(self.queue, END, run=claim.token, ended=Jsonb(said))
        except psycopg.Error as error:
            if error.sqlstate not in REFUSED:
                raise
            # It may have been ended by an earlier try of this call, whose answer was lost.
            rows = self.database.run(self.queue, ENDED, task=self.tasks[claim.token])
            return bool(rows) and rows[0]["result"] == said
        return True

    def close(self) -> None:
        self.closing.set()
        self.toucher.join()
        with suppress(psycopg.Error):
            self.database.once(self.presence, GO, within_s=TOUCH_S, task_id=self.here["task_id"])
        self.database.close()
