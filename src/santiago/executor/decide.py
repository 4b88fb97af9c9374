"""What to do next: a pure function of the folded log, the run's policy and the time. No mode flag appears here.

Acts are of two kinds: facts to record at once (a chunk begins, a story is out of budget), and steps to carry out.
Stories run as early as dependencies, chunk and file focus allow; they are integrated one at a time, in plan order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run, of_story
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.steps import Adopt, Attempt, ExamineBase, Integrate, VerifyRun, WriteBack
from santiago.executor import gates, starting, unproven, waiting
from santiago.executor.budget import Budget
from santiago.executor.situation import Cancel
from santiago.executor.tally import stopped_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.events import Context, EventStatus
    from santiago.contract.state import ChunkState, RunState, StoryState
    from santiago.executor.situation import Act, Situation


def next_acts(at: Situation) -> list[Act]:
    """Return what to do now; empty while there is only waiting to do."""
    match at.state.phase:
        case RunPhase.CREATED:
            return [of_run(EventKind.RUN_EXECUTING, RunPhase.EXECUTING)]
        case RunPhase.EXECUTING:
            acts = _executing(at)
            leaves = any(isinstance(act, Fact) and act.phase is not None and act.story is None for act in acts)
            return [waiting.ended(at.waited_ms), *acts] if leaves and at.state.wait_until else acts
        case RunPhase.RUN_VERIFICATION:
            return _verifying(at)
        case _:
            return []


def _verifying(at: Situation) -> list[Act]:
    if at.flying:
        return []
    if at.state.stop_requested:
        return [_pause(Reason.INTERRUPTED)]
    head, step, digest = at.state.checked
    if head and head == at.state.head:
        return [run_end(at.state, step=step, digest=digest)]  # nothing has changed since its checks passed
    return [VerifyRun(round=at.state.verify_rounds)]


def run_end(state: RunState, **context: Unpack[Context]) -> Fact:
    """Return the end of a run whose checks passed. It is no success while a story is unproven."""
    if unproven.left(state):
        context["reason"] = Reason.UNPROVEN
        return of_run(EventKind.RUN_ENDED, RunPhase.BLOCKED, "blocked", **context)
    return of_run(EventKind.RUN_ENDED, RunPhase.SUCCESS, "ok", **context)


def _executing(at: Situation) -> list[Act]:
    state = at.state
    if owed := [*_unfinished(at), *_stale(at), *_refused(at), *unproven.owed(at), *gates.owed(at)]:
        return owed
    if state.stop_requested:
        return [] if at.flying else [_pause("" if state.rests else Reason.INTERRUPTED)]
    if not at.flying and (over := gates.expired(at)):
        return [*over, _end(RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)]
    if waiting.is_over(state, at.run_input.limits, at.utc, at.waited_ms):
        return [waiting.ended(at.waited_ms)]
    if (spent := Budget(at.run_input.limits, state).run_exhausted(at.now_ms)) and spent.reason is Reason.RUN_TIMEOUT:
        return [] if at.flying else [_end(RunPhase.FAILED, spent.reason, spent.limit)]
    chunk = _open_chunk(at)
    if chunk is None and not unproven.is_under_way(at):
        return _after_last_chunk(at)
    if not state.examined:
        # Before any agent is started: no attempt is spent where the checks cannot give a verdict.
        return [] if at.flying else [ExamineBase(commit=state.head or "")]
    if chunk is not None and not chunk.started:
        closing = _close_chunk(state)
        if closing and _rests_after_chunks(at):
            return [*closing, _pause()]
        return [*begin_chunk(state, chunk)]
    integrations = _integrations(at)
    # An integration takes a place like other steps. With one job, the next story then begins on its result,
    # and needs no second verdict.
    starts, held = starting.starts(at, at.capacity - len(integrations))
    acts = [*integrations, *starts]
    return acts if acts or at.flying or held else _ending(at)


# What the log itself makes necessary


def _unfinished(at: Situation) -> Iterator[Act]:
    """Yield the facts that a crash prevented: a story has a passing verdict, and the fact that follows is missing."""
    for name in sorted(at.state.collected, key=lambda name: at.state.stories[name].index):
        story = at.state.stories[name]
        yield of_story(story, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok")


def _stale(at: Situation) -> Iterator[Act]:
    """Yield the end of attempts that build on an attempt which was voided since. They are voided too, and not counted."""
    for name in sorted(at.state.verified | at.state.running, key=lambda name: at.state.stories[name].index):
        story = at.state.stories[name]
        if story.unmet == 0 or story.parent or story.integrated:
            continue
        if story.phase is StoryPhase.VERIFIED and not starting.in_flight(at, name):
            reason = Reason.WORKSPACE_CONFLICT
            yield of_story(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", reason=reason)
        elif story.phase is StoryPhase.RUNNING:
            for step in at.flying.values():
                if isinstance(step, Attempt | Adopt) and step.story == name:
                    yield Cancel(step=step.id)


def _refused(at: Situation) -> Iterator[Act]:
    """Yield what follows when the agent's service refused: the run waits, or the story rests if waiting cannot help."""
    found = waiting.answer(at.state, at.run_input.limits)
    if isinstance(found, Fact):
        yield found
    elif found is not None and MEANINGS[found.reason].ends_in == "failed":
        story = at.state.stories[found.story]
        if story.phase is StoryPhase.READY:
            yield starting.rest(story, StoryPhase.FAILED, found.reason, found.limit, found.message)


