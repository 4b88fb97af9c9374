"""Which stories a decision has to look at: an index of the state that follows the events, so that deciding costs what changed.

It holds no truth. Its sets follow from the state, from the steps under way, and from what stays the same for a whole start.
An index made anew is the same, which a test holds after every event. A set says who is looked at; `decide` says what happens.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field

from santiago.contract.outcomes import Proof
from santiago.contract.phases import StoryPhase
from santiago.contract.plan import Story
from santiago.contract.policy import Gate, RunInput
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.contract.state import RunState, StoryState
from santiago.contract.steps import Adopt, Attempt, Integrate, Step, VerifyAhead, story_of
from santiago.executor.budget import MAX_UNCOUNTED, Budget
from santiago.executor.scope import Scope

PROVEN = (Proof.PROVED, Proof.OWN_TESTS)


@lean()
class InOrder:
    """Stories in plan order, by their positions, negated: the first is the last, so that taking it out is cheap."""

    places: list[int] = field(default_factory=list)
    of: dict[str, int] = field(default_factory=dict)

    def put(self, story: StoryState, *, belongs: bool) -> None:
        old, new = self.of.get(story.id), -story.index if belongs else None
        if old == new:
            return
        if old is not None:
            del self.places[bisect_left(self.places, old)], self.of[story.id]
        if new is not None:
            insort(self.places, new)
            self.of[story.id] = new


@lean(eq=False)
class Agenda:
    """It is told which stories changed and which steps began or ended, and looks again only at these."""

    state: RunState
    stories: Mapping[str, Story]
    """The plan's, by id."""
    run_input: RunInput
    scope: Scope
    recovered: Collection[str] = frozenset()
    """Running stories of an earlier start whose agent had ended: their work waits for a verdict."""
    flying: dict[str, Step] = field(default_factory=dict)
    """Steps that are being carried out, by id."""
    steps: dict[str, set[str]] = field(default_factory=dict)
    """Story → those that are about it."""
    agents: int = 0
    """How many of them have an agent, or the work of one to judge."""
    integrating: int = 0
    ahead: dict[str, VerifyAhead] = field(default_factory=dict)
    """Verifications ahead that are under way, by id. They hold up nothing that happens to their stories."""
    touched: set[str] = field(default_factory=set)
    """Stories whose steps began or ended since it last looked."""
    sets: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in RULES})
    within: dict[str, list[str]] = field(default_factory=dict)
    """Story → the sets that it is in."""
    ready: dict[str, InOrder] = field(init=False)
    """Stories that may begin, or that rest instead, by the pool of workers that they need."""
    free: set[str] = field(default_factory=set)
    """Ready stories that no step is about."""
    special: InOrder = field(default_factory=InOrder)
    """Those of them to which something else than an attempt may happen."""

    def __post_init__(self) -> None:
        self.ready = {story.pool: InOrder() for story in self.stories.values()}

    def of(self, name: str) -> list[StoryState]:
        """Return the stories of one set, in plan order."""
        found = self.sets[name]
        return self.state.in_order(found) if found else []

    def follow(self, changed: set[str]) -> None:
        """Look at the stories that changed, and at those that share a budget with them. Empties the set."""
        if not changed and not self.touched:
            return
        for story in map(self.state.stories.__getitem__, changed | self.touched):
            for one in self.state.family(story):
                self._look(one)
        changed.clear()
        self.touched.clear()

    def begin(self, step: Step) -> None:
        self.flying[step.id] = step
        self._count(step, 1)
        if isinstance(step, VerifyAhead):
            self.ahead[step.id] = step
        elif (name := story_of(step)) is not None:
            self.steps.setdefault(name, set()).add(step.id)
            self._touch(name)

    def end(self, step: str) -> Step | None:
        """Take a step out; return None if it is not under way."""
        ended = self.flying.pop(step, None)
        if ended is not None:
            self._count(ended, -1)
            if self.ahead.pop(step, None) is None and (name := story_of(ended)) is not None:
                self.steps[name].discard(step)
                if not self.steps[name]:
                    del self.steps[name]
                self._touch(name)
        return ended

    def _touch(self, name: str) -> None:
        """Note that a story's steps changed. They matter to what may begin, and to what an earlier start left."""
        if self.state.stories[name].phase in (StoryPhase.READY, StoryPhase.RUNNING):
            self.touched.add(name)

    def _count(self, step: Step, by: int) -> None:
        self.agents += by * isinstance(step, Attempt | Adopt)
        self.integrating += by * isinstance(step, Integrate)

    def in_order(self, full: Collection[str]) -> Iterator[StoryState]:
        """Yield the stories that may begin, or that rest instead, without those of pools that are found to be full meanwhile."""
        left = {pool: reversed(row.places) for pool, row in self.ready.items()}
        firsts = {pool: place for pool, row in left.items() if (place := next(row, None)) is not None}
        while firsts:
            pool = max(firsts, key=firsts.__getitem__)
            yield self._at(firsts[pool])
            after = None if pool in full else next(left[pool], None)
            firsts = {**firsts, pool: after} if after is not None else {k: v for k, v in firsts.items() if k != pool}

    @property
    def any_ready(self) -> bool:
        return any(row.places for row in self.ready.values())

    def pool_of(self, story: StoryState) -> str:
        return self.stories[story.parent or story.id].pool

    def special_after(self, story: StoryState) -> Iterator[StoryState]:
        """Yield the later ones to which something else than an attempt may happen."""
        places = self.special.places[: bisect_left(self.special.places, -story.index)]
        return map(self._at, reversed(places))

    def _at(self, place: int) -> StoryState:
        return self.state.stories[self.state.order[-place]]

    # The rules

    def _look(self, story: StoryState) -> None:
        name, now = story.id, list[str]()
        for rule, belongs in _IN[story.phase]:
            if belongs(self, story):
                now.append(rule)
        if now != (was := self.within.get(name, _NONE)):
            for rule in was:
                self.sets[rule].discard(name)
            for rule in now:
                self.sets[rule].add(name)
            self.within[name] = now
        free = story.phase is StoryPhase.READY and not story.aside and name not in self.steps
        if not free and name not in self.free:
            return
        (self.free.add if free else self.free.discard)(name)
        allowed = free and self.scope.allows(story)
        begins = allowed or (free and self.may_be_set_aside(story))
        self.ready[self.pool_of(story)].put(story, belongs=begins)
        self.special.put(story, belongs=begins and not (allowed and self._is_plain(story)))

    def _is_plain(self, story: StoryState) -> bool:
        """Tell whether nothing but an attempt can happen to it, as long as the run has room."""
        return (
            not (story.parts or self.lacks_external(story) or self.may_be_there(story))
            and story.uncounted < MAX_UNCOUNTED
            and self.budget.story_exhausted(story) is None
        )

    @property
    def budget(self) -> Budget:
        unknown = self.run_input.policy.unknown_usage == "allow"
        return Budget(self.run_input.limits, self.state, unknown_allowed=unknown)

    def may_be_set_aside(self, story: StoryState) -> bool:
        """Tell whether a story that may not begin is judged or rests, since its ticket is blocked or has no attempt left."""
        if self.scope.claims is None:
            return False
        unchanged = story.id in self.scope.claims and story.reason is Reason.AGENT_NO_CHANGE and not story.judged
        return unchanged or story.id in self.scope.blocked or self.budget.story_exhausted(story) is not None

    def lacks_external(self, story: StoryState) -> bool:
        """Tell whether a story needs something outside the document that nobody has said is there."""
        planned = self.stories[story.parent or story.id]
        served = bool(self.state.engine and planned.pool)
        return bool(planned.external_depends_on) and not served and not self.run_input.policy.assume_external

    def may_be_there(self, story: StoryState) -> bool:
        """Tell whether a story may be done without another attempt: its document or an earlier run says so, or its agent found nothing to do."""
        if story.parent or story.judged or story.change_requested:
            return False
        claimed = (self.stories[story.id].claimed_done or story.kept) and story.attempts == 0
        return bool(claimed or story.parts or story.reason is Reason.AGENT_NO_CHANGE)

    def awaits_word(self, story: StoryState) -> bool:
        """Tell whether a person must approve verified work before it counts."""
        return not (story.validated or story.integrated) and self.is_closed("result", story)

    def is_closed(self, gate: Gate, story: StoryState) -> bool:
        """Tell whether a person is asked. They are not if they approved all the rest; that never covers unproven work."""
        if gate not in self.run_input.policy.closed:
            return False
        covered = self.state.rest.get(gate) in ("run", story.chunk)
        return not covered or (gate == "result" and story.proof not in PROVEN)


