"""The fold: `evolve(state, event) -> state`, pure and total, and the only place where a phase changes.

Phases come from the events (`event.phase` is the phase that the event enters) and are checked against the tables of
moves. Resume is replay, nothing more.
"""

from __future__ import annotations

import copy
import gc
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from santiago.contract.event_effects import OF_RUN, OF_STORY, reason_of
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import PARKED, RUN_MOVES, SATISFIED, STORY_MOVES, WAITING, RunPhase, StoryPhase
from santiago.contract.state import ChunkState, RunState, StoryState, initial

if TYPE_CHECKING:
    from santiago.contract.plan import Plan


class IllegalMoveError(ValueError):
    """An event enters a phase that its story or run cannot enter from where it is."""

    def __init__(self, event: Event, old: StoryPhase | RunPhase) -> None:
        super().__init__(f"event {event.seq}: {event.story_id or 'the run'} cannot go from {old} to {event.phase}")


def evolve(state: RunState, event: Event) -> RunState:
    """Return the state after one event; the given state is left as it was."""
    fold = Fold(copy.deepcopy(state))
    fold.apply(event)
    return fold.state


def fold_all(plan: Plan, events: Iterable[Event]) -> RunState:
    """Return the state that a whole log tells."""
    fold = Fold(initial(plan))
    with undisturbed():
        for event in events:
            fold.apply(event)
    return fold.state


