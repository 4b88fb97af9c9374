"""What to do next: a pure function of the folded log, the run's policy and the time. No mode flag appears here.

Acts are of two kinds: facts to record at once (a chunk begins, a story is out of budget), and steps to carry out.
Stories run as early as dependencies, chunk and file focus allow; they are integrated one at a time, in plan order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.contract.events import Context, EventKind, EventStatus, Fact
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Story
from santiago.contract.policy import RunInput
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.record import record
from santiago.contract.state import ChunkState, RunState, StoryState
from santiago.contract.steps import Adopt, Attempt, Integrate, JudgeClaim, Step, VerifyRun
from santiago.executor.budget import MAX_UNCOUNTED, Budget

if TYPE_CHECKING:
    from collections.abc import Iterator


@record
class Cancel:
    """A step whose ground has gone: stop it, its attempt is void."""

    step: str


Act = Fact | Cancel | Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What this start may touch: chunks from one to another, or single stories."""

    chunks: frozenset[str] | None = None
    stories: frozenset[str] | None = None

    def allows(self, story: StoryState) -> bool:
        in_chunk = self.chunks is None or story.chunk in self.chunks
        return in_chunk and (self.stories is None or story.id in self.stories)


@dataclass(slots=True, kw_only=True)
class Situation:
    """All that a decision depends on."""

    state: RunState
    stories: dict[str, Story]
    """The plan's stories, by id."""
    run_input: RunInput
    scope: Scope
    flying: dict[str, Step]
    """Steps that are being carried out, by id."""
    capacity: int
    now_ms: int
    """Execution time of the run up to now."""
    recovered: frozenset[str] = frozenset()
    """Running stories of an earlier start whose agent had ended: their snapshot waits for a verdict."""


def next_acts(at: Situation) -> list[Act]:
    """Return what to do now; nothing while all is under way."""
    match at.state.phase:
        case RunPhase.CREATED | RunPhase.PLAN_REVIEW:
            return [Fact(event=EventKind.RUN_EXECUTING, phase=RunPhase.EXECUTING)]
        case RunPhase.EXECUTING:
            return _executing(at)
        case RunPhase.RUN_VERIFICATION:
            return _verifying(at)
        case _:
            return []


def _verifying(at: Situation) -> list[Act]:
    if at.flying:
        return []
    if at.state.stop_requested:
        return [_pause(Reason.INTERRUPTED)]
    return [VerifyRun(round=at.state.verify_rounds)]


def _executing(at: Situation) -> list[Act]:
    state = at.state
    if owed := [*_unfinished(at), *_stale(at)]:
        return owed
    if state.stop_requested:
        return [] if at.flying else [_pause(Reason.INTERRUPTED)]
    if (spent := Budget(at.run_input.limits, state).run_exhausted(at.now_ms)) and spent.reason is Reason.RUN_TIMEOUT:
        return [] if at.flying else [_end(RunPhase.FAILED, spent.reason, spent.limit)]
    chunk = _open_chunk(at)
    if chunk is None:
        return _after_last_chunk(at)
    if not chunk.started:
        closing = _close_chunk(state)
        if closing and at.run_input.policy.gate == "chunk":
            return [*closing, _pause(None)]
        return [*closing, Fact(event=EventKind.CHUNK_STARTED, chunk=chunk.label)]
    integrations = _integrations(at)
    # An integration is a step like others: with one job the next story begins on its result, which saves a second verdict.
    acts = [*integrations, *_starts(at, at.capacity - len(integrations))]
    return acts or ([] if at.flying else _ending(at))


# What the log itself makes necessary


def _unfinished(at: Situation) -> Iterator[Act]:
    """A crash came between a passing verdict and the fact that follows from it."""
    for name in sorted(at.state.collected, key=lambda name: at.state.stories[name].index):
        story = at.state.stories[name]
        attempt = story.attempts or None
        yield Fact(
            event=EventKind.STORY_VERIFIED,
            story=name,
            chunk=story.chunk,
            phase=StoryPhase.VERIFIED,
            attempt=attempt,
            status="ok",
        )


def _stale(at: Situation) -> Iterator[Act]:
    """Work on the ground of an attempt that was voided since: it is void too, and costs nothing."""
    for name in sorted(at.state.verified | at.state.running, key=lambda name: at.state.stories[name].index):
        story = at.state.stories[name]
        if story.unmet == 0 or story.parent:
            continue
        if story.phase is StoryPhase.VERIFIED and not _in_flight(at, name):
            yield _void(story, Reason.WORKSPACE_CONFLICT)
        elif story.phase is StoryPhase.RUNNING:
            for step in at.flying.values():
                if isinstance(step, Attempt | Adopt) and step.story == name:
                    yield Cancel(step=step.id)


def _in_flight(at: Situation, story: str) -> bool:
    return any(getattr(step, "story", None) == story for step in at.flying.values())


def _void(story: StoryState, reason: Reason) -> Fact:
    return Fact(
        event=EventKind.ATTEMPT_VOIDED,
        story=story.id,
        chunk=story.chunk,
        phase=StoryPhase.READY,
        attempt=story.attempts,
        status="voided",
        context={"reason": reason},
    )


# Chunks


def _open_chunk(at: Situation) -> ChunkState | None:
    """Return the first chunk of the scope with a story left."""
    for chunk in at.state.chunks.values():
        if chunk.left and (at.scope.chunks is None or chunk.label in at.scope.chunks):
            return chunk
    return None


def _close_chunk(state: RunState) -> list[Act]:
    chunk = state.chunks.get(state.active_chunk or "")
    if chunk is None or chunk.ended or chunk.left:
        return []
    return [Fact(event=EventKind.CHUNK_ENDED, chunk=chunk.label, status="ok")]


