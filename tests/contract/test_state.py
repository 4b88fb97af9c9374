"""The fold: whatever legal log it is given, the state is what a naive reading of the log and the plan says."""

import copy
from collections import Counter
from dataclasses import fields
from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from santiago.contract.codec import canonical, decode
from santiago.contract.events import Event, EventKind, EventStatus, LogLine
from santiago.contract.fold import Fold, IllegalMoveError, evolve, fold_all
from santiago.contract.phases import ENDED, RUN_MOVES, SATISFIED, STORY_MOVES, RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.state import initial
from santiago.contract.views import step_state
from tests.contract.histories import HAPPY, WAYS, Journal, kind_of, plan_of, plans
from tests.util.each import each

PLANNED, READY, PROPOSED, RUNNING = StoryPhase.PLANNED, StoryPhase.READY, StoryPhase.PROPOSED, StoryPhase.RUNNING
EVIDENCE, VERIFIED, DONE = StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED, StoryPhase.DONE
FAILED, BLOCKED = StoryPhase.FAILED, StoryPhase.BLOCKED
WAITING = {PLANNED, READY}

RUN_TO = {
    RunPhase.CREATED: (),
    RunPhase.EXECUTING: (RunPhase.EXECUTING,),
    RunPhase.PAUSED: (RunPhase.EXECUTING, RunPhase.PAUSED),
    RunPhase.RUN_VERIFICATION: (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION),
    RunPhase.SUCCESS: (RunPhase.EXECUTING, RunPhase.RUN_VERIFICATION, RunPhase.SUCCESS),
    RunPhase.FAILED: (RunPhase.EXECUTING, RunPhase.FAILED),
    RunPhase.BLOCKED: (RunPhase.EXECUTING, RunPhase.BLOCKED),
}


class Model:
    """What the log says, kept in the plainest way; everything else is worked out anew from it each time."""

    def __init__(self, plan: Plan, followed: dict[str, tuple[str, ...]]) -> None:
        self.order = [story.id for story in plan.stories]
        self.needs = {story.id: set(story.depends_on) for story in plan.stories}
        self.follows = {name: set(followed[name]) for name in self.order}
        """Whom a story must not overtake."""
        self.chunk = {story.id: story.chunk for story in plan.stories}
        self.parent: dict[str, str] = {}
        self.entered = dict.fromkeys(self.order, PLANNED)
        """The last phase that was entered; planned also stands for ready."""
        self.skipped: set[str] = set()
        self.started: set[str] = set()

    def satisfied(self, name: str) -> bool:
        return name in self.skipped or self.entered[name] in {VERIFIED, DONE}

    def phase(self, name: str) -> StoryPhase:
        if self.entered[name] is not PLANNED:
            return self.entered[name]
        free = name not in self.skipped and self.chunk[name] in self.started
        return READY if free and not self.unmet(name) and not self.behind(name) else PLANNED

    def unmet(self, name: str) -> int:
        return sum(not self.satisfied(needed) for needed in self.needs[name])

    def hopeless(self, name: str) -> bool:
        """Parked, or waiting for a story that is; such a story has left the order."""
        waits = self.entered[name] is PLANNED and self.lost(name) > 0
        return name not in self.skipped and (self.entered[name] in {FAILED, BLOCKED} or waits)

    def lost(self, name: str) -> int:
        return sum(map(self.hopeless, self.needs[name]))

    def behind(self, name: str) -> int:
        return sum(not self.out_of_the_way(other) for other in self.follows[name])

    def out_of_the_way(self, name: str) -> bool:
        """A story makes way only where nobody before it is in the way."""
        over = name in self.skipped or self.hopeless(name) or self.entered[name] in {VERIFIED, DONE}
        return over and not self.behind(name)

    def retire_at(self) -> int:
        waited_for = [
            name not in self.skipped and self.phase(name) is not DONE and not self.hopeless(name) for name in self.order
        ]
        return [*waited_for, True].index(True)

    def left(self, label: str) -> int:
        inside = [name for name in self.order if self.chunk[name] == label and name not in self.skipped]
        return sum(self.entered[name] is not DONE for name in inside)

    def skip(self, name: str) -> None:
        if self.entered[name] is not DONE:
            self.skipped.add(name)
            for child in [child for child, parent in self.parent.items() if parent == name]:
                self.skip(child)

    def split(self, parent: str, names: list[str]) -> None:
        for name in names:
            self.order.insert(self.order.index(parent), name)
            self.parent[name], self.chunk[name], self.entered[name] = parent, self.chunk[parent], PLANNED
            self.needs[name], self.follows[name] = set(self.needs[parent]), set(self.follows[parent])
            self.needs[parent].add(name)


