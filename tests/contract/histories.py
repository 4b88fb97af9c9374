"""Small plans, and logs of events about them as a coordinator would write them."""

from collections.abc import Iterable
from typing import Any, cast

from hypothesis import strategies as st

from santiago.contract.events import Context, Event, EventKind, EventStatus, Fact
from santiago.contract.fold import Fold
from santiago.contract.phases import RunPhase, SessionPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.state import RunState, StoryState, initial
from santiago.simulation.random_plans import plan_of as plan_with
from santiago.simulation.random_plans import story_of


def plan_of(**needs: str) -> Plan:
    """Return a plan of stories in this order: `S2="S1 S3"` depends on two, `S2="C02: S1"` is in chunk C02."""
    rows = [(name, *text.rpartition(":")) for name, text in needs.items()]
    return plan_with([story_of(name, label or "C01", others.split()) for name, label, _, others in rows])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Up to six stories in up to three chunks; each depends on some of those before it."""
    names = [f"S{number}" for number in range(1, draw(st.integers(1, 6)) + 1)]
    labels = sorted(draw(st.lists(st.sampled_from(["C01", "C02", "C03"]), min_size=len(names), max_size=len(names))))
    rows = {}
    for index, name in enumerate(names):
        needs = draw(st.lists(st.sampled_from(names[:index]), unique=True, max_size=3)) if index else []
        rows[name] = f"{labels[index]}: {' '.join(needs)}"
    return plan_of(**rows)


class Journal:
    """A log under construction, folded in place as it grows."""

    def __init__(self, plan: Plan, followed: dict[str, tuple[str, ...]] | None = None, *, started: bool = True) -> None:
        self.plan = plan
        self.events: list[Event] = []
        self.fold = Fold(initial(plan, followed))
        if started:
            for chunk in plan.chunks:
                self.add(EventKind.CHUNK_STARTED, chunk=chunk.label)

    @property
    def state(self) -> RunState:
        return self.fold.state

    def __getitem__(self, story: str) -> StoryState:
        return self.state.stories[story]

    @property
    def ready(self) -> list[str]:
        return [story.id for story in self.state.ready_stories()]

    def event(
        self,
        kind: EventKind,
        /,
        story: str | None = None,
        phase: StoryPhase | RunPhase | SessionPhase | None = None,
        *,
        chunk: str | None = None,
        status: EventStatus | None = None,
        **context: Any,
    ) -> Event:
        """Return what would be recorded next."""
        return Event(
            seq=len(self.events) + 1,
            timestamp="2026-01-01T00:00:00Z",
            run_id="run-1",
            event=kind,
            story_id=story,
            chunk=chunk,
            phase=phase,
            status=status,
            context=cast("Context", context),
        )

    def take(self, event: Event) -> None:
        self.fold.apply(event)
        self.events.append(event)

    def add(
        self,
        kind: EventKind,
        /,
        story: str | None = None,
        phase: StoryPhase | RunPhase | SessionPhase | None = None,
        *,
        chunk: str | None = None,
        status: EventStatus | None = None,
        **context: Any,
    ) -> None:
        self.take(self.event(kind, story, phase, chunk=chunk, status=status, **context))

    def record(self, facts: Iterable[Fact]) -> None:
        """Take what a decision came to, as the coordinator would write it."""
        for fact in facts:
            self.add(fact.event, fact.story, fact.phase, chunk=fact.chunk, status=fact.status, **fact.context)

    def move(self, story: str, *phases: StoryPhase) -> None:
        """Lead a story through these phases, each with the event that belongs to the move."""
        for phase in phases:
            self.add(kind_of(self[story], phase), story, phase)


WAYS = {
    StoryPhase.PLANNED: (),
    StoryPhase.READY: (),
    StoryPhase.PROPOSED: (StoryPhase.PROPOSED,),
    StoryPhase.RUNNING: (StoryPhase.RUNNING,),
    StoryPhase.EVIDENCE_COLLECTED: (StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED),
    StoryPhase.VERIFIED: (StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED),
    StoryPhase.DONE: (StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED, StoryPhase.DONE),
    StoryPhase.FAILED: (StoryPhase.FAILED,),
    StoryPhase.BLOCKED: (StoryPhase.BLOCKED,),
}
"""How a story that is ready comes into each phase; a planned one waits for another."""

HAPPY = {
    StoryPhase.READY: StoryPhase.RUNNING,
    StoryPhase.PROPOSED: StoryPhase.RUNNING,
    StoryPhase.RUNNING: StoryPhase.EVIDENCE_COLLECTED,
    StoryPhase.EVIDENCE_COLLECTED: StoryPhase.VERIFIED,
    StoryPhase.VERIFIED: StoryPhase.DONE,
}
"""The way of a story that succeeds."""

_ENTERED_BY = {
    StoryPhase.PROPOSED: EventKind.STORY_PROPOSED,
    StoryPhase.RUNNING: EventKind.ATTEMPT_STARTED,
    StoryPhase.VERIFIED: EventKind.STORY_VERIFIED,
    StoryPhase.DONE: EventKind.STORY_DONE,
    StoryPhase.FAILED: EventKind.STORY_FAILED,
    StoryPhase.BLOCKED: EventKind.STORY_BLOCKED,
}


def kind_of(story: StoryState, phase: StoryPhase) -> EventKind:
    """Return the event that leads a story from where it is to this phase."""
    if phase in _ENTERED_BY:
        return _ENTERED_BY[phase]
    if story.phase is StoryPhase.RUNNING:
        return EventKind.ATTEMPT_ENDED
    if phase is StoryPhase.EVIDENCE_COLLECTED:
        return EventKind.CLAIM_JUDGED
    if story.phase is StoryPhase.VERIFIED and story.counted:
        return EventKind.ATTEMPT_VOIDED
    return EventKind.STORY_REOPENED