def is_interrupted(story: StoryState) -> bool:
    """Tell whether a story has work of an attempt that was interrupted."""
    return story.reason is Reason.INTERRUPTED and bool(story.commit) and not story.change_requested


_UNDER_WAY = frozenset({StoryPhase.PROPOSED, StoryPhase.VERIFIED})
_BUILT = frozenset({StoryPhase.VERIFIED, StoryPhase.RUNNING})
_ANY = frozenset(StoryPhase)


def _is_stale(_: Agenda, story: StoryState) -> bool:
    """Its attempt builds on another that was voided since."""
    return story.unmet > 0 and not story.parent and not story.integrated


def _is_improving(on: Agenda, story: StoryState) -> bool:
    """It is on the branch, and work on it goes on."""
    if not story.integrated or story.is_unproven or story.id not in on.state.unshown:
        return False
    return story.phase is not StoryPhase.READY or on.scope.allows(story)


def _is_unshown(on: Agenda, story: StoryState) -> bool:
    """Its work passes its checks, no test shows it, and it goes on or a person is to be asked."""
    if story.id not in on.state.unshown:
        return False
    goes_on = story.phase is StoryPhase.READY and story.stands and not story.skipped
    return goes_on or (story.is_unproven and not on.state.is_asked("unproven", story))