# Chunks


def _open_chunk(at: Situation) -> ChunkState | None:
    """Return the chunk whose turn it is; None if it is outside the scope, since no chunk overtakes another."""
    chunk = at.state.next_chunk()
    return chunk if chunk and (at.scope.chunks is None or chunk.label in at.scope.chunks) else None


def begin_chunk(state: RunState, chunk: ChunkState) -> list[Fact]:
    """Return the facts that begin a chunk, and before that end the previous one."""
    return [*_close_chunk(state), Fact(event=EventKind.CHUNK_STARTED, chunk=chunk.label)]


def _rests_after_chunks(at: Situation) -> bool:
    return "chunk" in at.run_input.policy.closed if at.state.pauses is None else at.state.pauses


def _close_chunk(state: RunState) -> list[Fact]:
    chunk = state.chunks.get(state.active_chunk or "")
    if chunk is None or chunk.ended or chunk.left:
        return []
    return [Fact(event=EventKind.CHUNK_ENDED, chunk=chunk.label, status="ok")]


def _after_last_chunk(at: Situation) -> list[Act]:
    """All chunks of the scope are finished: verify the run, or pause if other chunks are left."""
    if at.flying:
        return []
    closing = _close_chunk(at.state)
    if at.state.next_chunk():
        return [*closing, _pause()]
    if at.run_input.policy.write_back and not at.state.ticked:
        return [*closing, WriteBack(commit=at.state.head or "")]
    return [*closing, of_run(EventKind.RUN_VERIFYING, RunPhase.RUN_VERIFICATION)]


# Stories


def next_to_retire(state: RunState) -> StoryState | None:
    """Return the verified story whose work comes onto the branch next, or is there already because of a crash."""
    found = [state.stories[name] for name in state.verified]
    improved = (story for story in found if story.integrated and not story.is_unproven)
    return next(improved, next((story for story in found if story.index == state.retire_at), None))


def _integrations(at: Situation) -> list[Act]:
    """Return the integration of the story whose turn it is, if that story is verified and no person is asked about it."""
    state = at.state
    if any(isinstance(step, Integrate) for step in at.flying.values()):
        return []
    # Work that a crash left on the branch comes first, even if answers have changed the order since.
    story = state.stories[at.landed] if at.landed in state.verified else next_to_retire(state)
    if story is None or story.commit is None or gates.awaits_word(at, story):
        return []
    number = story.unshown.attempt if story.unshown and story.unshown.commit == story.commit else story.attempts
    return [Integrate(story=story.id, attempt=max(number, 1), commit=story.commit)]


# Endings


def _ending(at: Situation) -> list[Act]:
    """Nothing is under way and nothing can begin: name the reason."""
    if at.state.shut:
        blocks = MEANINGS[at.state.shut].ends_in == "blocked"
        return [_end(RunPhase.BLOCKED if blocks else RunPhase.FAILED, at.state.shut)]
    if isinstance(refused := waiting.answer(at.state, at.run_input.limits), waiting.Hopeless):
        return [_pause(refused.reason, refused.limit)]
    if gates.waits_for_a_person(at):
        return []
    if (found := stopped_by(at.state)) is not None:
        ends = RunPhase.FAILED if found.phase is StoryPhase.FAILED else RunPhase.BLOCKED
        return [_end(ends, found.reason or Reason.BLOCKED_DEPENDENCY)]
    if gates.holding(at.state):
        return [_end(RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)]
    if put_off := gates.for_the_deferred(at):
        return [*put_off]
    if at.scope.stories is not None or at.scope.claims is not None:
        return [_pause()]
    return [_end(RunPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY)]


def _end(phase: RunPhase, reason: Reason, limit: str = "") -> Fact:
    status: EventStatus = "blocked" if phase is RunPhase.BLOCKED else "failed"
    return of_run(EventKind.RUN_ENDED, phase, status, reason=reason, limit=limit)


def _pause(reason: Reason | Literal[""] = "", limit: str = "") -> Fact:
    return of_run(EventKind.RUN_PAUSED, RunPhase.PAUSED, reason=reason, limit=limit)
