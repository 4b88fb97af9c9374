"""The real core on simulated ports: a virtual clock, an engine of events, agents that are functions of their seed."""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from santiago.contract.answers import Letter
from santiago.contract.events import Event, EventKind, Fact
from santiago.contract.fold import Fold, fold_all
from santiago.contract.moments import ms_of, text_of
from santiago.contract.outcomes import (
    AgentEnding,
    AheadOutcome,
    AttemptOutcome,
    BaseExamined,
    ClaimOutcome,
    IntegrationOutcome,
    Outcome,
    Proof,
    ProposalOutcome,
    RunVerdict,
    Usage,
    Verdict,
)  # fmt: skip
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy, RunInput
from santiago.contract.ports.engine import Sign, WithoutWorkers
from santiago.contract.ports.run import Performer, Stop
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.state import Question, RunState, initial
from santiago.contract.steps import (
    Adopt,
    Ahead,
    Attempt,
    ExamineBase,
    Integrate,
    JudgeClaim,
    Order,
    Propose,
    Step,
    VerifyAhead,
    VerifyRun,
)
from santiago.executor import recover
from santiago.executor.loop import Coordinator, Urgency
from santiago.executor.recover import Left, interruptions
from santiago.executor.reopen import Grants, reopening
from santiago.executor.schedule import followed
from santiago.executor.scope import Scope

Tree = int
"""Stands for the works that a commit holds: equal for equal works, in whatever order they came."""
DONE = AgentEnding(reason=None, exit_code=0, message="", usage=Usage(tokens=1))
BEGIN = ms_of("2026-01-01T00:00:00Z")


class VirtualClock:
    def __init__(self) -> None:
        self.now = 0
        self.wall = BEGIN
        """What the wall clock shows when `now` is 0; a laptop's sleep or a changed clock moves it."""
        self.shown = (BEGIN, text_of(BEGIN))

    def monotonic_ms(self) -> int:
        return self.now

    def utc(self) -> str:
        if (ms := self.wall + self.now) != self.shown[0]:
            self.shown = (ms, text_of(ms))
        return self.shown[1]


class EventEngine(WithoutWorkers):
    """Steps end when the virtual clock reaches their end; waiting moves the clock."""

    def __init__(self, jobs: int, clock: VirtualClock, duration: Callable[[Step], int], performer: Performer) -> None:
        self.jobs, self.clock, self.duration, self.performer = jobs, clock, duration, performer
        self.heap: list[tuple[int, int, Order]] = []
        self.count = 0
        self.alarm: Callable[[], int | None] = lambda: None
        """When the coordinator would look up again, by its own polling, before a step ends."""
        self.idle: list[int] = []
        """When it was asked to wait although nothing was under way."""
        self.was_full = False
        """Whether all jobs were at work at once."""

    def capacity(self) -> int:
        return self.jobs - len(self.heap)

    def submit(self, order: Order) -> None:
        self.count += 1
        heapq.heappush(self.heap, (self.clock.now + self.lasts(order), self.count, order))
        self.was_full = self.was_full or len(self.heap) >= self.jobs

    def lasts(self, order: Order) -> int:
        is_known = isinstance(self.performer, SimulatedPerformer) and self.performer.is_known(order)
        return 0 if is_known else self.duration(order.step)

    def stop(self, step: str, *, now: bool) -> None:
        """A step that is to end now does so, as a killed agent does."""
        if now:
            self.hurry([order for _, _, order in self.heap if order.id == step])

    def hurry(self, orders: Collection[Order]) -> None:
        """Let some orders end now."""
        self.heap = [(self.clock.now if order in orders else end, at, order) for end, at, order in self.heap]
        heapq.heapify(self.heap)

    def wait(self, timeout_ms: int) -> tuple[Step, Outcome | BaseException] | None:
        alarm = self.alarm()
        if not self.heap or (alarm is not None and alarm < self.heap[0][0]):
            if not self.heap:
                self.idle.append(self.clock.now)
            self.clock.now = max(self.clock.now + timeout_ms, alarm or 0)
            return None
        end, _, order = heapq.heappop(self.heap)
        self.clock.now = max(self.clock.now, end)
        return order.step, self.performer.perform(order, Unhurried())

    def close(self) -> None:
        self.heap.clear()


class Unhurried:
    """Nobody wants a step to stop."""

    def soon(self) -> bool:
        return False

    def now(self) -> bool:
        return False