class AnyLegalLog(RuleBasedStateMachine):
    """Random legal events about a random plan; after each, three ways of folding and a naive model agree."""

    @initialize(plan=plans(), data=st.data())
    def begin(self, plan: Plan, data: st.DataObject) -> None:
        names = [story.id for story in plan.stories]
        earlier = {name: st.lists(st.sampled_from(names[:at] or [""]), unique=True) for at, name in enumerate(names)}
        self.followed = {name: tuple(filter(None, data.draw(some))) for name, some in earlier.items()}
        self.journal = Journal(plan, self.followed, started=False)
        self.value = initial(plan, self.followed)
        self.model = Model(plan, self.followed)

    def record(self, event: Event) -> None:
        before, old = copy.deepcopy(self.value), self.value
        self.value = evolve(old, event)
        assert old == before, "evolve changed the state that it was given"
        self.journal.take(event)
        if isinstance(event.phase, StoryPhase) and event.story_id:
            self.model.entered[event.story_id] = PLANNED if event.phase in WAITING else event.phase

    @rule(data=st.data())
    def start_chunk(self, data: st.DataObject) -> None:
        label = data.draw(st.sampled_from([chunk.label for chunk in self.journal.plan.chunks]))
        self.record(self.journal.event(EventKind.CHUNK_STARTED, chunk=label))
        self.model.started.add(label)

    def moves(self) -> list[tuple[str, StoryPhase]]:
        return [(name, new) for name in self.model.order for new in sorted(STORY_MOVES[self.model.phase(name)])]

    @precondition(lambda self: bool(self.moves()))
    @rule(data=st.data(), status=st.sampled_from(["failed", "voided", "stopped"]))
    def move(self, data: st.DataObject, status: EventStatus) -> None:
        name, phase = data.draw(st.sampled_from(self.moves()))
        story = self.journal[name]
        ended = story.phase is RUNNING and phase is READY
        kind = kind_of(story, phase)
        self.record(self.journal.event(kind, name, phase, status=status if ended else None, agent_ms=7, tokens=3))

    def on_their_way(self) -> list[str]:
        return [name for name in self.model.order if self.model.phase(name) in HAPPY]

    @precondition(lambda self: bool(self.on_their_way()))
    @rule(data=st.data())
    def advance(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.on_their_way()))
        for _ in range(data.draw(st.integers(1, 5))):
            story = self.journal[name]
            if (phase := HAPPY.get(story.phase)) is not None:
                self.record(self.journal.event(kind_of(story, phase), name, phase, verify_ms=5))

    @rule(data=st.data())
    def try_an_illegal_move(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.model.order))
        phase = data.draw(st.sampled_from(sorted(set(StoryPhase) - STORY_MOVES[self.model.phase(name)])))
        event = self.journal.event(EventKind.NOTE, name, phase)
        before = copy.deepcopy(self.value)
        with pytest.raises(IllegalMoveError):
            evolve(self.value, event)
        with pytest.raises(IllegalMoveError):
            self.journal.fold.apply(event)
        assert self.value == before == self.journal.state

    @rule(data=st.data())
    def skip(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.model.order))
        self.record(self.journal.event(EventKind.STORY_SKIPPED, name))
        self.model.skip(name)

    def splittable(self) -> list[str]:
        short = [name for name in self.model.order if name.count(".") < 2 and name not in self.model.skipped]
        return [name for name in short if self.model.phase(name) in {READY, PROPOSED, BLOCKED}]

    @precondition(lambda self: bool(self.splittable()))
    @rule(data=st.data(), count=st.integers(1, 3), phase=st.sampled_from([None, READY]))
    def split(self, data: st.DataObject, count: int, phase: StoryPhase | None) -> None:
        name = data.draw(st.sampled_from(self.splittable()))
        first = list(self.model.parent.values()).count(name) + 1
        names = [f"{name}.{number}" for number in range(first, first + count)]
        phase = None if self.model.phase(name) is READY else phase
        self.record(self.journal.event(EventKind.STORY_SPLIT, name, phase, substeps=names))
        self.model.split(name, names)

    @precondition(lambda self: bool(RUN_MOVES[self.journal.state.phase]))
    @rule(data=st.data())
    def move_the_run(self, data: st.DataObject) -> None:
        phase = data.draw(st.sampled_from(sorted(RUN_MOVES[self.journal.state.phase])))
        self.record(self.journal.event(EventKind.NOTE, None, phase))
        assert self.journal.state.phase is phase

    @rule(amount=st.integers(1, 5), whole_run=st.booleans(), data=st.data())
    def raise_a_limit(self, amount: int, whole_run: bool, data: st.DataObject) -> None:
        name = None if whole_run else data.draw(st.sampled_from(self.model.order))
        self.record(self.journal.event(EventKind.BUDGET_RAISED, name, limit="story_max_attempts", amount=amount))

    @rule(question=st.sampled_from("ab"), answer=st.sampled_from(["approve", "adjust"]))
    def answer(self, question: str, answer: str) -> None:
        if question not in self.journal.state.questions:
            self.record(self.journal.event(EventKind.QUESTION_ASKED, question=question, text="?"))
        self.record(self.journal.event(EventKind.QUESTION_ANSWERED, question=question, answer=answer))

    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.model.order))
        self.record(self.journal.event(EventKind.CHANGE_REQUESTED, name, text="otherwise"))

    # What must hold after every event

    @invariant()
    def all_ways_of_folding_agree(self) -> None:
        state = self.journal.state
        again = Fold(initial(self.journal.plan, self.followed))
        for event in self.journal.events:
            again.apply(event)
        assert self.value == state == again.state
        assert list(self.value.stories) == list(state.stories)

    @invariant()
    def plan_order_is_kept(self) -> None:
        stories = self.journal.state.stories
        assert list(stories) == self.model.order
        assert [story.index for story in stories.values()] == list(range(len(stories)))

    @invariant()
    def phases_are_what_the_log_says(self) -> None:
        stories = self.journal.state.stories
        assert {name: story.phase for name, story in stories.items()} == {n: self.model.phase(n) for n in stories}
        for name, story in stories.items():
            model = (self.model.unmet(name), self.model.lost(name), self.model.behind(name))
            assert (name, story.unmet, story.lost, story.behind) == (name, *model)

    @invariant()
    def the_ready_set_is_the_free_stories_in_plan_order(self) -> None:
        assert self.journal.ready == [name for name in self.model.order if self.model.phase(name) is READY]

    @invariant()
    def the_sets_by_phase_are_right(self) -> None:
        state, names = self.journal.state, self.model.order
        assert state.running == {name for name in names if self.model.phase(name) is RUNNING}
        assert state.verified == {name for name in names if self.model.phase(name) is VERIFIED}
        assert state.failed == {name for name in names if self.model.phase(name) is FAILED}
        assert state.collected == {name for name in names if self.model.phase(name) is EVIDENCE}

    @invariant()
    def the_next_to_retire_is_the_first_that_is_still_in_the_order(self) -> None:
        assert self.journal.state.retire_at == self.model.retire_at()

    @invariant()
    def chunks_know_what_is_left(self) -> None:
        for chunk in self.journal.state.chunks.values():
            assert chunk.left == self.model.left(chunk.label)
            counted = [self.journal.state.stories[name].counted for name in chunk.stories]
            assert chunk.retries == sum(max(number - 1, 0) for number in counted)
            assert list(chunk.stories) == [name for name in self.model.order if self.model.chunk[name] == chunk.label]
            assert chunk.started == (chunk.label in self.model.started)

    @invariant()
    def attempts_are_the_events_that_enter_running(self) -> None:
        events, state = self.journal.events, self.journal.state
        started = Counter(event.story_id for event in events if event.phase is RUNNING)
        voided = Counter(
            event.story_id for event in events if event.event is EventKind.ATTEMPT_VOIDED or event.status == "voided"
        )
        for name, story in state.stories.items():
            assert (story.attempts, story.voided) == (started[name], voided[name])
            assert story.counted >= 0
        assert (state.attempts, state.counted) == (started.total(), started.total() - voided.total())

    @invariant()
    def the_order_of_done_is_the_order_of_completion(self) -> None:
        order = [event.story_id for event in self.journal.events if event.phase is DONE]
        stories = self.journal.state.stories
        assert len(order) == len(set(order))
        assert set(order) == {name for name, story in stories.items() if story.phase is DONE}

    @invariant()
    def blocked_stories_and_no_others_know_where_from(self) -> None:
        for story in self.journal.state.stories.values():
            assert (story.blocked_from is not None) == (story.phase is BLOCKED)

    @invariant()
    def raised_limits_add_up(self) -> None:
        sums: Counter[str] = Counter()
        for event in self.journal.events:
            if event.event is EventKind.BUDGET_RAISED:
                suffix = f"/{event.story_id}" if event.story_id else ""
                sums[f"story_max_attempts{suffix}"] += event.context.get("amount", 0)
        assert self.journal.state.raised == dict(sums)

    @invariant()
    def the_first_answer_counts(self) -> None:
        first: dict[str | None, str | None] = {}
        for event in self.journal.events:
            if event.event is EventKind.QUESTION_ANSWERED:
                first.setdefault(event.context["question"], event.context["answer"])
        assert {name: question.answer for name, question in self.journal.state.questions.items()} == first


