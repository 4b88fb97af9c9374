"""One claim that a worker holds: what its work hears of it, and what its beats tell. A worker whose beats nobody answers ends its work."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.agent.activity import Activity as Following
from santiago.agent.ralph_fresh import RalphFresh
from santiago.contract.outcomes import Usage
from santiago.contract.ports.queue import Beat, LostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.plan import Story
    from santiago.contract.ports.agent import AgentBackend, Packet
    from santiago.contract.ports.judge import Examination, Judge, Judged, Work
    from santiago.contract.ports.queue import Activity, Claim, Serving
    from santiago.contract.ports.run import Stop

BEATS = 12
"""How many beats a lease has."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, since the lease does."""


def now_ms() -> int:
    return time.clock_gettime_ns(_CLOCK) // 1_000_000


class HeldClaim:
    """A claim, and a `Stop` for its work: at once where the lease is over by this machine's own clock."""

    def __init__(self, serving: Serving, claim: Claim, worker: str, began: int) -> None:
        self.claim = claim
        self.doing: Activity = "preparing"
        self.usage = Usage()
        self.following: Following | None = None
        """The log of an agent at work. A program whose output has no rules tells what it uses only when it ends."""
        self.asked = self.at_once = False
        """The coordinator wants it to end, or to end at once."""
        self.left = False
        """This worker is ended at once, so the attempt is given up."""
        self._serving, self._worker = serving, worker
        self._answered = began
        """When the latest beat was sent that was answered. Until then the server surely knew of us."""
        self._lost = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"beat {claim.address.id}", daemon=True)

    def soon(self) -> bool:
        return self.asked or self.now()

    def now(self) -> bool:
        return self.at_once or self.left or self.is_lost

    @property
    def is_lost(self) -> bool:
        """Whether another attempt may be under way elsewhere. Nothing that is done here counts then."""
        self._lost = self._lost or now_ms() - self._answered >= self.claim.lease_ms
        return self._lost

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat meanwhile, in a thread of its own, since the work may take long between two steps."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join(self.claim.lease_ms / 1000)

    def wait(self, seconds: float) -> None:
        self._over.wait(seconds)

    def _beat(self) -> None:
        while not self._over.is_set() and not self.is_lost:
            sent = now_ms()
            try:
                word = self._serving.beat(self.claim, self._sign(), self.claim.lease_ms // (BEATS // 2))
            except LostError:
                self._lost = True
            except Exception:  # noqa: S110  # whatever it is, nobody answered, and the lease runs out
                pass
            else:
                self._answered = sent
                self.asked, self.at_once = self.asked or word != "go on", self.at_once or word == "stop now"
            self._over.wait(self.claim.lease_ms / BEATS / 1000)

    def _sign(self) -> Beat:
        tokens, cost = self.usage.tokens, None if self.usage.cost_usd is None else int(self.usage.cost_usd)
        if (following := self.following) is not None:
            reading = following.look()
            tokens, cost = reading.tokens, reading.cost
        return Beat(worker=self._worker, doing=self.doing, tokens=tokens, micro_usd=cost)


class FollowedAgent:
    """An agent whose worker tells, in its beats, that it is at work and what it has used."""

    def __init__(self, agent: AgentBackend, held: HeldClaim) -> None:
        self._agent, self._held = agent, held

    def render(self, packet: Packet) -> str:
        return self._agent.render(packet)

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        held, agent = self._held, self._agent
        held.doing = "agent"
        held.following = Following(Path(packet.log), agent.profile) if isinstance(agent, RalphFresh) else None
        ending = agent.attempt(packet, stop)
        held.doing, held.usage, held.following = "checks", ending.usage, None
        return ending


class WithheldJudge:
    """Makes checkouts ready, and gives no verdict on work: a worker that runs agents is not believed.

    Where the coordinator trusts workers, the verdict is kept for the report.
    """

    def __init__(self, judge: Judge, *, trusted: bool) -> None:
        self._judge, self._trusted = judge, trusted
        self.judged: Judged | None = None

    def prepare(self, folder: str, stop: Stop) -> None:
        self._judge.prepare(folder, stop)

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        return self._judge.examine(base, stories, stop)

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        if self._trusted:
            self.judged = self._judge.attempt(work, stop)
        return None

    def tree(self, *_: object) -> Judged | None:
        return None

    def run(self, *_: object) -> Judged | None:
        return None
