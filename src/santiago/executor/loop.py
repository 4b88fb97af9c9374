"""The loop: fold, decide, obey. Only the loop writes the log, and everything that it does follows from the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING

from santiago.contract.answers import Mailbox
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind, Fact
from santiago.contract.facts import of_run
from santiago.contract.fold import Fold
from santiago.contract.phases import ENDED, RunPhase, StoryPhase
from santiago.contract.plan import Plan, Story
from santiago.contract.policy import Limits, RunInput
from santiago.contract.ports.engine import Engine, Sign
from santiago.contract.ports.run import Clock
from santiago.contract.record import lean
from santiago.contract.state import RunState, StoryState
from santiago.contract.steps import (
    Adopt,
    Attempt,
    DetailRef,
    ExamineBase,
    Integrate,
    Order,
    Propose,
    Step,
    VerifyRun,
    WriteBack,
    story_of,
)
from santiago.executor import recover
from santiago.executor.agenda import Agenda
from santiago.executor.budget import TICK_MS, Budget
from santiago.executor.decide import next_acts, next_to_retire
from santiago.executor.letters import heard
from santiago.executor.scope import Scope
from santiago.executor.settle import dismiss, late, settle
from santiago.executor.situation import Act, Cancel, Situation

if TYPE_CHECKING:
    from santiago.contract.ports.artifacts import ArtifactStore


POLL_MS = 200
"""How often the loop looks for requests from outside while it waits."""


@lean()
class Urgency:
    """The wish to stop the whole run."""

    asked: bool = False
    signal: str = ""
    """The name of the signal that asked first; empty if it was not a signal."""
    at_once: bool = False
    detach: bool = False
    """What workers have goes on. Only what this process carries out is to stop."""


@lean(kw_only=True)
class Coordinator:
    """One run's only writer."""

    run_id: str
    plan: Plan
    run_input: RunInput
    fold: Fold
    store: ArtifactStore
    engine: Engine
    clock: Clock
    scope: Scope = field(default_factory=Scope)
    recovered: frozenset[str] = frozenset()
    landed: str | None = None
    actor: str = "santiago"
    """Who started the run. Signals are recorded as theirs."""
    attended: bool = False
    """Somebody answers questions while it runs."""
    mailbox: Mailbox | None = None
    """Where people leave what they ask from outside."""
    intact: Callable[[Sequence[DetailRef]], None] = lambda _: None
    """Raises if a detailed plan is not what the log says."""
    beat: Callable[[Sign], None] | None = None
    """Writes a sign of life from time to time."""
    listeners: list[Callable[[Sequence[Event], RunState], None]] = field(default_factory=list)
    urgency: Urgency = field(default_factory=Urgency)
    cancelled: set[str] = field(default_factory=set)
    """Steps under way that build on work which was voided since."""
    agenda: Agenda = field(init=False)
    """What is under way, and who has to be looked at for what comes next."""
    since: dict[str, int] = field(default_factory=dict)
    """Reading of the clock at which each step began."""
    heard_at: int = -POLL_MS
    mark: int = 0
    """Reading of the clock up to which execution time is recorded."""
    waited_ms: int = 0
    """Time of the current wait in which nothing was under way. It does not count as execution time."""
    unclaimed_ms: int = 0
    """How long all that is under way has been waiting for a worker. That is no execution time either."""

    def __post_init__(self) -> None:
        stories = {story.id: story for story in self.plan.stories}
        self.agenda = Agenda(self.fold.state, stories, self.run_input, self.scope)

    def attach(self) -> frozenset[str]:
        """Take up what workers have of an earlier start; return the stories. It comes before anything of that start is ended."""
        for order in self.engine.attach(recover.under_way(self.fold.state)):
            self._begin(order.step)
        return frozenset(self.agenda.steps)

    def _begin(self, step: Step) -> None:
        self.agenda.begin(step)
        self.since[step.id] = self.clock.monotonic_ms()

    def _end(self, step: str) -> Step | None:
        self.since.pop(step, None)
        return self.agenda.end(step)

    def run(self) -> RunState:
        """Work until the run ends, pauses, or is stopped; return its state."""
        try:
            return self._work()
        except BaseException:
            # A full disk, or an error of a step that is no outcome. Nothing may go on that cannot be recorded.
            self.engine.close()
            raise

    def _work(self) -> RunState:
        self.mark = self.clock.monotonic_ms()
        self.agenda.recovered = self.recovered
        self.fold.changed.update(self.fold.state.stories)
        while True:
            self._hear()
            acts = next_acts(self._situation())
            self._obey(acts)
            if not self.agenda.flying and self.fold.state.phase in (*ENDED, RunPhase.PAUSED):
                self._record_time()
                return self.fold.state
            if not any(isinstance(act, Fact) for act in acts):
                self._await_one()

    def _situation(self) -> Situation:
        self.agenda.follow(self.fold.changed)
        return Situation(
            agenda=self.agenda,
            capacity=self.engine.capacity(),
            reserved=self.engine.reserved(),
            judging=self.engine.judging(),
            now_ms=self._used_ms(self.clock.monotonic_ms()),
            utc=self.clock.utc(),
            attended=self.attended,
            waited_ms=self.waited_ms,
            unclaimed_ms=self.unclaimed_ms,
            landed=self.landed,
        )

    def _obey(self, acts: Sequence[Act]) -> None:
        """Record the facts, then begin the steps. So the log has an attempt before its agent runs.

        An attempt is not even recorded if the plan that a person approved for it was changed since.
        """
        for act in acts:
            if isinstance(act, Attempt):
                self.intact(details_of(act, self.fold.state))
        facts = [act for act in acts if isinstance(act, Fact)]
        self.record(facts)
        if any(fact.event is EventKind.WAIT_ENDED for fact in facts):
            self.waited_ms = 0
        for act in acts:
            if isinstance(act, Cancel):
                self._cancel(act.step)
            elif not isinstance(act, Fact):
                self._begin(act)
                told = order(act, self.fold.state, self.run_input.limits, self.store.anchor(), self.agenda.stories)
                self.engine.submit(told)

    def _cancel(self, step: str) -> None:
        self.cancelled.add(step)
        self.engine.stop(step, now=True)

    def _await_one(self) -> None:
        """Wait for a step to finish, and record its outcome. Look for requests from outside meanwhile."""
        began, idle, unclaimed = self.clock.monotonic_ms(), not self.agenda.flying, self._is_unclaimed()
        finished = self.engine.wait(POLL_MS)
        passed = self.clock.monotonic_ms() - began
        if idle:  # waiting for the agent's service, or for a person, is no execution time
            self.waited_ms += passed if self.fold.state.wait_until else 0
            self.mark += passed
        elif unclaimed:  # nor is waiting for a worker
            self.mark += passed
        self.unclaimed_ms = self.unclaimed_ms + passed if unclaimed and finished is None else 0
        if self.clock.monotonic_ms() - self.mark >= TICK_MS:
            self._record_time()
        if finished is None:
            return
        step, outcome = finished
        if self._end(step.id) is None:
            return  # a second report on the same step
        if isinstance(outcome, BaseException):
            self._fail(step, outcome)
            return
        dropped = step.id in self.cancelled
        self.cancelled.discard(step.id)
        self.record(dismiss(self.fold.state, outcome) if dropped else settle(self.fold.state, outcome))

    def _is_unclaimed(self) -> bool:
        """Tell whether all that is under way waits for a worker."""
        flying, known = self.agenda.flying, self.engine.known()
        return bool(flying) and all(
            (one := known.get(step)) and not one.claimed_by and one.ended is None for step in flying
        )

    def _fail(self, step: Step, error: BaseException) -> None:
        """Note that a step failed, and raise. If it failed in the same way in an earlier start, its attempt ends instead."""
        story = self.fold.state.stories.get(story_of(step) or "")
        if not isinstance(step, Attempt | Adopt) or not isinstance(error, Exception) or story is None:
            raise error
        if not recover.has_failed_so(story, error):
            with suppress(SantiagoError):  # the disk may be what failed
                self.record(recover.failed(story, error))
            raise error
        self.record([recover.end(story, recover.given_up(error))])

    def _hear(self) -> None:
        """Take up requests from outside, and requests to stop."""
        now = self.clock.monotonic_ms()
        if now - self.heard_at >= POLL_MS:
            self.heard_at = now
            if self.beat is not None:
                steps = {name: now - at for name, at in self.since.items()}
                workers = {name: known.sign for name, known in self.engine.known().items()}
                self.beat(Sign(used_ms=self._used_ms(now), steps=steps, workers=workers))
            self._hear_outside()
            state = self.fold.state
            self.record([fact for step, usage in self.engine.late().items() for fact in late(state, step, usage)])
        if self.urgency.asked and not self.fold.state.stop_requested:
            self.record([of_run(EventKind.STOP_REQUESTED, actor=self.actor, message=self.urgency.signal)])
        if self.urgency.detach and not self.urgency.at_once:
            for step in self.engine.detach():
                self._end(step)
        if self.fold.state.stop_requested or self.urgency.at_once:
            for step in self.agenda.flying:
                self.engine.stop(step, now=self.urgency.at_once)

    def _hear_outside(self) -> None:
        if self.mailbox is None or not (letters := self.mailbox.collect()):
            return
        # Requests about work that is being put onto the branch, or is next, wait until that is over.
        self.agenda.follow(self.fold.changed)
        following = next_to_retire(self.fold.state, self.agenda.of("improved"))
        found = heard(letters, self.fold.state, {following.id} if following else ())
        self.record(found.facts)
        if read := [letter for letter in letters if letter.name not in found.later]:
            self.mailbox.put_away(read, found.void)
        self.urgency.asked = self.urgency.asked or found.stop is not None
        self.urgency.at_once = self.urgency.at_once or found.stop == "now"
        self.urgency.detach = self.urgency.detach or found.stop == "detach"
        for step in [step for name in found.changed for step in self.agenda.steps.get(name, ())]:
            self._cancel(step)

    def _used_ms(self, now: int) -> int:
        """Return the run's execution time up to this reading of the clock."""
        return self.fold.state.used_ms + now - self.mark

    def _record_time(self) -> None:
        now = self.clock.monotonic_ms()
        passed, self.mark = now - self.mark, now
        self.record([of_run(EventKind.TIME_USED, ms=passed)])

    def record(self, facts: Sequence[Fact]) -> None:
        """Append facts to the log. Only when they are on disk do they become part of the state."""
        if not facts:
            return
        state, timestamp = self.fold.state, self.clock.utc()
        events = [
            Event(
                seq=state.seq + number,
                timestamp=timestamp,
                run_id=self.run_id,
                event=fact.event,
                story_id=fact.story,
                chunk=fact.chunk,
                phase=fact.phase,
                attempt=fact.attempt,
                status=fact.status,
                actor=fact.actor,
                context=fact.context,
            )
            for number, fact in enumerate(facts, 1)
        ]
        self.store.append(events)
        for event in events:
            self.fold.apply(event)
        for listener in self.listeners:
            listener(events, self.fold.state)