TestAnyLegalLog = AnyLegalLog.TestCase
TestAnyLegalLog.settings = settings(max_examples=40, stateful_step_count=30)


# No illegal move ever folds


@each("old", StoryPhase)
@each("new", StoryPhase)
def test_a_story_moves_along_its_table_and_in_no_other_way(old: StoryPhase, new: StoryPhase) -> None:
    journal = Journal(plan_of(S1=""), started=old is not PLANNED)
    journal.move("S1", *WAYS[old])
    assert journal["S1"].phase is old
    event = journal.event(EventKind.NOTE, "S1", new)
    before = copy.deepcopy(journal.state)
    if new in STORY_MOVES[old]:
        journal.take(event)
        # Whether it is planned or ready follows from the plan, whichever of the two the event names.
        waiting = PLANNED if old is PLANNED else READY
        assert journal["S1"].phase is (waiting if new in WAITING else new)
    else:
        with pytest.raises(IllegalMoveError, match=f"S1 cannot go from {old} to {new}"):
            journal.take(event)
        assert journal.state == before


@each("old", RunPhase)
@each("new", RunPhase)
def test_a_run_moves_along_its_table_and_in_no_other_way(old: RunPhase, new: RunPhase) -> None:
    journal = Journal(plan_of(S1=""))
    for phase in RUN_TO[old]:
        journal.add(EventKind.NOTE, None, phase)
    assert journal.state.phase is old
    event = journal.event(EventKind.NOTE, None, new)
    before = copy.deepcopy(journal.state)
    # A start after a crash may say again that the run is where it is; that is no move.
    if new is old or new in RUN_MOVES[old]:
        journal.take(event)
        assert journal.state.phase is new
    else:
        with pytest.raises(IllegalMoveError, match=f"the run cannot go from {old} to {new}"):
            journal.take(event)
        assert journal.state == before


