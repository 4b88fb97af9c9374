"""What to do next: a pure function of the folded log, the run's policy and the time. No mode flag appears here.

Acts are of two kinds: facts to record at once (a chunk begins, a story is out of budget), and steps to carry out.
Stories run as early as dependencies, chunk and file focus allow; they are integrated one at a time, in plan order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Unpack

from santiago.contract.event_effects import SHOW, TESTS
from santiago.contract.events import Context, EventKind, EventStatus, Fact
from santiago.contract.facts import of_run, of_story
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.contract.state import ChunkState, RunState, StoryState
from santiago.contract.steps import (
    Adopt,
    Attempt,
    ExamineBase,
    Integrate,
    JudgeClaim,
    VerifyAhead,
    VerifyRun,
    WriteBack,
)
from santiago.executor import gates, unproven, waiting
from santiago.executor.budget import MAX_UNCOUNTED, Budget
from santiago.executor.situation import Act, Cancel, Situation
from santiago.executor.tally import stopped_by

MOST_AHEAD = 12
"""How many places behind the next story to retire are looked at for what can be verified ahead."""


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
    # A crash came between a story's passing verdict and the fact that follows.
    collected = at.state.in_order(at.state.collected)
    unfinished = [of_story(one, EventKind.STORY_VERIFIED, StoryPhase.VERIFIED, "ok") for one in collected]
    if owed := [*unfinished, *_stale(at), *_refused(at), *unproven.owed(at), *gates.owed(at)]:
        return owed
    over = _over(at)
    return _going_on(at) if over is None else over


def _over(at: Situation) -> list[Act] | None:
    """Return what ends this start, or the wait that it is in; nothing is done as long as a step is under way. None means: go on."""
    state = at.state
    if state.stop_requested:
        reason: Reason | Literal[""] = (
            Reason.NO_WORKERS if state.unserved else "" if state.rests else Reason.INTERRUPTED
        )
        return [] if at.flying else [_pause(reason)]
    if at.unclaimed_ms >= int(at.run_input.limits.wait_max_minutes):
        return [of_run(EventKind.STOP_REQUESTED, reason=Reason.NO_WORKERS)]  # what was ordered is withdrawn
    if not at.flying and (late := gates.expired(at)):
        return [*late, _end(RunPhase.BLOCKED, Reason.NEEDS_USER_CONFIRMATION)]
    if waiting.is_over(state, at.utc, at.waited_ms):
        return [waiting.ended(at.waited_ms)]
    if spent := at.agenda.budget.out_of_time(at.now_ms):
        return [] if at.flying else [_end(RunPhase.FAILED, spent.reason, spent.limit)]
    return None


def _going_on(at: Situation) -> list[Act]:
    state, chunk = at.state, at.state.next_chunk()
    if chunk and at.scope.chunks is not None and chunk.label not in at.scope.chunks:
        chunk = None  # no chunk overtakes another
    if chunk is None and not unproven.is_under_way(at):
        return _after_last_chunk(at)
    if not state.examined:
        # Before any agent is started: no attempt is spent where the checks cannot give a verdict.
        return [] if at.flying else [ExamineBase(commit=state.head or "")]
    if chunk is not None and not chunk.started:
        closing = _close_chunk(state)
        rests = "chunk" in at.run_input.policy.closed if state.pauses is None else state.pauses
        return [*closing, _pause()] if closing and rests else [*begin_chunk(state, chunk)]
    integrations = _integrations(at)
    # An integration takes a place like other steps. With one job, the next story then begins on its result,
    # and needs no second verdict. A retry of the story whose turn it is leaves nothing to be verified ahead.
    room = at.capacity - len(integrations)
    verdicts, ended = _ahead(at, room if at.judging is None else at.judging)
    begun, held = starts(at, room - (len(verdicts) if at.judging is None else 0))
    acts = [*integrations, *ended, *verdicts, *begun]
    return acts if acts or at.flying or held else _ending(at)


# What the log itself makes necessary


def _stale(at: Situation) -> Iterator[Act]:
    """Yield the end of attempts that build on an attempt which was voided since. They are voided too, and not counted."""
    for story in at.agenda.of("stale"):
        under_way = at.agenda.steps.get(story.id, ())
        if story.phase is StoryPhase.RUNNING:
            yield from (Cancel(step=name) for name in under_way if isinstance(at.flying[name], Attempt | Adopt))
        elif not under_way:
            reason = Reason.WORKSPACE_CONFLICT
            yield of_story(story, EventKind.ATTEMPT_VOIDED, StoryPhase.READY, "voided", reason=reason)


def _refused(at: Situation) -> Iterator[Act]:
    """Yield what follows when the agent's service refused: the run waits, or the story rests if waiting cannot help."""
    found = waiting.answer(at.state, at.run_input.limits)
    if isinstance(found, Fact):
        yield found
    elif found is not None and MEANINGS[found.reason].ends_in == "failed":
        story = at.state.stories[found.story]
        if story.phase is StoryPhase.READY:
            yield rest(story, StoryPhase.FAILED, found.reason, found.limit, found.message)