def order(step: Step, state: RunState, limits: Limits, anchor: str, stories: Mapping[str, Story]) -> Order:
    """Return the order of a step; `anchor` is where the log stands."""
    story = state.stories.get(story_of(step) or "") or StoryState(id="", index=0, chunk="", unmet=0)
    planned = stories.get(story.parent or story.id)
    budget, others = Budget(limits, state), max(0, len(state.running) - 1)
    concerns = _CONCERNS.get(type(step))
    return Order(
        step=step,
        run_id=state.run_id,
        head=state.head or "",
        base=story.base or state.head or "",
        began=state.base or "",
        anchor=anchor,
        notes=_notes(story),
        tokens=budget.tokens.left(others) if budget.tokens else None,
        micro_usd=budget.money.left(others) if budget.money else None,
        tests_by=story.tests_by if story.on_tests else 0,
        stories=tuple((one.id, one.attempts) for one in filter(concerns, state.stories.values())) if concerns else (),
        parent=story.parent,
        details=details_of(step, state),
        findings=story.detail.findings if story.sent_back and story.detail else (),
        before=story.before,
        parts=bool(story.parts),
        kept=bool(story.kept),
        epoch=state.epoch,
        pool=planned.pool if planned and state.engine else "",
        red=state.red,
        ahead=story.ahead if isinstance(step, Integrate) else None,
    )


