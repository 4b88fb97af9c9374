"""Verdicts by workers that judge, and by workers that are trusted. Where there is none, this machine judges as ever."""

from __future__ import annotations

import threading
import uuid
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.plan import Story
from santiago.contract.ports.judge import Examination, Judged, Work
from santiago.contract.ports.queue import Address, Judging, sent_as
from santiago.contract.record import lean, record
from santiago.contract.steps import Adopt, ExamineBase, JudgeClaim, Order, Propose, VerifyRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports.agent import AgentBackend, Packet
    from santiago.contract.ports.judge import Judge
    from santiago.contract.ports.queue import Courier, Queue, WorkerSeen
    from santiago.contract.ports.run import Stop
    from santiago.contract.state import RunState
    from santiago.contract.steps import Step
    from santiago.engine.remote import Brought

T = TypeVar("T", Judged, Examination)

POLL_S = 0.2
POOL = "default"


@record
class Examined:
    base: str
    stories: tuple[Story, ...]


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


def carry_out(judging: Judging, judge: Judge, stop: Stop) -> Judged | Examination | None:
    """Answer a call that came as an order."""
    raw, where = judging.arguments.encode(), "judging.json"
    match judging.method:
        case "examine":
            of_base = codec.decode(Examined, raw, where)
            return judge.examine(of_base.base, of_base.stories, stop)
        case "attempt":
            return judge.attempt(codec.decode(Work, raw, where), stop)
        case "tree":
            of = codec.decode(Treed, raw, where)
            return judge.tree(of.story, of.name, of.commit, of.base, of.attempt, stop)
        case "run":
            ran = codec.decode(Ran, raw, where)
            return judge.run(ran.base, ran.head, ran.stories, ran.accepted, stop)


@lean(kw_only=True)
class RemoteJudge:
    """Asks workers that judge, if one is connected for the pool. One that is lost or declines is as if there were none."""

    local: Judge
    queue: Queue
    courier: Courier
    workers: Callable[[], Sequence[WorkerSeen]]
    state: Callable[[], RunState]
    """The run's: which one it is, and what was red on the base that it began on."""
    lease_ms: int
    brought: Brought

    def prepare(self, folder: str, stop: Stop) -> None:
        self.local.prepare(folder, stop)

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        asked = Examined(base=base, stories=tuple(stories))
        judging = Judging(method="examine", arguments=_text(asked), commits=(base,))
        local = partial(self.local.examine, base, stories, stop)
        return self._found(Examination, local, judging, ExamineBase(commit=base), _pool(stories), stop)

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        if (trusted := self.brought.verdicts.pop((work.story.id, work.attempt), None)) is not None:
            return trusted
        commits = filter(None, (work.base, work.snapshot.commit, work.before_tests, work.before_story))
        judging = Judging(method="attempt", arguments=_text(work), commits=tuple(commits))
        step, local = Adopt(story=work.story.id, number=work.attempt), partial(self.local.attempt, work, stop)
        return self._found(Judged, local, judging, step, _pool([work.story]), stop)

    def tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged | None:
        asked = Treed(story=story, name=name, commit=commit, base=base, attempt=attempt)
        judging = Judging(method="tree", arguments=_text(asked), commits=(commit, *([base] if base else [])))
        local = partial(self.local.tree, story, name, commit, base, attempt, stop)
        return self._found(Judged, local, judging, JudgeClaim(story=story.id), _pool([story]), stop)

    def run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged | None:
        asked = Ran(base=base, head=head, stories=tuple(stories), accepted=tuple(accepted))
        judging = Judging(method="run", arguments=_text(asked), commits=(base, head))
        local = partial(self.local.run, base, head, stories, accepted, stop)
        return self._found(Judged, local, judging, VerifyRun(round=0), POOL, stop)

    def _found(
        self, kind: type[T], local: Callable[[], T | None], judging: Judging, step: Step, pool: str, stop: Stop
    ) -> T | None:
        if not self._is_served(pool):
            return local()
        state = self.state()
        order = Order(
            step=step, run_id=state.run_id, head="", base="", began=state.base or "", anchor=uuid.uuid4().hex,
            epoch=state.epoch, red=state.red,
        )  # fmt: skip
        name = sent_as(order, judging)
        try:
            found = self._elsewhere(order, judging, Address(id=f"{state.run_id}/{name}", pool=pool, judges=True), stop)
        except SantiagoError:
            found = None
        finally:
            self.courier.forget([name])
        if isinstance(found, kind):
            return found
        return None if stop.soon() else local()

    def _elsewhere(self, order: Order, judging: Judging, address: Address, stop: Stop) -> Judged | Examination | None:
        self.queue.put(address, self.courier.send(order, judging), self.lease_ms)
        while True:
            known = self.queue.find([address]).get(address.id)
            if known is not None and known.ended is not None:
                result = known.ended.fate == "done"
                return self.courier.take(sent_as(order, judging), known.ended).judged if result else None
            waits = known is None or not known.claimed_by
            if stop.soon() or (waits and not self._is_served(address.pool)):
                self.queue.cancel(address, now=True)
                return None
            threading.Event().wait(POLL_S)

    def _is_served(self, pool: str) -> bool:
        return any(worker.judges and worker.pool == pool for worker in self.workers())


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


def _text(arguments: object) -> str:
    return codec.canonical(arguments).decode()


def _pool(stories: Sequence[Story]) -> str:
    """Return the pool of stories that all need the same one."""
    pools = {story.pool or POOL for story in stories}
    return pools.pop() if len(pools) == 1 else POOL