@each(
    ("story", "phase"), [("S1", RunPhase.EXECUTING), ("S1", RunPhase.SUCCESS), (None, READY), (None, StoryPhase.DONE)]
)
def test_neither_story_nor_run_can_enter_a_phase_of_the_other(story: str | None, phase: StoryPhase | RunPhase) -> None:
    journal = Journal(plan_of(S1=""))
    with pytest.raises(IllegalMoveError):
        journal.add(EventKind.NOTE, story, phase)
    assert journal.state.phase is RunPhase.CREATED


@each("word", ["failed", "blocked"])
def test_words_of_both_machines_are_told_apart_when_a_log_is_read_back(word: str) -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.RUN_EXECUTING, None, RunPhase.EXECUTING)
    journal.add(EventKind.NOTE, "S1", StoryPhase(word))
    journal.add(EventKind.RUN_ENDED, None, RunPhase(word))
    state = fold_all(journal.plan, [read_back(event) for event in journal.events])
    assert (state.phase, state.stories["S1"].phase) == (RunPhase(word), StoryPhase(word))
    assert (type(state.phase), type(state.stories["S1"].phase)) == (RunPhase, StoryPhase)


def read_back(event: Event) -> Event:
    """Return the event as it comes out of the log's own type."""
    framed = LogLine(**{field.name: getattr(event, field.name) for field in fields(event)}, prev="0" * 32, h="0" * 32)
    line = decode(LogLine, canonical(framed), "progress.ndjson")
    return Event(**{field.name: getattr(line, field.name) for field in fields(event)})


# Dependencies, chunks and order


def test_nothing_is_ready_before_its_chunk_starts_also_when_it_is_unblocked() -> None:
    journal = Journal(plan_of(S1="C01:", S2="C02:"), started=False)
    journal.move("S1", BLOCKED, READY)
    assert (journal.ready, journal["S1"].phase) == ([], PLANNED)
    journal.add(EventKind.CHUNK_STARTED, chunk="C01")
    assert (journal.ready, journal.state.active_chunk) == (["S1"], "C01")
    journal.add(EventKind.CHUNK_STARTED, chunk="C02")
    assert (journal.ready, journal.state.active_chunk) == (["S1", "S2"], "C02")


@each(
    ("kind", "story", "phase", "word"),
    [
        (EventKind.RUN_PAUSED, None, RunPhase.PAUSED, "reason"),
        (EventKind.ATTEMPT_ENDED, "S1", READY, "reason"),
        (EventKind.STORY_BLOCKED, "S1", StoryPhase.BLOCKED, "reason"),
        (EventKind.ATTEMPT_ENDED, "S1", EVIDENCE, "proof"),
    ],
)
def test_a_reason_or_proof_that_only_a_newer_version_knows_is_refused_where_it_is_read(
    kind: EventKind, story: str | None, phase: StoryPhase | RunPhase, word: str
) -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.RUN_EXECUTING, phase=RunPhase.EXECUTING)
    journal.move("S1", RUNNING)
    with pytest.raises(ValueError, match=f"does not know the {word} 'agent_on_strike'"):
        journal.take(journal.event(kind, story, phase, chunk=None, status=None, **{word: "agent_on_strike"}))


