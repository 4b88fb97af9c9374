"""Processes at a queue, each of which does what it is told, one call after the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import TYPE_CHECKING, Any

from santiago.contract.ports.queue import Address, Beat, Claim, Ended, LostError, WorkerSeen

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from santiago.contract.ports.queue import Activity, Known

SECONDS = 60
COMMIT = "0123456789abcdef0123456789abcdef01234567"
RESULT = "89abcdef0123456789abcdef0123456789abcdef"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["santiago.engine.postgres", "santiago.engine.temporal"])


def seen(name: str, pool: str = "default", *, judges: bool = False) -> WorkerSeen:
    since = "2026-11-18T12:00:00.000Z"
    return WorkerSeen(name=name, pool=pool, version="0.1.0", jobs=2, judges=judges, since=since, beat_at="")


def address(number: int, pool: str = "default", *, judges: bool = False) -> Address:
    return Address(id=f"r_20261118_120000/attempt/S{number}/1", pool=pool, judges=judges)


def beat(doing: Activity = "agent", tokens: int | None = None) -> Beat:
    return Beat(worker="worker", doing=doing, tokens=tokens)


def done(claim: Claim) -> Ended:
    return Ended(fate="done", commit=RESULT, token=claim.token)


class Client:
    """A process that holds one object, and calls its methods."""

    def __init__(self, url: str, repository: str, worker: WorkerSeen | None = None) -> None:
        self.pipe, its = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=_serve, args=(its, url, repository, worker), daemon=True)
        self.process.start()
        its.close()

    def begin(self, method: str, *given: Any, **named: Any) -> None:
        self.pipe.send((method, given, named))

    def answer(self, within_s: float = SECONDS) -> Any:
        """Return the answer to the call that was begun first, or raise what it raised."""
        assert self.pipe.poll(within_s), "no answer"
        returned, raised = self.pipe.recv()
        if raised is not None:
            raise raised
        return returned

    def call(self, method: str, *given: Any, **named: Any) -> Any:
        self.begin(method, *given, **named)
        return self.answer()

    def claim(self) -> Claim:
        """Claim what must be there, or must come."""
        claim = self.call("claim", SECONDS * 1000)
        assert isinstance(claim, Claim)
        return claim

    def signal(self, number: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, url: str, repository: str, worker: WorkerSeen | None) -> None:
    from santiago.engine.connect import open_queue

    queue = open_queue(url, repository)
    served: Any = queue if worker is None else queue.serve(worker)
    while True:
        method, given, named = pipe.recv()
        if method == "leave":
            served.close()
            pipe.send((None, None))
            return
        try:
            made = getattr(served, method)
            pipe.send((made(*given, **named) if callable(made) else made, None))
        except LostError as error:
            pipe.send((None, error))
        except Exception as error:  # not every one can be sent
            pipe.send((None, RuntimeError(repr(error))))


def ended(known: dict[str, Known], address: Address) -> bool:
    return address.id in known and known[address.id].ended is not None