@contextmanager
def undisturbed() -> Iterator[None]:
    """Switch the garbage collector off meanwhile. A replay makes many objects but no cycles, so collecting only costs time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Fold:
    """The fold with a state of its own, for those who take in many events (a replay, a running coordinator)."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.changed: set[str] = set()
        """Stories that events have changed. Whoever keeps something computed from stories takes them out."""
        self._members = {
            StoryPhase.RUNNING: state.running,
            StoryPhase.PROPOSED: state.proposed,
            StoryPhase.VERIFIED: state.verified,
            StoryPhase.FAILED: state.failed,
            StoryPhase.EVIDENCE_COLLECTED: state.collected,
        }

    def apply(self, event: Event) -> None:
        state, kind, phase = self.state, event.event, event.phase
        story = state.stories.get(event.story_id or "")
        if phase is not None:
            # `failed` and `blocked` are words of both machines, so the story decides which is meant, not the enum.
            if story is not None:
                self._move(story, phase, event)
            elif event.story_id is None:
                self._move_run(phase, event)
        state.seq = event.seq
        untold = self._to_pick_from(event) if state.picking or kind is EventKind.QUESTION_ASKED else {}
        if story is not None and (story.asked or kind in _PARKING):
            untold[story.id] = _standing(story)
        if story is not None and (of_story := OF_STORY.get(kind)) is not None:
            of_story(state, story, event)
        elif (of_run := OF_RUN.get(kind)) is not None:
            of_run(state, event)
        if story is not None:
            self.changed.add(story.id)
        if kind in _FOR_ALL and (story is None or "scope" in event.context):
            self.changed.update(state.stories)
        if untold:
            self._tell(untold)
        if kind in _STRUCTURAL:  # such an event tells the other stories itself
            self._restructure(story, event)

    def _to_pick_from(self, event: Event) -> dict[str, Standing]:
        """Return the stories that a person picks from, each with its standing. They leave the order, and return, together."""
        state = self.state
        asked = event.context.get("options", ()) if event.context.get("kind") == "pick" else ()
        open_one = state.questions.get(state.picking)
        found = [state.stories[name] for name in (open_one.options if open_one else asked) if name in state.stories]
        return {story.id: _standing(story) for story in found}

    def _restructure(self, story: StoryState | None, event: Event) -> None:
        if event.event is EventKind.CHUNK_STARTED and event.chunk in self.state.chunks:
            self._activate(self.state.chunks[event.chunk])
        elif event.event is EventKind.STORY_SKIPPED and story is not None:
            self._skip(story)
        elif event.event is EventKind.STORY_SPLIT and story is not None:
            self._split(story, event)
        elif event.event is EventKind.STORY_INTEGRATED and story is not None:
            self._count(story, -1)
        elif event.event is EventKind.QUESTION_ANSWERED and story is None:
            self._take_up_deferred(event)

    # Phases

    def _move_run(self, word: str, event: Event) -> None:
        state = self.state
        phase = _RUN_MOVES[state.phase].get(word)
        if phase is None:
            raise IllegalMoveError(event, state.phase)
        state.phase, state.reason = phase, reason_of(event)

    def _move(self, story: StoryState, word: str, event: Event) -> None:
        old = story.phase
        move = _MOVES[old].get(word)
        if move is None:
            raise IllegalMoveError(event, old)
        phase, alike = move
        # Between phases of one kind nothing changes for others; the long way is for the rest.
        before = None if alike and not (story.lost or story.gated) else _standing(story)
        story.blocked_from = old if phase is _BLOCKED else None
        self._enter(story, phase)
        if phase is _DONE and not (story.skipped or story.integrated):
            self._count(story, -1)
        if before is not None:
            self._tell({story.id: before})
        elif phase is _DONE:
            self._advance()

    def _enter(self, story: StoryState, phase: StoryPhase) -> None:
        """Set the phase, and keep the sets by phase in step with it."""
        state, old = self.state, story.phase
        if old is _READY:
            del state.ready[bisect_left(state.ready, -story.index)]
        elif (left := self._members.get(old)) is not None:
            left.discard(story.id)
        if phase in WAITING:  # ready or planned? Its dependencies decide, not the event: one may have been voided
            phase = _READY if self._is_free(story) else StoryPhase.PLANNED
        story.phase = phase
        if phase is _READY:
            insort(state.ready, -story.index)
        elif (entered := self._members.get(phase)) is not None:
            entered.add(story.id)

    def _count(self, story: StoryState, by: int) -> None:
        """Count a story among those that are left in its chunk, or no longer."""
        state = self.state
        state.chunks[story.chunk].left += by
        state.left += by
        if by > 0:
            state.unfinished = [label for label in reversed(state.chunks) if state.chunks[label].left]
        while state.unfinished and not state.chunks[state.unfinished[-1]].left:
            state.unfinished.pop()

    def _advance(self) -> None:
        """Move on past the stories that are over, and past those that are retired or have left the order."""
        state = self.state
        while state.over < len(state.order):
            story = state.stories[state.order[state.over]]
            if not (story.phase is _DONE or story.skipped):
                break
            state.over += 1
        while state.retire_at < len(state.order):
            story = state.stories[state.order[state.retire_at]]
            if not story.is_past:
                break
            state.retire_at += 1

    # Consequences

    def _tell(self, untold: dict[str, Standing]) -> None:
        """Update the stories that wait for any of several. `untold` has, for each story, the standing that others last saw."""
        state = self.state
        while untold:
            name, was = untold.popitem()
            self.changed.add(name)
            one = state.stories[name]
            state.retire_at = min(state.retire_at, one.index)
            if name not in state.dependents and name not in state.followers:
                continue
            now = _standing(one)
            for names, part, field in (
                (state.dependents, 0, "unmet"),
                (state.dependents, 1, "lost"),
                (state.followers, 2, "behind"),
            ):
                if now[part] == was[part]:
                    continue
                less = now[part] if field != "lost" else not now[part]
                for name in names.get(one.id, ()):
                    other = state.stories[name]
                    untold.setdefault(name, _standing(other))
                    setattr(other, field, getattr(other, field) + (-1 if less else 1))
                    self._settle(other)
        self._advance()

    def _settle(self, story: StoryState) -> None:
        """Make a story ready when its last dependency is satisfied; make it wait again when one was voided."""
        self.changed.add(story.id)
        if story.phase in WAITING and self._is_free(story) != (story.phase is StoryPhase.READY):
            self._enter(story, StoryPhase.READY)

    def _is_free(self, story: StoryState) -> bool:
        return story.unmet == 0 and story.behind == 0 and not story.skipped and self.state.chunks[story.chunk].started

    def _activate(self, chunk: ChunkState) -> None:
        chunk.started = True
        self.state.active_chunk = chunk.label
        for name in reversed(chunk.stories):  # as `ready` is kept, so that each is put at its end
            self._settle(self.state.stories[name])

    def _skip(self, story: StoryState) -> None:
        """Leave a story out, with its substeps; what is done stays done."""
        if story.skipped or story.integrated or story.phase is StoryPhase.DONE:
            return
        before = _standing(story)
        story.skipped = True
        self._settle(story)
        self._count(story, -1)
        self._tell({story.id: before})
        for child in story.parts:
            self._skip(self.state.stories[child])
        self._advance()

    def _take_up_deferred(self, event: Event) -> None:
        """Take the deferred stories up again, since a person goes on with them."""
        if event.context.get("answer") == "continue":
            for story in [one for one in self.state.stories.values() if one.deferred]:
                before = _standing(story)
                story.deferred = False
                self._tell({story.id: before})

    def _split(self, parent: StoryState, event: Event) -> None:
        """Add the substeps of a story, in plan order. Their parent waits for all of them."""
        names = [name for name in dict.fromkeys(event.context.get("substeps") or ()) if name not in self.state.stories]
        parent.parts, parent.base, parent.judged = (*parent.parts, *names), self.state.head, False
        for name in names:
            self._add_substep(parent, name)
        self._insert_before(parent, names)
        for name in (*names, parent.id):
            self._settle(self.state.stories[name])

    def _add_substep(self, parent: StoryState, name: str) -> None:
        """Add one substep. It waits for all that its parent waits for, which by now includes the earlier substeps."""
        state = self.state
        for table in (state.dependents, state.followers):
            for needed, waiting in table.items():
                table[needed] = waiting + (name,) * waiting.count(parent.id)
        state.dependents[name] = (parent.id,)
        state.needs[name] = state.needs[parent.id]
        state.needs[parent.id] = (*state.needs[parent.id], name)
        state.stories[name] = substep = StoryState(
            id=name,
            index=parent.index,
            chunk=parent.chunk,
            unmet=parent.unmet,
            behind=parent.behind,
            lost=parent.lost,
            parent=parent.id,
        )
        parent.unmet += 1
        parent.lost += substep.hopeless
        self._count(substep, 1)

    def _insert_before(self, parent: StoryState, names: list[str]) -> None:
        """Number the stories anew, so that substeps are retired before their parent."""
        state, chunk = self.state, self.state.chunks[parent.chunk]
        at, place = parent.index, chunk.stories.index(parent.id)
        chunk.stories = (*chunk.stories[:place], *names, *chunk.stories[place:])
        state.order[at:at] = names
        state.stories = {name: state.stories[name] for name in state.order}
        for index, story in enumerate(state.stories.values()):
            story.index = index
        state.ready = sorted(-story.index for story in state.stories.values() if story.phase is StoryPhase.READY)
        state.retire_at, state.over = min(state.retire_at, at), min(state.over, at)
        self.changed.update(state.order)
        self._advance()


