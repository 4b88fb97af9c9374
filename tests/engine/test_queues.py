"""What every queue does, with real servers and with workers in processes of their own."""

from __future__ import annotations

import re
import secrets
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from santiago import __version__
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.queue import Ended, Known, LostError
from santiago.engine.connect import open_queue
from santiago.engine.place import Place
from tests.engine.clients import COMMIT, RESULT, Client, address, beat, done, ended, seen
from tests.engine.contents import contents, forgets
from tests.engine.servers import Engine, awaited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from santiago.contract.ports.queue import Address, Claim, Queue

pytestmark = pytest.mark.xdist_group("queues")

PAGE = (Path(__file__).parents[2] / "docs" / "machines.md").read_text(encoding="utf-8")
LEASE_MS = 1000
LONG_MS = 600_000
ANSWER_MS = 20_000
"""How long an answer is waited for that must come."""


@pytest.fixture
def repository() -> str:
    """A repository of its own for every test, so that they can share a server."""
    return secrets.token_hex(20)


@pytest.fixture
def queue(engine: Engine, repository: str) -> Iterator[Queue]:
    opened = open_queue(engine.url, repository)
    yield opened
    opened.close()


@pytest.fixture
def client(engine: Engine, repository: str) -> Iterator[Callable[..., Client]]:
    made: list[Client] = []

    def make(name: str = "", pool: str = "default", *, judges: bool = False) -> Client:
        made.append(Client(engine.url, repository, seen(name, pool, judges=judges) if name else None))
        return made[-1]

    yield make
    for one in made:
        one.kill()


def known_when(queue: Queue, asked: Address, fits: Callable[[Known], object]) -> Known:
    awaited(lambda: fits(queue.find([asked])[asked.id]), "it never becomes known")
    return queue.find([asked])[asked.id]


def end_of(queue: Queue, asked: Address) -> Ended:
    end = known_when(queue, asked, lambda known: known.ended).ended
    assert end is not None
    return end


def test_an_order_that_is_put_twice_is_carried_out_once(queue: Queue, client: Callable[..., Client]) -> None:
    for commit in (COMMIT, COMMIT, RESULT):
        queue.put(address(1), commit, LONG_MS)
    worker = client("worker")
    claim = worker.claim()
    assert (claim.address, claim.commit, claim.lease_ms) == (address(1), COMMIT, LONG_MS)
    assert worker.call("end", claim, done(claim))
    queue.put(address(1), COMMIT, LONG_MS)
    assert worker.call("claim", 500) is None
    assert end_of(queue, address(1)) == Ended(fate="done", commit=RESULT, token=claim.token)


def test_of_eight_workers_one_claims_each_order(queue: Queue, client: Callable[..., Client]) -> None:
    orders = [address(number) for number in range(24)]
    for order in orders:
        queue.put(order, COMMIT, LONG_MS)
    workers = [client(f"worker-{number}") for number in range(8)]

    claims: list[Claim] = []

    def are_claimed() -> bool:
        for worker in workers:
            worker.begin("claim", 1500)
        found = [(worker, worker.answer()) for worker in workers]
        for worker, claim in found:
            assert claim is None or worker.call("end", claim, done(claim))
        claims.extend(claim for _, claim in found if claim)
        return len(claims) >= len(orders)

    awaited(are_claimed, "an order is never claimed")
    are_claimed()
    assert sorted(claim.address.id for claim in claims) == sorted(order.id for order in orders)
    assert len({claim.token for claim in claims}) == len(orders)
    for order in orders:
        assert end_of(queue, order).fate == "done"


def test_a_worker_gets_orders_of_its_pool_and_kind_alone(queue: Queue, client: Callable[..., Client]) -> None:
    orders = {("gpu", False): address(1, "gpu"), ("gpu", True): address(2, "gpu", judges=True)}
    for order in [address(3), *orders.values()]:
        queue.put(order, COMMIT, LONG_MS)
    for (pool, judges), order in orders.items():
        worker = client(f"worker-{judges}", pool, judges=judges)
        assert worker.claim().address == order
        assert worker.call("claim", 300) is None


def test_what_a_worker_does_is_known_while_it_works(queue: Queue, client: Callable[..., Client]) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    assert queue.find([address(1), address(2)]) == {address(1).id: Known()}
    worker = client("worker")
    claim = worker.claim()
    assert known_when(queue, address(1), lambda known: known.claimed_by).claimed_by == "worker"
    assert worker.call("beat", claim, beat("checks", 70_000), ANSWER_MS) == "go on"
    assert known_when(queue, address(1), lambda known: known.beat).beat == beat("checks", 70_000)
    assert worker.call("end", claim, Ended(fate="stopped", commit=RESULT, token=claim.token))
    assert end_of(queue, address(1)).fate == "stopped"
    assert queue.find([address(1)])[address(1).id].beat == beat("checks", 70_000)