CASES = """
== a story is ready once all that it needs is verified, and integration changes nothing for it
S1, S2, S3: S1 S2
S1 verified => S3 planned
S2 evidence_collected => S3 planned
S2 verified => ready S3
S2 done => ready S3, S3 unmet 0
== a voided dependency sends ready ones back to planned and lets a running one end first
S1, S2: S1, S3: S1
S1 verified => ready S2 S3
S2 running; S1 voided => ready S1, S3 planned, S2 running
S2 ready => ready S1, S2 planned
S1 verified => ready S2 S3
== skipping satisfies dependents, leaves the order and counts once
S1, S2: S1, S3: S1 S2
S1 skipped => ready S2, next 1, left 2, S1 skipped True, S1 reason blocked_dependency, S3 unmet 1
S1 skipped => ready S2, next 1, left 2, S1 skipped True, S1 reason blocked_dependency, S3 unmet 1
== a story that is done cannot be skipped any more, and leaves its chunk once
S1, S2, S3
S1 done; S1 skipped => S1 skipped False, left 2
S2 verified; S2 skipped; S2 done => left 1
== an attempt that ends after its story was skipped changes nothing for others
S1, S2: S1, S3: S1 S2
S1 running; S1 skipped; S1 verified => ready S2, S3 unmet 1
S1 ready => ready S2, S3 unmet 1
== an unblocked story is ready and back in the order unless it was skipped
S1, S2
S1 blocked => next 1
S1 ready => ready S1 S2, next 0
S1 blocked => next 1
S1 planned => ready S1 S2, next 0
S1 blocked; S1 skipped; S1 ready => ready S2, S1 planned
S1 blocked; S1 planned => ready S2, S1 planned
== a parked story lets the others retire
S1, S2, S3
S2 verified => next 0
S1 failed => next 1
S2 done => next 2
== those who wait for a parked story leave the order with it and come back with it
S1, S2: S1, S3: S2, S4
S1 failed => parked S1, S2 hopeless True, S3 hopeless True, next 3
S1 ready => parked, S2 hopeless False, S3 hopeless False, next 0
== an attempt under way stays in the order when a dependency is parked
S1, S2: S1
S1 verified; S2 running; S1 blocked => S2 lost 1, S2 hopeless False, next 1, S1 blocked_from verified
S1 ready => S1 blocked_from None
== a story that loses by two ways loses once for each
S1, S2: S1, S3: S1 S2, S4: S3
S1 verified; S1 blocked => S2 lost 1, S3 lost 2, S4 lost 1
S1 skipped => S2 lost 0, S3 lost 0, S4 lost 0, ready S2
== and so in the other order
S1, S2: S1, S3: S2 S1, S4: S3
S1 verified; S1 blocked => S2 lost 1, S3 lost 2, S4 lost 1
S1 skipped => S2 lost 0, S3 lost 0, S4 lost 0, ready S2
== a story does not overtake those that it follows unless they are parked
S1, S2 after S1, S3 after S1 S2
=> ready S1
S1 verified => ready S2
S2 failed => ready S3
== and nobody before these is in the way
S1, S2 after S1, S3 after S2
S2 blocked => ready S1
S1 verified => ready S3
== also where verified work stands between them
S1, S2 after S1, S3 after S2
S1 blocked; S2 verified; S1 ready => ready S1
== a story that is left out lets nobody overtake the ones that it follows
S1, S2 after S1, S3 after S2
S1 running; S2 skipped => ready
S1 verified => ready S3
== substeps stand before their parent, count, and come one after the other and their parent last
S1, S2: S1, S3: S2
S1 done; S2 proposed; S2 split S2.1 S2.2 => order S1 S2.1 S2.2 S2 S3, S2.1 parent S2, S2.1 chunk C01, S2 planned
=> chunk S1 S2.1 S2.2 S2 S3, left 4, ready S2.1, next 1
S2.1 running => S2.1 attempts 1, tried 2
S2.1 done => ready S2.2, next 2
S2.2 done => ready S2, next 3
S2 done => ready S3, next 4
S3 done => ready, next 5, left 0, tried 5
== a dependency that is voided after the split stops the substeps, and those of a parked story are in the order
S1, S2: S1, S3
S1 verified; S2 split S2.1 => ready S2.1 S3
S1 voided => ready S1 S3
S1 blocked; S1 split S1.1 => ready S1.1 S3, next 0
== substeps of a story that lost a dependency are lost with it
S1, S2: S1
S1 verified; S2 proposed; S1 blocked; S2 split S2.1 S2.2 => S2.1 lost 1, S2.2 lost 2, S2 lost 3
S1 ready; S1 verified => S2.1 lost 0, S2.2 lost 0, S2 lost 0, ready S2.1
== a skipped substep lets the next one begin, and a skipped parent takes its substeps along
S1, S2: S1, S3: S2
S1 done; S2 proposed; S2 split S2.1 S2.2; S2.1 skipped => ready S2.2
S2 skipped => ready S3, S2.2 skipped True, left 1
== a second split adds only what is new, after what is there
S1, S2: S1, S3: S2
S1 done; S2 proposed; S2 split S2.1 S2.2; S2.1 verified; S2 split S2.1 S2.2 S2.3 => ready S2.2, S2.1 verified
=> order S1 S2.1 S2.2 S2.3 S2 S3
"""
"""Each begins with its stories, `S2: S1` needs another, `S2 after S1` must not overtake it. Then come steps, and what is so after them."""