def _after_last_chunk(at: Situation) -> list[Act]:
    """All chunks of the scope are through: verify the run, or rest where other chunks are left."""
    if at.flying:
        return []
    closing = _close_chunk(at.state)
    if any(chunk.left for chunk in at.state.chunks.values()):
        return [*closing, _pause(None)]
    return [*closing, Fact(event=EventKind.RUN_VERIFYING, phase=RunPhase.RUN_VERIFICATION)]


# Stories


def _integrations(at: Situation) -> list[Act]:
    """Return the one story whose turn it is, where it is verified."""
    state = at.state
    if any(isinstance(step, Integrate) for step in at.flying.values()):
        return []
    story = next((state.stories[name] for name in state.verified if state.stories[name].index == state.retire_at), None)
    if story is None or story.commit is None:
        return []
    return [Integrate(story=story.id, attempt=max(story.attempts, 1), commit=story.commit)]


def _starts(at: Situation, room: int) -> list[Act]:
    """Return the stories to start, in plan order, within the room left and the budget."""
    acts: list[Act] = list(_adoptions(at))
    if _has_failed(at) and not at.run_input.policy.keep_going:
        return acts
    room -= len(acts)
    busy = {getattr(step, "story", None) for step in at.flying.values()}
    for index in at.state.ready:
        story = at.state.stories[at.state.order[index]]
        if room <= 0:
            break
        if at.scope.allows(story) and story.id not in busy:
            acts += _start(at, story)
            room -= 1
    return acts


def _adoptions(at: Situation) -> Iterator[Act]:
    for name in sorted(at.recovered & at.state.running, key=lambda name: at.state.stories[name].index):
        if not _in_flight(at, name):
            yield Adopt(story=name, number=at.state.stories[name].attempts)


def _start(at: Situation, story: StoryState) -> list[Act]:
    """Return what begins a story: an attempt, a look at a claim, or the reason why it cannot begin."""
    planned = at.stories[story.parent or story.id]
    if planned.external_depends_on and not at.run_input.policy.assume_external:
        return [_rest(story, StoryPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY, "")]
    if story.uncounted >= MAX_UNCOUNTED and story.reason:
        reason = Reason(story.reason)
        phase = StoryPhase.BLOCKED if MEANINGS[reason].ends_in == "blocked" else StoryPhase.FAILED
        return [_rest(story, phase, reason, "uncounted endings")]
    if planned.claimed_done and story.attempts == 0 and not story.judged:
        return [JudgeClaim(story=story.id)]
    budget = Budget(at.run_input.limits, at.state)
    spent = budget.exhausted(story, at.now_ms)
    if spent is not None:
        phase = StoryPhase.BLOCKED if at.run_input.policy.exhausted == "blocked" else StoryPhase.FAILED
        return [_rest(story, phase, spent.reason, spent.limit)]
    number = story.attempts + 1
    base = base_of(at.state, story)
    step = Attempt(story=story.id, number=number, base=base, timeout_ms=budget.attempt_ms(story, at.now_ms))
    context: Context = {"step": step.id, "base": base[0]}
    begun = Fact(
        event=EventKind.ATTEMPT_STARTED,
        story=story.id,
        chunk=story.chunk,
        phase=StoryPhase.RUNNING,
        attempt=number,
        context=context,
    )
    return [begun, step]


def base_of(state: RunState, story: StoryState) -> tuple[str, ...]:
    """Return the commits that an attempt begins on: the head, then verified work that it waits for, in plan order."""
    needed: set[str] = set()
    waiting = [story.id]
    while waiting:
        for name in state.needs.get(waiting.pop(), ()):
            other = state.stories[name]
            if other.phase is StoryPhase.VERIFIED and name not in needed:
                needed.add(name)
                waiting.append(name)
    found = sorted((state.stories[name] for name in needed), key=lambda other: other.index)
    return (state.head or "", *(other.commit for other in found if other.commit))


def _rest(story: StoryState, phase: StoryPhase, reason: Reason, limit: str) -> Fact:
    kind = EventKind.STORY_BLOCKED if phase is StoryPhase.BLOCKED else EventKind.STORY_FAILED
    status: EventStatus = "blocked" if phase is StoryPhase.BLOCKED else "failed"
    context: Context = {"reason": reason}
    if limit:
        context["limit"] = limit
    return Fact(event=kind, story=story.id, chunk=story.chunk, phase=phase, status=status, context=context)


# Endings


def _has_failed(at: Situation) -> bool:
    return any(not at.state.stories[name].skipped for name in at.state.failed)


def _ending(at: Situation) -> list[Act]:
    """Nothing is under way and nothing can begin: name the reason."""
    stories = [story for story in at.state.stories.values() if not story.skipped]
    for phase, ends in ((StoryPhase.FAILED, RunPhase.FAILED), (StoryPhase.BLOCKED, RunPhase.BLOCKED)):
        found = next((story for story in stories if story.phase is phase), None)
        if found is not None:
            return [_end(ends, Reason(found.reason or Reason.BLOCKED_DEPENDENCY), "")]
    if at.scope.stories is not None:
        return [_pause(None)]
    return [_end(RunPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY, "")]


def _end(phase: RunPhase, reason: Reason | None, limit: str) -> Fact:
    context: Context = {}
    if reason:
        context["reason"] = reason
    if limit:
        context["limit"] = limit
    return Fact(event=EventKind.RUN_ENDED, phase=phase, status="blocked" if phase is RunPhase.BLOCKED else "failed", context=context)  # fmt: skip


def _pause(reason: Reason | None) -> Fact:
    context: Context = {"reason": reason} if reason else {}
    return Fact(event=EventKind.RUN_PAUSED, phase=RunPhase.PAUSED, context=context)
