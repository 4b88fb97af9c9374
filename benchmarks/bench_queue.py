"""Empty orders through each engine, with nothing but the queue: a coordinator, and two workers in processes."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from proofs.figures import Figure
from tests.engine.clients import COMMIT, PROCESSES, RESULT, address, seen
from tests.engine.servers import Engine, missing_postgres, missing_temporal, postgres, temporal

from santiago.contract.ports.queue import Ended
from santiago.engine.connect import open_queue

if TYPE_CHECKING:
    from proofs.figures import Measured
    from tests.engine.servers import Server

    from santiago.contract.ports.queue import Address, Queue

ROOT = "0123456789abcdef"
WORKERS = 2
OUT = 8
"""Orders that are out at once: what two workers do, and some that wait."""
LEASE_MS = 60_000


def run() -> list[Measured]:
    figures: list[Measured] = []
    for name, missing, orders, least in (
        ("postgres", missing_postgres(), 1500, 60),
        ("temporal", missing_temporal(), 300, 5),
    ):
        if missing:
            print(f"  {name}: {missing}")
            continue
        with TemporaryDirectory(prefix="santiago-") as folder:
            server, scheme, space = _server(name, Path(folder))
            try:
                engine = Engine(server, f"{scheme}://{space[0]}127.0.0.1:{server.port}/{space[1]}")
                engine.start()
                rates = sorted(_rate(engine.url, f"{turn}{ROOT}", orders) for turn in range(3))
            finally:
                server.kill()
        figure = f"{rates[1]:.0f}/s ({rates[0]:.0f} to {rates[-1]:.0f})"
        figures.append(
            Figure(row=f"queue-{name}", figure=figure, target=f"at least {least}/s", missed=rates[1] < least)
        )
    return figures


def _server(name: str, folder: Path) -> tuple[Server, str, tuple[str, str]]:
    if name == "postgres":
        return postgres(folder, durable=True), "postgresql", ("santiago@", "postgres")
    return temporal(folder), "temporal", ("", "santiago")


def _rate(url: str, repository: str, orders: int) -> float:
    """Return the orders per second, once both workers have done some."""
    workers = [PROCESSES.Process(target=_work, args=(url, repository, f"worker-{number}"), daemon=True) for number in range(WORKERS)]  # fmt: skip
    for worker in workers:
        worker.start()
    queue = open_queue(url, repository)
    while len(queue.workers()) < WORKERS:
        time.sleep(0.05)
    _through(queue, range(50))
    began = time.monotonic()
    _through(queue, range(50, 50 + orders))
    spent = time.monotonic() - began
    for worker in workers:
        worker.kill()
        worker.join()
    queue.close()
    print(f"  {url.partition(':')[0]}: {orders} orders in {spent:.1f} s, {orders / spent:.0f} per second")
    return orders / spent


def _through(queue: Queue, numbers: range) -> None:
    """Have all of these carried out, few at a time."""
    waiting: list[int] = list(numbers)
    out: list[Address] = []
    while waiting or out:
        while waiting and len(out) < OUT:
            out.append(address(waiting.pop()))
            queue.put(out[-1], COMMIT, LEASE_MS)
        known = queue.find(out)
        out = [order for order in out if known[order.id].ended is None]
        time.sleep(0.002)


def _work(url: str, repository: str, name: str) -> None:
    worker = open_queue(url, repository).serve(seen(name))
    while True:
        claim = worker.claim(10_000)
        if claim is not None:
            worker.end(claim, Ended(fate="done", commit=RESULT, token=claim.token))