@each("case", CASES.split("\n== ")[1:])
def test_dependencies_order_and_substeps(case: str) -> None:
    name, stories, *lines = case.strip().split("\n")
    rows = {one[:2]: one[2:].lstrip(":").partition(" after ") for one in stories.split(", ")}
    needs = {story: needed.strip() for story, (needed, _, _) in rows.items()}
    journal = Journal(plan_of(**needs), {story: tuple(before.split()) for story, (_, _, before) in rows.items()})
    for line in lines:
        steps, _, expected = line.partition("=> ")
        for step in filter(None, steps.strip().split("; ")):
            take(journal, *step.split())
        assert ", ".join(seen(journal, *one.split()) for one in expected.split(", ")) == expected, (name, line)


def take(journal: Journal, story: str, word: str, *substeps: str) -> None:
    """Lead a story to a phase, by the shortest way, or have something else happen to it."""
    now = journal[story].phase
    if word == "skipped":
        journal.add(EventKind.STORY_SKIPPED, story, reason="blocked_dependency")
    elif word == "voided":
        journal.add(EventKind.ATTEMPT_VOIDED, story, READY, reason="workspace_conflict")
    elif word == "split":
        journal.add(EventKind.STORY_SPLIT, story, READY if now is PROPOSED else None, substeps=list(substeps))
    else:
        while StoryPhase(word) not in STORY_MOVES[journal[story].phase]:
            journal.move(story, HAPPY[journal[story].phase])
        journal.move(story, StoryPhase(word))


def seen(journal: Journal, what: str, *more: str) -> str:
    state = journal.state
    chunk = state.chunks["C01"]
    lists = {
        "ready": journal.ready,
        "parked": sorted(state.failed),
        "order": list(state.stories),
        "chunk": chunk.stories,
    }
    numbers = {"next": state.retire_at, "left": chunk.left, "tried": state.attempts}
    if what in lists:
        return " ".join((what, *lists[what]))
    if what in numbers:
        return f"{what} {numbers[what]}"
    return f"{what} {more[0]} {getattr(journal[what], more[0])}" if len(more) > 1 else f"{what} {journal[what].phase}"


def test_the_base_of_a_story_is_all_that_it_waits_for_each_once() -> None:
    journal = Journal(plan_of(S1="", S2="", S3="S2"), {"S3": ("S1", "S2")})
    assert (journal["S3"].unmet, journal["S3"].behind, journal.state.needs["S3"]) == (1, 2, ("S2", "S1"))
    journal.add(EventKind.STORY_SPLIT, "S3", substeps=["S3.1", "S3.2"])
    assert journal.state.needs["S3.2"] == ("S2", "S1", "S3.1")
    assert journal.state.needs["S3"] == ("S2", "S1", "S3.1", "S3.2")


# Attempts and budgets


def test_voided_attempts_have_a_number_but_do_not_count() -> None:
    journal = Journal(plan_of(S1=""))
    journal.move("S1", RUNNING, EVIDENCE, VERIFIED)
    journal.add(EventKind.ATTEMPT_VOIDED, "S1", READY, reason="workspace_conflict")
    journal.move("S1", RUNNING)
    journal.add(EventKind.ATTEMPT_ENDED, "S1", READY, status="voided", reason="agent_rate_limited")
    journal.move("S1", RUNNING)
    assert (journal["S1"].attempts, journal["S1"].counted) == (3, 1)
    assert (journal.state.attempts, journal.state.counted) == (3, 1)


def test_a_second_conflict_counts_as_an_attempt() -> None:
    journal = Journal(plan_of(S1=""))
    for kind in (EventKind.ATTEMPT_VOIDED, EventKind.INTEGRATION_FAILED):
        journal.move("S1", RUNNING, EVIDENCE, VERIFIED)
        journal.add(kind, "S1", READY, reason="workspace_conflict")
    assert (journal["S1"].attempts, journal["S1"].counted, journal["S1"].conflicts) == (2, 1, 2)


def test_claimed_work_is_done_without_an_attempt_and_judged_once_and_for_all() -> None:
    journal = Journal(plan_of(S1="", S2=""))
    for name in ("S1", "S2"):
        journal.add(EventKind.CLAIM_JUDGED, name, EVIDENCE, verify_ms=40, proof="regression")
    journal.move("S1", VERIFIED, DONE)
    assert (journal["S1"].phase, journal["S1"].attempts, journal["S1"].used_ms) == (DONE, 0, 40)
    journal.move("S2", READY, RUNNING, READY)
    assert (journal["S1"].judged, journal["S2"].judged) == (True, True)


