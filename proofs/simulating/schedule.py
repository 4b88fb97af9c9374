"""One seed is one schedule: a plan, its settings, the luck of agents, what people say, and everything that goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from proofs.simulating.promises import BrokenPromiseError, Promises, holds
from santiago.contract.answers import Letter
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.fold import fold_all
from santiago.contract.outcomes import (
    AgentEnding,
    AttemptOutcome,
    IntegrationOutcome,
    Outcome,
    Proof,
    Usage,
    Verdict,
)
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy
from santiago.contract.ports.run import Stop
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.state import Question, RunState
from santiago.contract.steps import Adopt, Attempt, Integrate, Order, Step, VerifyRun
from santiago.executor.recover import Left
from santiago.executor.reopen import Grants
from santiago.simulation.fleet import URL, Fleet, FleetEngine, Worker
from santiago.simulation.random_plans import random_plan
from santiago.simulation.world import EventEngine, MemoryStore, SimulatedPerformer, Simulation, VirtualClock, letter

MOST_STARTS = 200
MOST_LOOKS = 6_000
"""How often one start may look for what has ended. A loop that goes on for longer goes nowhere."""
FAILS: tuple[Reason, ...] = (
    Reason.STORY_VERIFICATION_FAILED, Reason.STORY_VERIFICATION_FAILED, Reason.AGENT_TIMEOUT, Reason.AGENT_EXIT_NONZERO,
    Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE, Reason.AGENT_ASKED, Reason.CHANGED_EXPECTATION, Reason.DOUBTED,
    Reason.AGENT_NO_CHANGE, Reason.UNPROVEN,
)  # fmt: skip
LUCK = 3
"""Attempts with a higher number pass, so that every run can come to its end."""


class DeathError(BaseException):
    """The coordinator is killed."""


class MortalStore(MemoryStore):
    """A log on a slow disk, whose writer dies before, within or after a batch."""

    def __init__(self, clock: VirtualClock, deaths: list[tuple[int, int]], slow: Callable[[], int]) -> None:
        super().__init__()
        self.clock, self.deaths, self.slow = clock, deaths, slow

    def append(self, events: Sequence[Event]) -> None:
        self.clock.now += self.slow()
        due = [one for one in self.deaths if one[0] <= len(self.log) + len(events)]
        if not due:
            super().append(events)
            return
        self.deaths.remove(due[0])
        super().append(events[: due[0][1]])  # what a torn last line leaves
        raise DeathError


@dataclass
class World(SimulatedPerformer):
    """Agents and judges with drawn luck, and a branch that is moved only from where it stands."""

    promises: Promises = field(kw_only=True)
    draw: Random = field(kw_only=True)
    share: float = field(kw_only=True)
    """How many attempts fail."""
    fate: dict[str, Reason | None] = field(default_factory=dict)
    spends: dict[str, int] = field(default_factory=dict)

    def perform(self, order: Order, stop: Stop) -> Outcome:
        outcome = self._onto_branch(order) if isinstance(order.step, Integrate) else super().perform(order, stop)
        if isinstance(order.step, VerifyRun):
            self.promises.verified_head = order.head
        self.promises.issued.setdefault(order.id, []).append(outcome)
        return outcome

    def _ended(self, step: Attempt | Adopt) -> AttemptOutcome:
        name = f"{step.story}/{step.number}"
        if name not in self.fate:
            unlucky = step.number <= LUCK and self.draw.random() < self.share
            self.fate[name] = self.draw.choice(FAILS) if unlucky else None
            self.spends[name] = self.draw.randint(1, 20)
        reason = self.fate[name]
        verdict = Verdict(
            passed=reason is None, proof=None if reason or step.tests else Proof.PROVED, reason=reason, results=(),
            lacks_test=reason is Reason.UNPROVEN, message="so it is",
        )  # fmt: skip
        ending = AgentEnding(
            reason=reason, exit_code=0, message="so it is", usage=Usage(tokens=self.spends[name]),
            wait_seconds=self.draw.choice((None, 5, 20)) if reason is Reason.AGENT_RATE_LIMITED else None,
            question="why?" if reason is Reason.AGENT_ASKED else None,
        )  # fmt: skip
        tests = f"{name}-tests" if step.tests and not reason else None
        return AttemptOutcome(
            step=step.id, story=step.story, number=step.number, status="failed" if reason else "ok", reason=reason,
            commit=name, verdict=verdict, ending=ending, agent_ms=500, verify_ms=100, tests=tests,
        )  # fmt: skip

    def _onto_branch(self, order: Order) -> IntegrationOutcome:
        step, branch = order.step, self.promises.branch
        assert isinstance(step, Integrate)
        last = branch[-1] if branch else ("", "", "head0")
        before = branch[-2][2] if len(branch) > 1 else "head0"
        if last[:2] == (step.story, step.commit) and order.head == before:  # it came onto the branch before a death
            return IntegrationOutcome(step=step.id, story=step.story, head=last[2], commit=step.commit)
        holds(6, order.head == last[2], f"{step.id} builds on {order.head}, and the branch is at {last[2]}")
        after = self._around(order)[1]
        found = self._integrate(order)
        if found.head:
            holds(2, self._passes(step, after), f"{step.commit} is on the branch, and its checks fail on that tree")
            self.promises.landed(found, step.commit)
        return found


class Unruly:
    """An engine that reports twice, late, and whose steps can be stopped at once."""

    schedule: Schedule
    again: list[tuple[Step, Outcome | BaseException]]
    looks: int
    ended: set[str]

    def report(
        self, wait: Callable[[int], tuple[Step, Outcome | BaseException] | None], timeout_ms: int
    ) -> tuple[Step, Outcome | BaseException] | None:
        self.looks += 1
        holds(8, self.looks < MOST_LOOKS, "the loop goes on and nothing happens")
        self.schedule.weather()
        if self.again and self.schedule.random.random() < 0.3:
            return self.again.pop(0)
        found = wait(timeout_ms)
        if found is not None and self.schedule.random.random() < self.schedule.twice:
            self.again.append(found)
        return found


class UnrulyThreads(Unruly, EventEngine):
    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        return self.report(super().wait, timeout_ms)

    def submit(self, order: Order) -> None:
        self.schedule.begun.add(order.id)
        super().submit(order)

    def stop(self, step: str, *, now: bool) -> None:
        super().stop(step, now=now)
        ended = [order for _, _, order in self.heap if now and order.id == step and isinstance(order.step, Attempt)]
        self.schedule.killed.update(order.id for order in ended)
        self.hurry(ended)


class UnrulyFleet(Unruly, FleetEngine):
    """Its workers cannot be reached at times; what they bring comes later."""

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        return self.report(self._through, timeout_ms)

    def _through(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        if not self.schedule.is_apart:
            return super().wait(timeout_ms)
        self.clock.now += timeout_ms
        return EventEngine.wait(self, timeout_ms) if self.heap and self.heap[0][0] <= self.clock.now else None


@dataclass
class Schedule:
    """Everything that one seed decides. What happens in a run is drawn as it happens, in its order."""

    seed: int
    begun: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    """Attempts that were told to end at once."""
    starts: int = 0

    def __post_init__(self) -> None:
        self.random = random = Random(self.seed)
        self.plan: Plan = random_plan(random, most=7)
        self.clock = VirtualClock()
        self.apart_until = 0
        self.twice = random.choice((0.0, 0.0, 0.2))
        self.skewed, self.paused = random.random() < 0.3, random.random() < 0.3
        self.parted = random.random() < 0.3
        self.limits = self._limits()
        gates: tuple[Literal["detail", "result", "chunk"], ...] = random.choice(
            ((), (), (), (), ("result",), ("detail",), ("chunk",), ("detail", "result"))
        )
        self.policy = Policy(
            keep_going=random.random() < 0.4, exhausted=random.choice(("failed", "blocked")), gates=gates,
            optimistic=random.random() < 0.15, unproven=random.choice(("ask", "accept")),
        )  # fmt: skip
        self.promises = Promises(self.plan, self.limits, self.policy)
        conflicts = {one.id: random.choice((1, 1, 2)) for one in self.plan.stories if random.random() < 0.2}
        self.world = World(
            promises=self.promises, draw=random, share=random.choice((0.0, 0.2, 0.5)), conflicts=conflicts
        )
        reds = random.choice((0.0, 0.3, 0.5))
        self.world.second = lambda story, after: Random(f"{self.seed}/{story}/{after}").random() >= reds
        self.took: dict[str, int] = {}
        self.says: dict[str, tuple[str, int]] = {}
        self.stops = sorted(random.randint(0, 20_000) for _ in range(random.choice((0, 0, 0, 1, 2))))
        self.run = self._simulation()

    def _limits(self) -> Limits:
        random = self.random
        return Limits(
            story_max_attempts=random.choice((2, 3, 4)), run_max_attempts=random.choice((5, 1000, 1000)),
            run_timeout_minutes=Minutes.of(random.choice((0.1, 1e6, 1e6))),
            story_timeout_minutes=Minutes.of(random.choice((0.03, 20, 20))),
            wait_max_minutes=Minutes.of(random.choice((0.5, 360))),
            run_max_tokens=random.choice((None, None, 60, 200)),
        )  # fmt: skip

    def _simulation(self) -> Simulation:
        random, clock = self.random, self.clock
        events = 14 * len(self.plan.stories)
        deaths = sorted((random.randint(3, events), random.randint(0, 3)) for _ in range(random.choice((0, 1, 2, 4))))
        slow = random.choice((0, 0, 3, 400))
        run = Simulation(
            self.plan, jobs=random.randint(1, 6), duration=self._duration, performer=self.world, limits=self.limits,
            policy=self.policy, clock=clock, attended=random.random() < 0.6, store=MortalStore(
                clock, deaths, lambda: random.randint(0, slow) if slow else 0
            ),
            heard=self._stop, answers=self._answer, wakes=self._wakes, letters=self._letters, listener=self._take,
        )  # fmt: skip
        if random.random() < 0.4:
            workers = [Worker(since=random.randint(0, 5000)) for _ in range(random.randint(1, 4))]
            fates: dict[str, Literal["done", "lost", "declined"]] = {}
            some: tuple[Literal["done", "lost", "declined"], ...] = ("done", "done", "done", "lost", "declined")

            def fate(step: str) -> Literal["done", "lost", "declined"]:
                sure = int(step.split("/")[2]) > LUCK
                return "done" if sure else fates.setdefault(step, random.choice(some))

            fleet = Fleet(
                clock, self.world, workers, fate, lambda step: Usage(tokens=5), random.choice((None, 0, 4000))
            )
            run.url, run.engine_of = (
                URL,
                lambda jobs, clock, duration, performer: self._ruled(
                    UnrulyFleet(jobs, clock, duration, performer, fleet)
                ),
            )
        else:
            run.engine_of = lambda *given: self._ruled(UnrulyThreads(*given))
        return run

    def _ruled(self, engine: UnrulyThreads | UnrulyFleet) -> EventEngine:
        engine.schedule, engine.again, engine.looks, engine.ended = self, [], 0, set()
        return engine

    # What happens meanwhile

    def weather(self) -> None:
        """Let clocks go wrong, the machine sleep, and the network break, now and then."""
        random = self.random
        if self.skewed and random.random() < 0.05:
            self.clock.wall += random.choice((-60_000, -1_000, 1_000, 60_000))
        if self.paused and random.random() < 0.02:
            self.clock.wall += random.randint(1, 12) * 3_600_000
        if self.parted and random.random() < 0.05:
            self.apart_until = self.clock.now + random.randint(500, 8_000)

    @property
    def is_apart(self) -> bool:
        return self.clock.now < self.apart_until

    def _duration(self, step: Step) -> int:
        random = self.random
        most = 5_000 if isinstance(step, Attempt) else 300
        return self.took.setdefault(step.id, random.randint(1, most))

    def _stop(self, state: RunState, now: int) -> Literal["soon", "now"] | None:
        if self.stops and now >= self.stops[0]:
            self.stops.pop(0)
            return self.random.choice(("soon", "now"))
        return None

    def _plans_to_say(self, question: Question) -> tuple[str, int]:
        """Return what a person says, and from when on: a wish first, and consent when asked again."""
        if question.id not in self.says:
            says = {
                "detail": ("approve", "approve", "adjust: in blue", "defer"), "result": ("validate", "validate", "change: shorter"),
                "continue": ("continue",), "changed_expectation": ("accept", "refuse"), "doubt": ("accept", "refuse"),
                "refusal": ("accept", "refuse"), "there": ("accept", "refuse"), "agent": ("adjust: so",), "grant": ("grant",),
                "unproven": ("accept", "accept", "retry"), "resume": ("continue",),
            }  # fmt: skip
            words = says.get(question.kind, question.options)
            first = len([one for one in self.says if one.startswith(f"{question.story}-")]) < 3
            word = self.random.choice(words) if first else words[0]
            self.says[question.id] = word, self.clock.now + self.random.choice((0, 0, 700, 9_000))
        return self.says[question.id]

    def _answer(self, question: Question) -> str | None:
        words, at = self._plans_to_say(question)
        return words if at <= self.clock.now else None

    def _wakes(self, state: RunState) -> int | None:
        times = [self._plans_to_say(one)[1] for one in state.open_questions()]
        return min((at for at in times if at > self.clock.now), default=None)

    def _letters(self, state: RunState) -> list[Letter]:
        """Return answers that come again, in the same words or in others, after the question was answered."""
        if self.random.random() > 0.05:
            return []
        closed = [one for one in state.questions.values() if one.answer is not None]
        found = [letter(one, self.says[one.id][0]) for one in closed if one.id in self.says]
        return found[:1]

    def _take(self, events: Sequence[Event], state: RunState) -> None:
        self.promises.take(self.run.store.log)

    # The whole

    def carry_out(self) -> None:
        """Start the run again and again until all is done; raise where a promise is broken."""
        grants = None
        while True:
            self.starts += 1
            holds(8, self.starts < MOST_STARTS, "the run does not come to its end")
            try:
                state = self.run.run(grants)
            except DeathError:
                self._recover()
                continue
            except SantiagoError as error:
                if grants is not None:
                    raise BrokenPromiseError(f"promise 8: it cannot go on: {error}") from error
                grants = Grants(attempts=2, minutes_ms=10**9, tokens=1000)
                continue
            self.promises.matches(state, self.run.store.log)
            self.clock.now += self.random.choice((0, 10_000))
            if state.phase is RunPhase.SUCCESS:
                return
            spent = state.phase in (RunPhase.FAILED, RunPhase.BLOCKED) or self.starts > 10
            grants = Grants(attempts=2, minutes_ms=10**9, tokens=1000) if spent else None

    def _recover(self) -> None:
        """Do what the next start does before its coordinator works: end what was under way, look where the branch stands."""
        run, promises = self.run, self.promises
        promises.take(run.store.log)
        if not run.store.log:
            return
        state = fold_all(self.plan, run.store.log)
        run.recovered = frozenset()
        if not run.url:
            left = {}
            for story in state.in_order(state.running):
                begun = f"attempt/{story.id}/{story.attempts}" in self.begun
                judge = begun and not story.writes_tests and self.random.random() < 0.4
                left[story.id] = Left(begun=begun, judge=judge)
            before = len(run.store.log)
            run.interrupt(left)
            free = {one.story_id for one in run.store.log[before:] if one.event is EventKind.ATTEMPT_VOIDED}
            begun_ones = [name for name, one in left.items() if one.begun]
            holds(4, free.isdisjoint(begun_ones), f"agents worked on {begun_ones}, and their attempts do not count")
            run.recovered = frozenset(name for name, one in left.items() if one.judge)
            promises.take(run.store.log)
        last = promises.branch[-1] if promises.branch else None
        run.landed = None
        if last and last[2] != state.head:
            story = state.stories[last[0]]
            if story.id in state.verified and story.commit == last[1]:
                run.landed = story.id
            else:
                promises.branch.pop()  # as the next start puts the branch back


def broken_by(seed: int) -> str:
    """Return which promise a schedule breaks, in words; empty where all hold."""
    schedule = Schedule(seed)
    try:
        schedule.carry_out()
    except BrokenPromiseError as error:
        return str(error)
    except (AssertionError, ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