def _needs_word(on: Agenda, story: StoryState) -> bool:
    """A person is to be asked about its detailed plan or its work."""
    if story.skipped or story.aside:
        return False
    return story.phase is StoryPhase.PROPOSED or on.awaits_word(story)


def _may_be_picked(on: Agenda, story: StoryState) -> bool:
    """It is under way for a person who goes step by step."""
    under_way = story.phase is not StoryPhase.READY or is_interrupted(story)
    return under_way and not (story.aside or story.skipped or story.gated) and on.scope.allows(story)


def _is_engaging(_: Agenda, story: StoryState) -> bool:
    """A person who goes step by step is busy with it."""
    over = story.deferred or story.skipped or story.validated or story.integrated
    return (story.phase in _UNDER_WAY and not over) or bool(story.asked and story.questions)


def _is_left(on: Agenda, story: StoryState) -> bool:
    """Its agent had ended in an earlier start, and its work waits for a verdict."""
    return story.id in on.recovered and story.id not in on.steps


RULES: Mapping[str, tuple[Collection[StoryPhase], Callable[[Agenda, StoryState], bool]]] = {
    "stale": (_BUILT, _is_stale),
    "improved": ({StoryPhase.VERIFIED}, lambda _, story: story.is_improved),
    "improving": (_ANY, _is_improving),
    "unshown": (_ANY, _is_unshown),
    "word": (_UNDER_WAY, _needs_word),
    "pick": (_UNDER_WAY | {StoryPhase.READY}, _may_be_picked),
    "engaging": (_ANY, _is_engaging),
    "failed": ({StoryPhase.FAILED}, lambda _, story: not story.skipped),
    "left": ({StoryPhase.RUNNING}, _is_left),
}
"""Each set by its name, with the phases in which a story may belong to it, and whether it does."""
_IN = {phase: [(name, belongs) for name, (phases, belongs) in RULES.items() if phase in phases] for phase in StoryPhase}
_NONE: list[str] = []


def agenda_of(
    state: RunState,
    stories: Mapping[str, Story],
    run_input: RunInput,
    scope: Scope,
    recovered: Collection[str] = (),
    flying: Iterable[Step] = (),
) -> Agenda:
    """Return the index of a state, made anew."""
    made = Agenda(state, stories, run_input, scope, recovered)
    for step in flying:
        made.begin(step)
    made.follow(set(state.stories))
    return made