def test_time_and_usage_of_all_attempts_add_up() -> None:
    journal = Journal(plan_of(S1="", S2=""))
    for name, tokens in (("S1", 100), ("S1", None), ("S2", 7)):
        journal.move(name, RUNNING)
        cost = None if tokens is None else tokens * 10
        journal.add(
            EventKind.ATTEMPT_ENDED, name, READY, agent_ms=1000, verify_ms=500, tokens=tokens, cost_micro_usd=cost
        )
    journal.add(EventKind.TIME_USED, ms=15_000)
    journal.add(EventKind.TIME_USED, ms=2_000)
    state = journal.state
    assert (journal["S1"].used_ms, journal["S2"].used_ms, state.used_ms) == (3000, 1500, 17_000)
    assert (state.tokens, state.cost_micro_usd, state.unreported) == (107, 1070, 1)


def test_raised_budgets_accumulate_for_the_run_and_for_each_story_apart_and_so_do_approved_commands() -> None:
    journal = Journal(plan_of(S1=""))
    for amount in (2, 3):
        journal.add(EventKind.BUDGET_RAISED, limit="run_max_attempts", amount=amount)
    journal.add(EventKind.BUDGET_RAISED, "S1", limit="story_max_attempts", amount=4)
    assert journal.state.raised == {"run_max_attempts": 5, "story_max_attempts/S1": 4}
    for digests in (["a", "b"], ["b", "c"]):
        journal.add(EventKind.COMMANDS_APPROVED, digests=digests)
    assert journal.state.approved == {"a", "b", "c"}


def test_an_attempt_starts_without_traces_of_the_last_and_a_done_story_has_its_commit_and_moves_the_head() -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.ATTEMPT_STARTED, "S1", RUNNING, base="b1")
    journal.add(EventKind.ATTEMPT_ENDED, "S1", READY, commit="c1", proof="regression", reason="agent_timeout")
    assert (journal["S1"].base, journal["S1"].commit, journal["S1"].reason) == ("b1", "c1", "agent_timeout")
    journal.add(EventKind.ATTEMPT_STARTED, "S1", RUNNING, base="b2")
    assert (journal["S1"].base, journal["S1"].commit, journal["S1"].proof) == ("b2", None, None)
    journal.move("S1", EVIDENCE, VERIFIED)
    journal.add(EventKind.STORY_DONE, "S1", DONE, commit="c2", head="h2")
    assert (journal["S1"].commit, journal["S1"].reason, journal.state.head) == ("c2", None, "h2")


# The run


def test_the_first_event_names_run_and_digests_and_each_start_is_an_epoch_that_forgets_the_last_stop() -> None:
    journal = Journal(plan_of(S1=""), started=False)
    journal.add(EventKind.RUN_CREATED, plan_digest="p", input_digest="i", branch="santiago/run-1", head="h")
    state = journal.state
    assert (state.run_id, state.plan_digest, state.input_digest) == ("run-1", "p", "i")
    assert (state.branch, state.head, state.seq) == ("santiago/run-1", "h", 1)
    journal.add(EventKind.RUN_STARTED)
    journal.add(EventKind.STOP_REQUESTED)
    assert (state.epoch, state.stop_requested) == (1, True)
    journal.add(EventKind.RUN_STARTED)
    assert (journal.state.epoch, journal.state.stop_requested) == (2, False)


def test_a_failed_run_has_a_reason_until_it_is_reopened_and_its_rounds_of_verification_are_counted() -> None:
    journal, reasons = Journal(plan_of(S1="")), []
    for _ in range(2):
        journal.add(EventKind.RUN_EXECUTING, None, RunPhase.EXECUTING, head="h")
        reasons.append(journal.state.reason)
        journal.add(EventKind.RUN_VERIFYING, None, RunPhase.RUN_VERIFICATION)
        journal.add(EventKind.RUN_ENDED, None, RunPhase.FAILED, reason="run_timeout")
        reasons.append(journal.state.reason)
    assert reasons == [None, "run_timeout", None, "run_timeout"]
    assert (journal.state.head, journal.state.verify_rounds) == ("h", 2)


@each(("status", "ended"), [("ok", True), ("failed", False), ("blocked", False)])
def test_a_chunk_has_ended_only_when_it_ended_well(status: EventStatus, ended: bool) -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.CHUNK_ENDED, chunk="C01", status=status)
    assert journal.state.chunks["C01"].ended is ended


# People