def _notes(story: StoryState) -> tuple[str, ...]:
    """Return what people said about the story, and how to get the work that they mean."""
    if not (story.adjusting and story.seen) or story.parts:
        return story.notes
    where = f"There is work on this already: `git checkout {story.seen} -- .` brings it into this folder."
    return (*story.notes, f"{where} Begin with that, and change what was asked for.")


def details_of(step: Step, state: RunState) -> tuple[DetailRef, ...]:
    """Return the detailed plans that a step needs: those that a person approved, or the previous proposal."""
    story = state.stories.get(story_of(step) or "")
    if story is not None:
        owner = state.stories[story.parent] if story.parent else story
        wanted = [owner] if isinstance(step, Propose) or (owner.detail and owner.detail.approved) else []
    else:
        wanted = [one for one in state.stories.values() if one.detail and one.detail.approved]
    return tuple(
        DetailRef(story=one.id, revision=one.detail.revision, digest=one.detail.digest)
        for one in wanted
        if one.detail and one.detail.digest
    )


_CONCERNS: Mapping[type, Callable[[StoryState], object]] = {
    ExamineBase: lambda story: not story.satisfied,
    VerifyRun: lambda story: story.phase is StoryPhase.DONE or story.integrated,
    WriteBack: lambda story: story.phase is StoryPhase.DONE,
}
"""Steps about the run, each with whether it concerns a story: one that is left, or one that is done."""