def held(queue: Queue, worker: Client, for_leases: float) -> Claim:
    """Return a claim that was held for so many leases by beats. A machine that stands still for one gets a longer one."""
    for number, lease_ms in enumerate((2000, 8000, 32_000)):
        queue.put(address(number), COMMIT, lease_ms)
        claim, until = worker.claim(), time.monotonic() + for_leases * lease_ms / 1000
        with suppress(LostError):
            while worker.call("beat", claim, beat("agent", 5), ANSWER_MS) == "go on":
                if time.monotonic() >= until:
                    return claim
    raise AssertionError("beats do not prolong a lease")


def test_a_beat_prolongs_the_lease(queue: Queue, client: Callable[..., Client]) -> None:
    worker = client("worker")
    claim = held(queue, worker, 1.3)
    assert worker.call("end", claim, done(claim))


def test_a_wish_to_stop_is_heard_at_the_next_beat_and_the_worker_ends_the_order(
    queue: Queue, client: Callable[..., Client]
) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    worker = client("worker")
    claim = worker.claim()
    queue.cancel(address(1), now=False)
    queue.cancel(address(1), now=False)
    awaited(lambda: worker.call("beat", claim, beat(), ANSWER_MS) == "stop", "it does not hear")
    queue.cancel(address(1), now=True)
    awaited(lambda: worker.call("beat", claim, beat(), ANSWER_MS) == "stop now", "it does not hear")
    queue.cancel(address(1), now=False)
    assert worker.call("beat", claim, beat(), ANSWER_MS) == "stop now"
    assert not ended(queue.find([address(1)]), address(1))
    assert worker.call("end", claim, Ended(fate="stopped", commit=RESULT, token=claim.token))
    assert end_of(queue, address(1)) == Ended(fate="stopped", commit=RESULT, token=claim.token)
    queue.cancel(address(1), now=True)
    assert end_of(queue, address(1)).fate == "stopped"


def test_an_order_that_nobody_claimed_is_cancelled_at_once(queue: Queue, client: Callable[..., Client]) -> None:
    for number in (1, 2):
        queue.put(address(number), COMMIT, LONG_MS)
    queue.cancel(address(1), now=False)
    queue.cancel(address(7), now=True)
    assert end_of(queue, address(1)) == Ended(fate="cancelled")
    worker = client("worker")
    assert worker.claim().address == address(2)
    assert worker.call("claim", 500) is None


def test_an_order_ends_once_and_the_next_coordinator_is_told_at_once(
    engine: Engine, queue: Queue, repository: str, client: Callable[..., Client]
) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    worker = client("worker")
    claim = worker.claim()
    assert worker.call("end", claim, done(claim))
    assert worker.call("end", claim, done(claim)), "the answer may have been lost: it says the same again"
    assert not worker.call("end", claim, Ended(fate="declined", token=claim.token))
    with pytest.raises(LostError):
        worker.call("beat", claim, beat(), ANSWER_MS)
    assert end_of(queue, address(1)) == done(claim)
    following = open_queue(engine.url, repository)
    assert following.find([address(1)])[address(1).id].ended == done(claim)
    following.close()


def test_what_a_killed_worker_claimed_is_lost_after_its_lease_also_with_no_other_alive(
    queue: Queue, client: Callable[..., Client]
) -> None:
    worker = client("worker")
    lost = held(queue, worker, 0).address
    worker.kill()
    assert end_of(queue, lost).fate == "lost"
    assert queue.find([lost])[lost.id].beat == beat("agent", 5), "what it cost at least is known"
    other = client("other")
    assert other.call("claim", 500) is None, "it is never delivered twice"


def test_what_a_worker_that_stood_still_brings_too_late_is_refused(queue: Queue, client: Callable[..., Client]) -> None:
    queue.put(address(1), COMMIT, LEASE_MS)
    worker = client("worker")
    claim = worker.claim()
    worker.signal(signal.SIGSTOP)
    assert end_of(queue, address(1)).fate == "lost"
    worker.signal(signal.SIGCONT)
    with pytest.raises(LostError):
        worker.call("beat", claim, beat(), ANSWER_MS)
    assert not worker.call("end", claim, done(claim))
    assert end_of(queue, address(1)).fate == "lost"