class MemoryStore:
    def __init__(self, log: Iterable[Event] = ()) -> None:
        self.log = list(log)

    def events(self) -> Iterable[Event]:
        return list(self.log)

    def append(self, events: Sequence[Event]) -> None:
        self.log += events

    def anchor(self) -> str:
        return f"{len(self.log)}:0"

    def put(self, path: str, content: bytes) -> None: ...

    def get(self, path: str) -> bytes | None:
        return None


@lean(slots=False, eq=False)
class SimulatedPerformer:
    """Agents whose outcome depends only on story and attempt, second verdicts only on trees; integration may conflict by a table."""

    fails: Callable[[str, int], Reason | None] = lambda story, attempt: None
    waits: Callable[[str, int], int | None] = lambda story, attempt: None
    """Seconds that a refusal says it lasts."""
    base: Reason | None = None
    """What stands in the way of a verdict on the base."""
    uses: Callable[[str, int], Usage] = lambda story, attempt: Usage(tokens=10)
    kept: set[str] = field(default_factory=set)
    """Steps that were begun."""
    conflicts: dict[str, int] = field(default_factory=dict)
    second: Callable[[str, Tree], bool] = lambda story, after: True
    """Whether a story's checks pass on a tree with the work of others."""
    trees: dict[str, Tree] = field(default_factory=dict)
    """What each head of the branch holds."""
    unfit: set[str] = field(default_factory=set)
    """Commits that do not fit the run's head any more."""
    heads: int = 0
    proposes: Callable[[Propose], ProposalOutcome] = lambda step: ProposalOutcome(
        step=step.id, story=step.story, number=step.number, ending=DONE, digest="d" * 64
    )
    proposed: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    """Story, number and what people said, of each proposal that was asked for."""
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def perform(self, order: Order, stop: Stop) -> Outcome:
        match step := order.step:
            case Attempt():
                assert step.id not in self.kept, f"{step.id} was begun twice"
                self.kept.add(step.id)
                self.bases[step.id] = step.base
                return self._attempt(step)
            case Integrate():
                return self._integrate(order)
            case VerifyAhead():
                return self._verify_ahead(step, order)
            case JudgeClaim():
                return ClaimOutcome(step=step.id, story=step.story, commit="claimed", verdict=PASSED)
            case ExamineBase():
                return BaseExamined(step=step.id, reason=self.base, message="as it is")
            case VerifyRun():
                return RunVerdict(step=step.id, verdict=PASSED)
            case Propose():
                self.proposed.append((step.story, step.number, order.notes))
                return self.proposes(step)
            case Adopt():
                return self._ended(step)
            case _:
                raise AssertionError(step)

    def _attempt(self, step: Attempt) -> AttemptOutcome:
        if step.base[-1] in self.unfit:
            return AttemptOutcome(
                step=step.id, story=step.story, number=step.number, status="voided",
                reason=Reason.WORKSPACE_CONFLICT, commit=None, verdict=None, ending=None,
            )  # fmt: skip
        return self._ended(step)

    def _ended(self, step: Attempt | Adopt) -> AttemptOutcome:
        name, number = step.story, step.number
        reason = self.fails(name, number)
        ending = AgentEnding(
            reason=reason,
            exit_code=0,
            message="so it is",
            usage=self.uses(name, number),
            wait_seconds=self.waits(name, number),
            remedy="agent login" if reason is Reason.AGENT_NOT_SIGNED_IN else "",
            question="why?" if reason is Reason.AGENT_ASKED else None,
        )
        return AttemptOutcome(
            step=step.id, story=name, number=number, status="failed" if reason else "ok", reason=reason,
            commit=f"{name}/{number}", verdict=None if reason else WRITTEN if step.tests else PASSED, ending=ending, agent_ms=10,
            tests=f"{name}/{number}-tests" if step.tests and not reason else None,
        )  # fmt: skip

    def known(self, order: Order) -> Ahead | None:
        """Return the verdict that was given ahead, if it holds at the story's turn."""
        assert isinstance(order.step, Integrate)
        if order.ahead is None or not order.ahead.passed:
            return None
        return order.known_by(_key(order.step, *self._around(order)))

    def is_known(self, order: Order) -> bool:
        """Tell whether a second verdict takes no check: it was given ahead, or its tree is the one that the story was judged on."""
        step = order.step
        if not isinstance(step, Integrate | VerifyAhead):
            return False
        is_own = self._is_own(step, self._around(order)[1])
        return is_own or (isinstance(step, Integrate) and self.known(order) is not None)

    def _is_own(self, step: Integrate | VerifyAhead, after: Tree) -> bool:
        base = self.bases.get(f"attempt/{step.story}/{step.attempt}")
        return base is None or self.tree((*base, f"{step.story}/{step.attempt}")) == after

    def _around(self, order: Order) -> tuple[Tree, Tree]:
        """Return the trees before and after the work of a story."""
        step = order.step
        assert isinstance(step, Integrate | VerifyAhead)
        own = (f"{step.story}/{order.tests_by}-tests",) if order.tests_by else ()
        onto = step.onto if isinstance(step, VerifyAhead) else (order.head, *own, step.commit)
        return self.tree(onto[: -1 - len(own)]), self.tree(onto)

    def tree(self, onto: Sequence[str]) -> Tree:
        """Return the tree of a head of the branch with works put onto it."""
        head, *works = onto
        return self.trees.get(head, _number(head)) + sum(map(_number, works))

    def _passes(self, step: Integrate | VerifyAhead, after: Tree) -> bool:
        fits = self.conflicts.get(step.story, 0) == 0
        return fits and (self._is_own(step, after) or self.second(step.story, after))

    def _verify_ahead(self, step: VerifyAhead, order: Order) -> AheadOutcome:
        before, after = self._around(order)
        passed, key = self._passes(step, after), _key(step, before, after)
        found = Ahead(step=step.id, onto=step.onto, passed=passed, key=key, digest="e" * 64)
        return AheadOutcome(story=step.story, attempt=step.attempt, ahead=found)

    def _integrate(self, order: Order) -> IntegrationOutcome:
        step, known, (_, after) = order.step, self.known(order), self._around(order)
        assert isinstance(step, Integrate)
        if known is None and not self._passes(step, after):
            self.conflicts[step.story] = max(0, self.conflicts.get(step.story, 0) - 1)
            return IntegrationOutcome(step=step.id, story=step.story, head=None, reason=Reason.WORKSPACE_CONFLICT)
        self.heads += 1
        head, ahead = f"head{self.heads}", known.step if known else ""
        self.trees[head] = after
        return IntegrationOutcome(step=step.id, story=step.story, head=head, commit=step.commit, ahead=ahead)