# Looking a member up in its enum takes time, and a replay needs these at every event.
_READY, _DONE, _BLOCKED = StoryPhase.READY, StoryPhase.DONE, StoryPhase.BLOCKED

_KIND = {
    **dict.fromkeys(StoryPhase, "under way"),
    **dict.fromkeys(SATISFIED, "satisfied"),
    **dict.fromkeys(PARKED, "parked"),
}
"""Phase → what it means for the stories that wait."""

_MOVES: dict[StoryPhase, dict[str, tuple[StoryPhase, bool]]] = {
    old: {new: (new, _KIND[old] is _KIND[new]) for new in moves} for old, moves in STORY_MOVES.items()
}
"""The allowed moves by their word, each with whether the story stays the same to those who wait for it."""

_RUN_MOVES: dict[RunPhase, dict[str, RunPhase]] = {
    old: {new: new for new in (old, *moves)} for old, moves in RUN_MOVES.items()
}
"""The allowed moves by their word; a run may also enter the phase that it is in."""

Standing = tuple[bool, bool, bool]


def _standing(story: StoryState) -> Standing:
    """Return what matters to the stories that wait for this one: is it satisfied, hopeless, out of the way?"""
    return story.satisfied, story.hopeless and not story.skipped, story.clear


_STRUCTURAL = frozenset(
    {
        EventKind.CHUNK_STARTED,
        EventKind.STORY_SKIPPED,
        EventKind.STORY_SPLIT,
        EventKind.STORY_INTEGRATED,
        EventKind.QUESTION_ANSWERED,
    }
)
"""Events that change more than one story."""

_FOR_ALL = frozenset(
    {EventKind.RUN_STARTED, EventKind.RUN_EXECUTING, EventKind.BUDGET_RAISED, EventKind.QUESTION_ANSWERED}
)
"""Events about the run that may concern each story. They are rare."""

_PARKING = frozenset(
    {
        EventKind.QUESTION_ASKED,
        EventKind.QUESTION_ANSWERED,
        EventKind.QUESTION_EXPIRED,
        EventKind.CHANGE_REQUESTED,
        EventKind.STORY_INTEGRATED,
    }
)
"""Events that take a story out of the order, or put it back, without moving it to another phase."""