def test_a_server_that_dies_and_comes_back_has_lost_nothing(
    engine: Engine, queue: Queue, client: Callable[..., Client]
) -> None:
    for number in (1, 2, 3):
        queue.put(address(number), COMMIT, LONG_MS)
    worker = client("worker")
    first, second = worker.claim(), worker.claim()
    assert worker.call("end", first, done(first))
    assert end_of(queue, first.address) == done(first)
    engine.server.kill()
    engine.start()
    assert worker.call("beat", second, beat(), ANSWER_MS) == "go on"
    assert worker.call("end", second, done(second))
    third = worker.claim()
    assert {first.address, second.address, third.address} == {address(1), address(2), address(3)}
    assert worker.call("end", third, done(third))
    queue.put(address(4), COMMIT, LONG_MS)
    fourth = worker.claim()
    assert worker.call("end", fourth, done(fourth))
    for claim in (first, second, third, fourth):
        assert end_of(queue, claim.address) == done(claim)


def test_calls_wait_for_a_server_that_is_away(engine: Engine, queue: Queue, client: Callable[..., Client]) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    coordinator, worker = client(), client("worker")
    claim = worker.claim()
    coordinator.call("workers")  # it is connected
    engine.server.kill()
    try:
        coordinator.begin("put", address(2), COMMIT, LONG_MS)
        worker.begin("end", claim, done(claim))
        with pytest.raises(AssertionError, match="no answer"):
            coordinator.answer(within_s=1)
    finally:
        engine.start()
    assert worker.answer()
    coordinator.answer()
    assert worker.claim().address == address(2)


