"""One run as chance would have it: the real loop, with agents and checks whose times, ends and costs are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial

from santiago.contract.events import Event, EventKind
from santiago.contract.moments import ms_of
from santiago.contract.outcomes import (
    AgentEnding,
    AttemptOutcome,
    Proof,
    Usage,
    Verdict,
)
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy
from santiago.contract.ports.run import Performer
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.state import Question, RunState
from santiago.contract.steps import Adopt, Attempt, Integrate, Order, Propose, Step, VerifyAhead, WriteBack
from santiago.executor.scope import Scope
from santiago.executor.tally import is_finished
from santiago.simulation.draws import Draws
from santiago.simulation.history import Tried
from santiago.simulation.world import EventEngine, MemoryStore, SimulatedPerformer, Simulation, Tree, VirtualClock

REFUSALS = frozenset({Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE})
_SAYS = {
    "detail": "approve", "result": "validate", "continue": "continue", "changed_expectation": "accept", "doubt": "accept",
    "refusal": "refuse", "there": "accept", "agent": "adjust: as you think best", "resume": "continue",
}  # fmt: skip
"""What the person of a forecast says. Other questions stay open, as they do where nobody decides."""


@lean(frozen=True, kw_only=True)
class Without:
    """What is taken out of a run, to see what it costs."""

    integration: bool = False
    refusals: bool = False
    people: bool = False


WHOLE = Without()


@lean()
class Bar:
    """An attempt, or the wait of finished work for its turn."""

    story: str
    begin: int
    end: int
    kind: str
    """`attempt`, `failed`, `waiting`."""


@lean(slots=False, eq=False)
class DrawnPerformer(SimulatedPerformer):
    """Agents, checks and integrations whose ends are drawn."""

    draws: Draws = field(kw_only=True)
    takes_unproven: bool = field(kw_only=True)
    without: Without = field(kw_only=True)

    def lasts(self, order: Order) -> int:
        """Return how long a step takes."""
        match step := order.step:
            case Attempt():
                tried = self._tried(step)
                return min(tried.agent_ms, step.timeout_ms) + tried.verify_ms
            case Propose():
                return self.draws.attempt(step.story, -step.number).agent_ms // 2
            case Integrate() | VerifyAhead():
                spared = self.without.integration or self.is_known(order)
                return 0 if spared else self.draws.check(f"integrate/{step.story}")
            case WriteBack():
                return 0
            case _:
                return self.draws.check(step.id)

    def _tried(self, step: Attempt | Adopt) -> Tried:
        tried = self.draws.attempt(step.story, step.number)
        if tried.reason in REFUSALS and self.without.refusals:
            return tried._replace(reason=None)
        return tried

    def _ended(self, step: Attempt | Adopt) -> AttemptOutcome:
        tried = self._tried(step)
        reason, agent_ms = tried.reason, tried.agent_ms
        if isinstance(step, Attempt) and agent_ms > step.timeout_ms:
            reason, agent_ms = Reason.AGENT_TIMEOUT, step.timeout_ms
        if reason is Reason.UNPROVEN and self.takes_unproven:
            reason = None
        cost = None if tried.micro_usd is None else Usd(tried.micro_usd)
        ending = AgentEnding(
            reason=reason, exit_code=0, message="", usage=Usage(tokens=tried.tokens, cost_usd=cost),
            wait_seconds=tried.wait_s, question="?" if reason is Reason.AGENT_ASKED else None,
        )  # fmt: skip
        writes = step.tests and not reason
        verdict = Verdict(
            passed=not reason, proof=None if reason or writes else Proof.OWN_TESTS, reason=reason, results=(),
            lacks_test=reason is Reason.UNPROVEN, awaiting=("a test",) if writes else (),
        )  # fmt: skip
        return AttemptOutcome(
            step=step.id, story=step.story, number=step.number, status="failed" if reason else "ok", reason=reason,
            commit=f"{step.story}/{step.number}", verdict=verdict, ending=ending, agent_ms=agent_ms,
            verify_ms=tried.verify_ms, tests=f"{step.story}/{step.number}-tests" if writes else None,
        )  # fmt: skip

    def _passes(self, step: Integrate | VerifyAhead, after: Tree) -> bool:
        return self.draws.fits(step.story, step.attempt) or step.attempt >= 3


class DrawnEngine(EventEngine):
    """Steps last as long as they are drawn. Attempts that are under way have the rest of their time before them."""

    def __init__(
        self, under_way: Mapping[Attempt | Propose, int], jobs: int, clock: VirtualClock,
        duration: Callable[[Step], int], performer: Performer,
    ) -> None:  # fmt: skip
        super().__init__(jobs, clock, duration, performer)
        self.under_way = {step.id: ms for step, ms in under_way.items()}
        self.orders = [Order(step=step, run_id="", head="", base="", began="", anchor="") for step in under_way]

    def attach(self, steps: Sequence[str]) -> list[Order]:
        for order in self.orders:
            self.submit(order)
        return self.orders

    def lasts(self, order: Order) -> int:
        assert isinstance(self.performer, DrawnPerformer)
        return max(0, self.performer.lasts(order) - self.under_way.get(order.id, 0))


@lean()
class Course:
    """What happened when, for the picture and for the critical path. Times are those of the virtual clock."""

    clock: VirtualClock
    bars: list[Bar] = field(default_factory=list)
    begun: dict[str, int] = field(default_factory=dict)
    """Story → when its first attempt began."""
    open: dict[str, int] = field(default_factory=dict)
    verified: dict[str, int] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)

    def take(self, events: Sequence[Event], state: RunState) -> None:
        now = self.clock.now
        for event in events:
            name = event.story_id or ""
            match event.event:
                case EventKind.ATTEMPT_STARTED:
                    self.open[name] = now
                    self.begun.setdefault(name, now)
                case EventKind.ATTEMPT_ENDED | EventKind.ATTEMPT_VOIDED if name in self.open:
                    kind = "attempt" if event.status == "ok" else "failed"
                    self.bars.append(Bar(name, self.open.pop(name), now, kind))
                case EventKind.STORY_VERIFIED | EventKind.STORY_UNPROVEN:
                    self.verified[name] = now
                    self.begun.setdefault(name, now)
                case EventKind.STORY_DONE | EventKind.STORY_INTEGRATED:
                    self.done[name] = now
                    if now > self.verified.get(name, now):
                        self.bars.append(Bar(name, self.verified[name], now, "waiting"))


@lean()
class Drawn:
    """How one simulated run went."""

    ms: int
    micro_usd: int | None
    tokens: int | None
    reason: Reason | None
    """Why it did not bring all stories onto the branch; None where it did."""
    course: Course
    limit: str = ""
    was_full: bool = True
    """Whether all jobs were at work at once. Where they never were, more of them change nothing."""


@lean(frozen=True, kw_only=True)
class Task:
    """What is simulated: a plan from its beginning, or what is left of a run."""

    plan: Plan
    limits: Limits
    policy: Policy
    scope: Scope = field(default_factory=Scope)
    events: tuple[Event, ...] = ()
    """The log of the run so far."""
    now: str = ""
    """The time, where the run has begun."""
    under_way: Mapping[Attempt | Propose, int] = field(default_factory=dict)
    """Steps that agents are at work on, and how long each has lasted."""


def prepared(task: Task, draws: Draws, jobs: int, without: Without = WHOLE) -> tuple[Simulation, Course]:
    """Return a run that is ready to be carried out, and what will hear of it."""
    clock, attended = VirtualClock(), draws.attended or bool(task.policy.closed)
    if task.events:
        clock.wall = ms_of(task.now or task.events[-1].timestamp)
    performer = DrawnPerformer(draws=draws, takes_unproven=task.policy.takes_unproven, without=without)
    person, course = Person(draws, clock, without, attended), Course(clock)
    run = Simulation(
        task.plan, jobs=jobs, performer=performer, limits=task.limits, policy=task.policy, clock=clock, attended=attended,
        answers=person.answer, wakes=person.wakes, listener=course.take, store=MemoryStore(task.events), scope=task.scope,
        engine_of=partial(DrawnEngine, task.under_way),
    )  # fmt: skip
    return run, course


def drawn(task: Task, draws: Draws, jobs: int, without: Without = WHOLE) -> Drawn:
    """Carry out one run."""
    run, course = prepared(task, draws, jobs, without)
    state = run.run()
    whole = state.phase is RunPhase.SUCCESS or is_finished(state)
    known = state.counted > 0
    limits = (one for event in reversed(run.store.log) if (one := event.context.get("limit")))
    return Drawn(
        ms=run.clock.now,
        micro_usd=state.cost_micro_usd if known and not state.unpriced else None,
        tokens=state.tokens if known and not state.unreported else None,
        reason=None if whole else state.reason or Reason.INTERRUPTED,
        course=course,
        limit=next(limits, "") if not whole else "",
        was_full=run.engine.was_full,
    )


@lean()
class Person:
    """Somebody who answers, after a time that is drawn. Where nobody ever did and no gate is closed, nobody does."""

    draws: Draws
    clock: VirtualClock
    without: Without
    attended: bool

    def _at(self, question: Question) -> int | None:
        """Return when a question is answered, by the virtual clock; None where it stays open."""
        if question.kind not in _SAYS or not self.attended:
            return None
        wait = 0 if self.without.people else self.draws.person(question.id)
        return ms_of(question.asked_at) - self.clock.wall + wait

    def answer(self, question: Question) -> str | None:
        at = self._at(question)
        return None if at is None or at > self.clock.now else _SAYS[question.kind]

    def wakes(self, state: RunState) -> int | None:
        times = [at for one in state.open_questions() if (at := self._at(one)) is not None]
        return min((at for at in times if at > self.clock.now), default=None)
