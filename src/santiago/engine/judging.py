"""Verdicts by workers that judge, and by workers that are trusted. Where there is none, this machine judges as ever."""

from __future__ import annotations

import time
import uuid
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import Story
from santiago.contract.ports.judge import Examination, Judged, Work
from santiago.contract.ports.queue import POOL, Address, Judging, Known, Method, sent_as
from santiago.contract.record import lean, record
from santiago.contract.steps import Order, Propose, VerifyRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports.agent import AgentBackend, Packet
    from santiago.contract.ports.judge import Judge
    from santiago.contract.ports.queue import Courier, Ended, Queue
    from santiago.contract.ports.run import Stop
    from santiago.contract.state import RunState
    from santiago.engine.remote import Brought

T = TypeVar("T", Judged, Examination)

POLL_S = 0.2


# What the methods of the judge port are called with, in its order.


@record
class Examined:
    base: str
    stories: tuple[Story, ...]


@record
class Attempted:
    work: Work


@record
class Treed:
    story: Story
    name: str
    commit: str
    base: str | None
    attempt: int


@record
class Ran:
    base: str
    head: str
    stories: tuple[Story, ...]
    accepted: tuple[str, ...]


Arguments = Examined | Attempted | Treed | Ran
_KINDS: dict[Method, type[Arguments]] = {"examine": Examined, "attempt": Attempted, "tree": Treed, "run": Ran}


def carry_out(judging: Judging, judge: Judge, stop: Stop) -> Judged | Examination | None:
    """Answer a call that came as an order."""
    arguments = codec.decode(_KINDS[judging.method], judging.arguments.encode(), "judging.json")
    return _called(judge, judging.method, arguments, stop)


def _called(judge: Judge, method: Method, arguments: Arguments, stop: Stop) -> Judged | Examination | None:
    found: Judged | Examination | None
    found = getattr(judge, method)(*(getattr(arguments, one.name) for one in fields(arguments)), stop)
    return found


@lean(kw_only=True)
class RemoteJudge:
    """Asks workers that judge, if one is connected for the pool. One that is lost or declines is as if there were none."""

    local: Judge
    queue: Queue
    courier: Courier
    state: Callable[[], RunState]
    """The run's: which one it is, and what was red on the base that it began on."""
    lease_ms: int
    brought: Brought

    def prepare(self, folder: str, stop: Stop) -> None:
        self.local.prepare(folder, stop)

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        asked = Examined(base=base, stories=tuple(stories))
        return self._found(Examination, "examine", asked, [base], stories, stop)

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        if (trusted := self.brought.verdicts.pop((work.story.id, work.attempt), None)) is not None:
            return trusted
        commits = [work.base, work.snapshot.commit, work.before_tests, work.before_story]
        return self._found(Judged, "attempt", Attempted(work=work), commits, [work.story], stop)

    def tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged | None:
        asked = Treed(story=story, name=name, commit=commit, base=base, attempt=attempt)
        return self._found(Judged, "tree", asked, [commit, base], [story], stop)

    def run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged | None:
        asked = Ran(base=base, head=head, stories=tuple(stories), accepted=tuple(accepted))
        return self._found(Judged, "run", asked, [base, head], (), stop)

    def _found(
        self, kind: type[T], method: Method, arguments: Arguments, commits: Sequence[str | None],
        stories: Sequence[Story], stop: Stop,
    ) -> T | None:  # fmt: skip
        pools = {story.pool or POOL for story in stories}
        pool = pools.pop() if len(pools) == 1 else POOL
        if self._is_served(pool):
            needed = tuple(filter(None, commits))
            judging = Judging(method=method, arguments=codec.canonical(arguments).decode(), commits=needed)
            found = self._elsewhere(judging, pool, stop)
            if isinstance(found, kind):
                return found
            if stop.soon():
                return None
        found = _called(self.local, method, arguments, stop)
        assert found is None or isinstance(found, kind)
        return found

    def _elsewhere(self, judging: Judging, pool: str, stop: Stop) -> Judged | Examination | None:
        state = self.state()
        order = Order(
            step=VerifyRun(round=0), run_id=state.run_id, head="", base="", began=state.base or "",
            anchor=uuid.uuid4().hex, epoch=state.epoch, red=state.red,
        )  # fmt: skip
        name = sent_as(order, judging)
        try:
            commit = self.courier.send(order, judging)
            ended = self._ended(Address(id=f"{state.run_id}/{name}", pool=pool, judges=True), commit, stop)
            return self.courier.take(name, ended).judged if ended and ended.fate == "done" else None
        except SantiagoError:
            return None
        finally:
            self.courier.forget([name])

    def _ended(self, address: Address, commit: str, stop: Stop) -> Ended | None:
        """Return how an order ended; None if it was given up, since the run stops or nobody is left who would claim it."""
        self.queue.put(address, commit, self.lease_ms)
        while True:
            known = self.queue.find([address]).get(address.id, Known())
            if known.ended is not None:
                return known.ended
            if stop.soon() or not (known.claimed_by or self._is_served(address.pool)):
                self.queue.cancel(address, now=True)
                return None
            time.sleep(POLL_S)

    def _is_served(self, pool: str) -> bool:
        return any(worker.judges and worker.pool == pool for worker in self.brought.workers)


@lean(kw_only=True)
class WrittenElsewhere:
    """An agent whose detailed plans workers have brought: those are taken for what it would write. It is asked for all else."""

    inner: AgentBackend
    brought: Brought

    def render(self, packet: Packet) -> str:
        return self.inner.render(packet)

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        step = Propose(story=packet.story.id, number=max(1, packet.proposal), timeout_ms=packet.timeout_ms).id
        found = self.brought.endings.pop(step, None) if packet.proposes else None
        return found or self.inner.attempt(packet, stop)