def test_orders_go_out_also_if_temporal_was_away_when_their_host_began(
    temporal_engine: Engine, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library gives up after ten seconds, which is too long to be awaited here."""
    from temporalio.worker import Worker

    host, begun = Worker.run, []

    async def run(worker: Worker) -> None:
        begun.append(worker)
        if len(begun) < 3:
            raise RuntimeError("Worker validation failed")
        await host(worker)

    monkeypatch.setattr(Worker, "run", run)
    queue = open_queue(temporal_engine.url, repository)
    queue.put(address(1), COMMIT, LONG_MS)
    worker = queue.serve(seen("worker"))
    assert worker.claim(ANSWER_MS)
    worker.close()
    queue.close()


def test_after_its_patience_a_call_says_that_the_server_is_away(engine: Engine, repository: str) -> None:
    hasty: Any = open_queue(engine.url, repository)
    hasty.put(address(1), COMMIT, LONG_MS)
    getattr(hasty, "database", hasty).patience_s = 0.5
    engine.server.kill()
    try:
        with pytest.raises(SantiagoError) as caught:
            hasty.put(address(2), COMMIT, LONG_MS)
        assert caught.value.kind is Kind.TRANSIENT
        assert caught.value.hint
    finally:
        engine.start()
        hasty.close()


def test_what_a_restored_server_does_not_know_is_not_found_and_its_worker_is_told_and_seen_again(
    engine: Engine, queue: Queue, client: Callable[..., Client]
) -> None:
    worker = client("worker")
    queue.put(address(1), COMMIT, LONG_MS)
    claim = worker.claim()
    orders = [address(number) for number in (1, 2, 3, 4)]
    for order in orders[1:]:
        queue.put(order, COMMIT, LONG_MS)
    for order in orders:
        forgets(engine.url, queue, order.id)
    awaited(
        lambda: all(known.ended and known.ended.fate == "lost" for known in queue.find(orders).values()),
        "one is still known",
    )
    with pytest.raises(LostError):
        worker.call("beat", claim, beat(), ANSWER_MS)
    assert not worker.call("end", claim, done(claim))
    awaited(queue.workers, "it is not seen")
    queue.put(address(5), COMMIT, LONG_MS)
    assert worker.claim().address == address(5)


def test_a_beat_that_nobody_answers_ends_in_its_time(
    engine: Engine, queue: Queue, client: Callable[..., Client]
) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    worker = client("worker")
    claim = worker.claim()
    engine.server.signal(signal.SIGSTOP)
    try:
        with pytest.raises(Exception, match=r".") as caught:  # which one, is the server's matter
            worker.call("beat", claim, beat(), 500)
        assert not isinstance(caught.value, LostError | AssertionError)
    finally:
        engine.server.signal(signal.SIGCONT)
    assert worker.call("beat", claim, beat(), ANSWER_MS) == "go on"
    assert worker.call("end", claim, done(claim))


def test_after_a_coordinators_death_the_next_one_finds_all_that_it_put(
    queue: Queue, client: Callable[..., Client]
) -> None:
    coordinator, worker = client(), client("worker")
    for number in (1, 2, 3):
        coordinator.call("put", address(number), COMMIT, LONG_MS)
    claims = [worker.claim(), worker.claim()]
    coordinator.kill()
    assert worker.call("end", claims[0], done(claims[0])), "a worker needs no coordinator"
    assert worker.call("beat", claims[1], beat("sending"), ANSWER_MS) == "go on"
    assert end_of(queue, claims[0].address) == done(claims[0])
    known = known_when(queue, claims[1].address, lambda known: known.claimed_by)
    assert (known.beat, known.ended) == (beat("sending"), None)
    found = queue.find([address(number) for number in (1, 2, 3, 4)])
    assert len(found) == 3, "what it never put is not known"
    waiting = next(order for order in found if order not in {claim.address.id for claim in claims})
    assert found[waiting] == Known()
    assert worker.claim().address.id == waiting


def test_workers_are_seen_and_leave_when_they_are_asked_to(queue: Queue, client: Callable[..., Client]) -> None:
    assert queue.workers() == []
    first, second = client("first", "gpu"), client("second", judges=True)
    assert first.call("draining") is False
    assert second.call("draining") is False
    awaited(lambda: len(queue.workers()) == 2, "they are not seen")
    shown = {worker.name: worker for worker in queue.workers()}
    assert (shown["first"].pool, shown["first"].judges, shown["first"].jobs) == ("gpu", False, 2)
    assert shown["second"].judges
    assert shown["first"].since == seen("first").since
    assert shown["first"].beat_at
    queue.drain("first")
    queue.drain("nobody")
    queue.put(address(1, "gpu"), COMMIT, LONG_MS)
    awaited(lambda: first.call("draining"), "it does not hear")
    first.call("claim", 0)  # it may have claimed before it heard; now it claims nothing more
    queue.put(address(2, "gpu"), COMMIT, LONG_MS)
    assert first.call("claim", 300) is None
    assert second.call("draining") is False
    first.call("leave")
    again = client("first", "gpu")
    assert again.call("draining") is False, "the wish was for the worker that had this name before"
    assert again.claim().address.pool == "gpu"


def test_a_worker_that_was_killed_is_soon_seen_no_more_whatever_the_clock_says(
    engine: Engine, queue: Queue, client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{type(queue).__module__}.PRESENT_S", 6)
    ours = time.time
    monkeypatch.setattr(time, "time", lambda: ours() + 3600)  # this machine's clock is not the server's
    worker = client("worker")
    assert worker.call("draining") is False
    awaited(queue.workers, "it is not seen")
    worker.kill()
    awaited(lambda: not queue.workers(), "it is still seen")


def test_an_order_of_another_repository_is_never_met(
    engine: Engine, queue: Queue, client: Callable[..., Client]
) -> None:
    other = open_queue(engine.url, secrets.token_hex(20))
    try:
        other.put(address(1), COMMIT, LONG_MS)
        assert queue.find([address(1)]) == {}
        worker = client("worker")
        assert worker.call("claim", 500) is None
        assert other.workers() == []
    finally:
        other.close()


def test_a_claim_from_two_threads_at_once_beats_and_ends(queue: Queue) -> None:
    for number in range(4):
        queue.put(address(number), COMMIT, LONG_MS)
    worker = queue.serve(seen("worker"))
    claims = [worker.claim(ANSWER_MS) for _ in range(4)]
    answers: list[bool] = []

    def work(number: int) -> None:
        claim = claims[number]
        assert claim is not None
        for _ in range(5):
            assert worker.beat(claim, beat(), ANSWER_MS) == "go on"
        answers.append(worker.end(claim, done(claim)))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    worker.close()
    assert answers == [True] * 4


def test_nothing_but_ids_hashes_and_numbers_enters_the_engine(
    engine: Engine, queue: Queue, repository: str, client: Callable[..., Client]
) -> None:
    queue.put(address(1), COMMIT, LONG_MS)
    worker = client("worker")
    claim = worker.claim()
    worker.call("beat", claim, beat("agent", 17), ANSWER_MS)
    queue.cancel(address(1), now=True)
    worker.call("end", claim, done(claim))
    assert end_of(queue, address(1)) == done(claim)
    awaited(
        lambda: {COMMIT, RESULT} <= contents(engine, queue, repository), "Temporal lists no history"
    )  # later than it is there
    words = contents(engine, queue, repository)
    assert [word for word in words if not re.fullmatch(r"[\w./:@+-]{0,80}|stop now", word)] == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_what_the_page_has_kubernetes_count_are_the_orders_that_wait(
    engine: Engine, queue: Queue, repository: str, client: Callable[..., Client]
) -> None:
    import psycopg

    (query,), named = re.findall(r"query: (.*)", PAGE), Place(version=__version__, repository=repository[:12])
    example = Place(version="0.1.0", repository="0123456789ab").orders("default")
    assert f"taskQueue: {example}\n" in PAGE
    for number in (1, 2, 3):
        queue.put(address(number), COMMIT, LONG_MS)
    assert client("worker").claim()
    with psycopg.connect(engine.url) as database:
        assert database.execute(query.replace(example, named.orders("default"))).fetchone() == (2,)