# Chunks


def begin_chunk(state: RunState, chunk: ChunkState) -> list[Fact]:
    """Return the facts that begin a chunk, and before that end the previous one."""
    return [*_close_chunk(state), Fact(event=EventKind.CHUNK_STARTED, chunk=chunk.label)]


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


def next_to_retire(state: RunState, improved: Iterable[StoryState]) -> StoryState | None:
    """Return the verified story whose work comes onto the branch next, or is there already because of a crash.

    Better work of a story that is on the branch waits for no other.
    """
    due = state.order[state.retire_at : state.retire_at + 1]
    return next(iter(improved), next((state.stories[name] for name in due if name in state.verified), None))


def _integrations(at: Situation) -> list[Act]:
    """Return the integration of the story whose turn it is, if that story is verified and no person is asked about it."""
    state = at.state
    if at.agenda.integrating:
        return []
    # Work that a crash left on the branch comes first, even if answers have changed the order since.
    landed = state.stories[at.landed] if at.landed in state.verified else None
    # Unproven work stays verified when that is recorded, and comes onto the branch once.
    story = landed if landed and not landed.is_unproven else next_to_retire(state, at.agenda.of("improved"))
    if story is None or story.commit is None or at.agenda.awaits_word(story):
        return []
    if any(_holds(one.onto, story.work) for one in at.agenda.ahead.values() if one.story == story.id):
        return []  # the verdict that it needs is being found out
    return [Integrate(story=story.id, attempt=_attempt_of(story), commit=story.commit)]


def _attempt_of(story: StoryState) -> int:
    """Return the number of the attempt that brought the verified work."""
    number = story.unshown.attempt if story.unshown and story.unshown.commit == story.commit else story.attempts
    return max(number, 1)


# Verifying ahead


def _line(at: Situation) -> Iterator[StoryState]:
    """Yield the verified stories that follow the head without a gap, in one chunk, up to the first that awaits a person's word."""
    state, chunk = at.state, ""
    for name in state.order[state.retire_at : state.retire_at + 1 + MOST_AHEAD]:
        story = state.stories[name]
        if story.phase is StoryPhase.VERIFIED and not (story.is_past or at.agenda.awaits_word(story)):
            if story.chunk != (chunk := chunk or story.chunk):
                return
            yield story
        elif not story.is_past:
            return


def _ahead(at: Situation, room: int) -> tuple[list[Act], list[Act]]:
    """Return the verifications ahead to begin now, and the ends of those whose state is no longer the one that is expected.

    Nothing is verified behind work that failed ahead: its next attempt will be other work. It costs time at most if a verdict
    turns out not to fit, since what it rests on is compared at the turn.
    """
    begun, work, left = list[Act](), tuple[str, ...](), {one.story: one for one in at.agenda.ahead.values()}
    if len(at.state.verified) < 2 and not left:
        return [], []
    for place, story in enumerate(_line(at) if room > 0 or left else ()):
        work += story.work
        known = story.ahead if story.ahead and _holds(story.ahead.onto, work) else None
        if story.id in left and _holds(left[story.id].onto, work):
            del left[story.id]
        elif place and known is None and len(begun) < room:
            begun.append(VerifyAhead(story=story.id, attempt=_attempt_of(story), onto=(at.state.head or "", *work)))
        if (known and not known.passed) or (len(begun) >= room and not left):
            break
    return begun, [Cancel(step=one.id) for one in left.values()]


def _holds(onto: tuple[str, ...], work: tuple[str, ...]) -> bool:
    """Tell whether a verdict was given on a state that ends in this work. What it had before has retired since."""
    return onto[-len(work) :] == work


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


def starts(at: Situation, room: int) -> tuple[list[Act], bool]:
    """Return the steps that begin stories, in plan order, within room and budget; and whether a story has to wait for its turn."""
    left = at.agenda.of("left")
    acts: list[Act] = [Adopt(story=one.id, number=one.attempts, tests=one.writes_tests) for one in left]
    room -= len(acts)
    if room <= 0 or not at.agenda.any_ready or _is_closed(at):
        return acts, False
    begun, held, keeps_going, reserved = 0, False, at.run_input.policy.keep_going, dict(at.reserved)
    under_way, budget = len(acts) + at.agenda.agents, at.agenda.budget
    full: set[str] = set()
    waiting = at.agenda.in_order(full)
    while room > 0 and (story := next(waiting, None)):
        pool = at.agenda.pool_of(story)
        if room <= sum(reserved.values()) - reserved.get(pool, 0):
            full.add(pool)
            continue
        if not at.scope.allows(story):
            aside = _set_aside(at, story, budget)
            acts, room = acts + aside, room - len(aside)
            continue
        if story.parts and (asked := gates.to_go_on(at, story)) is not None:
            acts += asked
            break  # its substeps are done, and a person says whether its own verdict comes now
        if instead := _instead(at, story, budget):
            acts += instead
            room -= 1
            fact = instead[0] if isinstance(instead[0], Fact) else None
            if fact and (fact.context.get("reason") in SHARED or (fact.phase is StoryPhase.FAILED and not keeps_going)):
                break
        elif at.state.wait_until or not budget.has_room(under_way + begun, begun):
            held, waiting = True, at.agenda.special_after(story)  # no other one can have an attempt either
        else:
            first = gates.before_attempt(at, story, budget)
            acts += _begin(at, story, budget) if first is None else first
            room, begun, reserved[pool] = room - 1, begun + 1, max(0, reserved.get(pool, 0) - 1)
            if first and all(isinstance(act, Fact) for act in first):
                break  # a question or new substeps change which stories may begin
    return acts, held