def _key(step: Integrate | VerifyAhead, before: Tree, after: Tree) -> str:
    return repr((step.story, step.attempt, before, after))


@cache
def _number(commit: str) -> int:
    return int.from_bytes(sha256(commit.encode()).digest()[:8], "big")


PASSED = Verdict(passed=True, proof=Proof.PROVED, reason=None, results=())
WRITTEN = Verdict(passed=True, proof=None, reason=None, results=(), awaiting=("test_it",))


@lean(slots=False, eq=False)
class Simulation:
    """One run of a plan; `run` may be called again on the same log, as a resume is."""

    plan: Plan
    jobs: int = 1
    duration: Callable[[Step], int] = lambda step: 1000 if isinstance(step, Attempt) else 0
    performer: SimulatedPerformer = field(default_factory=SimulatedPerformer)
    limits: Limits = field(default_factory=lambda: Limits(run_max_attempts=10_000, run_timeout_minutes=Minutes.of(1e6)))
    policy: Policy = field(default_factory=Policy)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: VirtualClock = field(default_factory=VirtualClock)
    scope: Scope = field(default_factory=Scope)
    heard: Callable[[RunState, int], Literal["soon", "now"] | None] = lambda state, now: None
    """Whether people stop the run, by state and time."""
    letters: Callable[[RunState], list[Letter]] = lambda state: []
    """What else people write to the run."""
    answers: Callable[[Question], str | None] = lambda question: None
    """What a person says to an open question; nothing yet."""
    attended: bool = False
    recovered: frozenset[str] = frozenset()
    """Stories whose agents had ended when an earlier start died: only their verdicts are missing."""
    landed: str | None = None
    """The story whose work an earlier start put on the branch without recording it."""
    beat: Callable[[Sign], None] | None = None
    wakes: Callable[[RunState], int | None] = lambda state: None
    """When something happens that no step brings, such as a person's answer; None where nothing is coming."""
    polls: bool = False
    """Whether each look of an idle coordinator is carried out; otherwise the clock jumps to the end of a wait."""
    engine_of: Callable[[int, VirtualClock, Callable[[Step], int], Performer], EventEngine] = EventEngine
    url: str = ""
    """What the log calls the engine, where it has workers."""
    listener: Callable[[Sequence[Event], RunState], None] = lambda events, state: None
    """Hears of events when they are recorded."""
    engine: EventEngine = field(init=False)
    loop: Coordinator = field(init=False)

    def run(self, grants: Grants | None = None) -> RunState:
        run_input = RunInput(contract_version=1, repo_path="/r", prd_path="p", limits=self.limits, policy=self.policy)
        fold = Fold(initial(self.plan, followed(self.plan, optimistic=self.policy.optimistic)))
        for event in self.store.log:
            fold.apply(event)
        self.engine = self.engine_of(self.jobs, self.clock, self.duration, self.performer)
        self.engine.alarm = lambda: self._alarm(fold.state)
        urgency = Urgency()
        self.loop = loop = Coordinator(
            run_id="run-1", plan=self.plan, run_input=run_input, fold=fold, store=self.store, engine=self.engine,
            clock=self.clock, scope=self.scope, attended=self.attended, urgency=urgency,
            mailbox=Mail(self, fold, urgency), beat=self.beat, landed=self.landed, recovered=self.recovered,
            listeners=[self.listener],
        )  # fmt: skip
        started = Fact(event=EventKind.RUN_STARTED, context={"engine": self.url} if self.url else {})
        if not self.store.log:
            loop.record([Fact(event=EventKind.RUN_CREATED, phase=RunPhase.CREATED, context={"head": "head0"})])
            loop.record([started] if self.url else [])
            return loop.run()
        attached = loop.attach()
        if self.url:  # what workers do not have was never begun
            left = dict.fromkeys(fold.state.running, Left(begun=False))
            unwritten = recover.unwritten(fold.state, lambda _, __: False, None, attached)
            loop.record([*interruptions(fold.state, left, attached), *unwritten])
        loop.record([started, *reopening(fold.state, self.limits, grants or Grants(), None)])
        return loop.run()

    def _alarm(self, state: RunState) -> int | None:
        waits = ms_of(state.wait_until) - self.clock.wall if state.wait_until and not self.polls else None
        return min((at for at in (waits, self.wakes(state)) if at is not None), default=None)

    def interrupt(self, left: Mapping[str, Left] | None = None) -> None:
        """Record what a start after a crash records first: attempts that were running are interrupted, and count."""
        state = fold_all(self.plan, self.store.log)
        ends = [*interruptions(state, left or {}), *recover.unwritten(state, lambda _, __: True, None)]
        for seq, fact in enumerate(ends, state.seq + 1):
            same = {"event": fact.event, "chunk": fact.chunk, "phase": fact.phase, "attempt": fact.attempt}
            told: Any = {**same, "story_id": fact.story, "status": fact.status, "context": fact.context}
            self.store.log.append(Event(seq=seq, timestamp="2026-01-01T00:00:00Z", run_id="run-1", **told))

    def done(self) -> list[str]:
        return [event.story_id or "" for event in self.store.log if event.event is EventKind.STORY_DONE]

    def of(self, *kinds: EventKind) -> list[Event]:
        return [event for event in self.store.log if event.event in kinds]


def letter(question: Question, words: str) -> Letter:
    """Return what somebody writes: a word, and behind a colon what is said beside it; `--rest chunk` for more of the same."""
    words, _, scope = words.partition(" --rest ")
    word, _, text = words.partition(": ")
    return Letter(kind="answer", subject=question.id, answer=word, text=text, scope=scope, actor="ann")


@lean(slots=False, eq=False)
class Mail:
    """What people say as soon as they are asked, and when they want the run to stop."""

    simulation: Simulation
    fold: Fold
    urgency: Urgency

    def collect(self) -> list[Letter]:
        state = self.fold.state
        stop = self.simulation.heard(state, self.simulation.clock.now)
        self.urgency.asked, self.urgency.at_once = (
            self.urgency.asked or bool(stop),
            self.urgency.at_once or stop == "now",
        )
        said = [(one, self.simulation.answers(one)) for one in state.open_questions()]
        return [letter(one, words) for one, words in said if words is not None] + self.simulation.letters(state)

    def put_away(self, letters: Sequence[Letter], void: Collection[str]) -> None: ...