def test_a_question_is_open_until_its_first_answer_and_a_second_answer_or_question_changes_nothing() -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.QUESTION_ANSWERED, "S1", question="q9", answer="approve", text="to nothing")
    assert (journal.state.questions, journal["S1"].notes) == ({}, ())
    journal.add(EventKind.QUESTION_ASKED, "S1", question="q1", text="Which?", options=["approve", "adjust"])
    assert [question.id for question in journal.state.open_questions()] == ["q1"]
    journal.add(EventKind.QUESTION_ANSWERED, "S1", question="q1", answer="adjust", text="smaller")
    journal.add(EventKind.QUESTION_ANSWERED, "S1", question="q1", answer="stop", text="no")
    journal.add(EventKind.QUESTION_ASKED, "S1", question="q1", text="Really?")
    assert journal.state.open_questions() == []
    question = journal.state.questions["q1"]
    assert (question.story, question.text, question.options) == ("S1", "Which?", ("approve", "adjust"))
    assert (question.answer, question.detail, journal["S1"].notes) == ("adjust", "smaller", ("smaller",))


def test_line_6_a_story_is_adjusted_from_the_change_that_was_asked_for_until_it_is_done() -> None:
    journal = Journal(plan_of(S1=""))
    journal.move("S1", RUNNING)
    assert step_state(journal.state, journal["S1"]) == "Implementing"
    journal.add(EventKind.CHANGE_REQUESTED, "S1", text="otherwise")
    for _ in range(2):
        journal.move("S1", READY)
        journal.move("S1", RUNNING)
        assert step_state(journal.state, journal["S1"]) == "Adjusting"
    journal.move("S1", EVIDENCE, VERIFIED, DONE)
    assert not journal["S1"].adjusting


def test_line_6_a_change_asked_for_before_there_is_work_is_kept_and_makes_the_first_attempt_no_adjustment() -> None:
    journal = Journal(plan_of(S1=""))
    journal.add(EventKind.HINT_ADDED, "S1", text="one")
    journal.add(EventKind.CHANGE_REQUESTED, "S1", text="two")
    assert (journal["S1"].notes, journal["S1"].change_requested) == (("one", "two"), True)
    journal.move("S1", RUNNING)
    assert step_state(journal.state, journal["S1"]) == "Implementing"
    journal.move("S1", EVIDENCE)
    assert not journal["S1"].change_requested


# The fold itself


def test_evolve_leaves_its_argument_untouched_and_shares_nothing_with_it() -> None:
    journal = Journal(plan_of(S1="", S2="S1"))
    before = copy.deepcopy(journal.state)
    after = evolve(journal.state, journal.event(EventKind.ATTEMPT_STARTED, "S1", RUNNING))
    Fold(after).apply(journal.event(EventKind.BUDGET_RAISED, limit="run_max_attempts", amount=1))
    assert journal.state == before
    assert after != before


@each("kind", EventKind)
def test_every_kind_of_event_folds_even_with_nothing_to_say(kind: EventKind) -> None:
    for story in (None, "S1", "S9"):
        journal = Journal(plan_of(S1=""))
        journal.add(kind, story)
        assert journal.state.seq == 2


# The two machines are exactly the arrows of the design, no more and no fewer

STORY_ARROWS = """
    planned            → ready evidence_collected failed blocked
    ready              → proposed running evidence_collected planned failed blocked
    proposed           → ready running failed blocked
    running            → ready evidence_collected failed blocked
    evidence_collected → ready verified failed blocked
    verified           → ready done failed blocked
    done               →
    failed             → ready
    blocked            → ready planned
"""
"""Beside the design's own: claimed work is judged without an attempt, a voided dependency sends back to planned, a parent
fails with its substeps, and a person may accept work whose story has to wait again."""

RUN_ARROWS = """
    created          → executing
    executing        → paused run_verification failed blocked
    paused           → executing failed blocked
    run_verification → success failed blocked paused
    success          →
    failed           → executing
    blocked          → executing
"""


def arrows(drawn: str) -> set[tuple[str, str]]:
    rows = [line.split("→") for line in drawn.strip().splitlines()]
    return {(old.strip(), new) for old, news in rows for new in news.split()}


def test_moves_are_exactly_the_drawn_arrows() -> None:
    stories = {(old.value, new.value) for old, new in product(StoryPhase, StoryPhase) if new in STORY_MOVES[old]}
    runs = {(old.value, new.value) for old, new in product(RunPhase, RunPhase) if new in RUN_MOVES[old]}
    assert stories == arrows(STORY_ARROWS)
    assert runs == arrows(RUN_ARROWS)


def test_work_serves_others_once_verified_and_a_run_has_a_result_once_ended() -> None:
    assert set(SATISFIED) == {StoryPhase.VERIFIED, StoryPhase.DONE}
    assert set(ENDED) == {RunPhase.SUCCESS, RunPhase.FAILED, RunPhase.BLOCKED}