def _is_closed(at: Situation) -> bool:
    """Tell whether no further story may begin: one has failed, or every story would meet the same refusal."""
    if at.state.shut or at.state.refusal or gates.is_busy(at):
        return True
    return not at.run_input.policy.keep_going and bool(at.agenda.sets["failed"])


def _instead(at: Situation, story: StoryState, budget: Budget) -> list[Act]:
    """Return what happens to a story instead of an attempt: its claim is checked, or it rests with a reason."""
    if at.agenda.lacks_external(story):
        return [rest(story, StoryPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY, "")]
    if story.uncounted >= MAX_UNCOUNTED and story.reason and story.reason is not Reason.INTERRUPTED:
        phase = StoryPhase.BLOCKED if MEANINGS[story.reason].ends_in == "blocked" else StoryPhase.FAILED
        return [rest(story, phase, story.reason, "uncounted endings")]
    if at.agenda.may_be_there(story):
        return [JudgeClaim(story=story.id)]
    spent = budget.exhausted(story, at.now_ms)
    if spent is None:
        return []
    if asked := gates.grant_instead(at, story, spent.limit):
        return [asked]
    blocks = at.run_input.policy.exhausted == "blocked" or MEANINGS[spent.reason].ends_in == "blocked"
    phase = StoryPhase.BLOCKED if blocks else StoryPhase.FAILED
    both = [story, at.state.stories[story.parent]] if story.parent else [story]
    return [rest(one, phase, spent.reason, spent.limit) for one in both]


def _set_aside(at: Situation, story: StoryState, budget: Budget) -> list[Act]:
    """Block a story whose ticket is blocked or has no attempt left, so that no other story waits for its turn."""
    if at.scope.claims is None:
        return []
    if story.id in at.scope.claims and story.reason is Reason.AGENT_NO_CHANGE and not story.judged:
        return [JudgeClaim(story=story.id)]  # that is no further attempt
    if spent := budget.story_exhausted(story):
        return [rest(story, StoryPhase.BLOCKED, spent.reason, spent.limit)]
    if story.id in at.scope.blocked:
        return [rest(story, StoryPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY, "", "its ticket is blocked")]
    return []


def _begin(at: Situation, story: StoryState, budget: Budget) -> list[Act]:
    number = story.attempts + 1
    base, timeout_ms = base_of(at.state, story), budget.attempt_ms(story, at.now_ms)
    writer = at.run_input.policy.tests_first
    tests = bool(writer) and story.tests is None
    shows = not tests and unproven.is_asked_for_a_test(story)
    work = story.unshown.commit if shows and story.unshown and not story.integrated else ""
    step = Attempt(
        story=story.id, number=number, base=base, timeout_ms=timeout_ms, tests=tests, shows=shows, work=work
    )  # fmt: skip
    begun = of_story(
        story, EventKind.ATTEMPT_STARTED, StoryPhase.RUNNING, attempt=number, step=step.id,
        base=base[0], onto=list(base[1:]), mode=TESTS if tests else SHOW if shows else "",
        agent=writer if tests and writer != "same" else "",
    )  # fmt: skip
    return [begun, step]


def base_of(state: RunState, story: StoryState) -> tuple[str, ...]:
    """Return the commits that an attempt begins on: the head, the verified work that it waits for, and its own tests."""
    needed: set[str] = set()
    untold = [story.id]
    while untold:
        for name in state.needs.get(untold.pop(), ()):  # one that came back may stand before others that are done
            if name not in needed and state.stories[name].index >= state.retire_at:
                needed.add(name)
                untold.append(name)
    verified = [one for one in state.in_order(needed) if one.phase is StoryPhase.VERIFIED]
    work = [commit for other in verified if not (other.gated or other.integrated) for commit in other.work]
    return (state.head or "", *work, *((story.tests,) if story.tests else ()))


def rest(story: StoryState, phase: StoryPhase, reason: Reason, limit: str, message: str = "") -> Fact:
    kind = EventKind.STORY_BLOCKED if phase is StoryPhase.BLOCKED else EventKind.STORY_FAILED
    status: EventStatus = "blocked" if phase is StoryPhase.BLOCKED else "failed"
    return of_story(story, kind, phase, status, attempt=0, reason=reason, limit=limit, message=message)
