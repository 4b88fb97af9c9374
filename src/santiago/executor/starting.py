"""Which stories begin now, within room and budget; a story that cannot begin comes to rest with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.event_effects import SHOW, TESTS
from santiago.contract.events import EventKind, EventStatus, Fact
from santiago.contract.facts import of_story
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import MEANINGS, SHARED, Reason
from santiago.contract.steps import Adopt, Attempt, JudgeClaim, story_of
from santiago.executor import gates, unproven
from santiago.executor.budget import MAX_UNCOUNTED, Budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.contract.plan import Story
    from santiago.contract.state import RunState, StoryState
    from santiago.executor.situation import Act, Situation


def starts(at: Situation, room: int) -> tuple[list[Act], bool]:
    """Return the steps that begin stories, in plan order, within room and budget; and whether a story has to wait for its turn."""
    acts: list[Act] = list(_adoptions(at))
    if _is_closed(at):
        return acts, False
    room -= len(acts)
    begun, held = 0, False
    busy = {story_of(step) for step in at.flying.values()}
    under_way = len(acts) + sum(isinstance(step, Attempt | Adopt) for step in at.flying.values())
    budget = Budget(at.run_input.limits, at.state, unknown_allowed=at.run_input.policy.unknown_usage == "allow")
    for story in at.state.ready_stories():
        if room <= 0:
            break
        if story.id in busy or story.aside:
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
            if _closes(at, instead[0]):
                break
        elif at.state.wait_until or not budget.has_room(under_way + begun, begun):
            held = True
        else:
            first = gates.before_attempt(at, story, budget)
            acts += _begin(at, story, budget) if first is None else first
            room, begun = room - 1, begun + 1
            if first and all(isinstance(act, Fact) for act in first):
                break  # a question or new substeps change which stories may begin
    return acts, held


def _is_closed(at: Situation) -> bool:
    """Tell whether no further story may begin: one has failed, or every story would meet the same refusal."""
    if at.state.shut or at.state.refusal:
        return True
    if gates.is_busy(at):
        return True
    return _has_failed(at) and not at.run_input.policy.keep_going


def _closes(at: Situation, act: Act) -> bool:
    """Tell whether no story may begin after this act."""
    if not isinstance(act, Fact):
        return False
    return act.context.get("reason") in SHARED or (
        act.phase is StoryPhase.FAILED and not at.run_input.policy.keep_going
    )


def _adoptions(at: Situation) -> Iterator[Act]:
    for name in sorted(at.recovered & at.state.running, key=lambda name: at.state.stories[name].index):
        if not in_flight(at, name):
            story = at.state.stories[name]
            yield Adopt(story=name, number=story.attempts, tests=story.writes_tests)


def _instead(at: Situation, story: StoryState, budget: Budget) -> list[Act]:
    """Return what happens to a story instead of an attempt: its claim is checked, or it rests with a reason."""
    planned = at.stories[story.parent or story.id]
    if planned.external_depends_on and not at.run_input.policy.assume_external:
        return [rest(story, StoryPhase.BLOCKED, Reason.BLOCKED_DEPENDENCY, "")]
    if story.uncounted >= MAX_UNCOUNTED and story.reason and story.reason is not Reason.INTERRUPTED:
        phase = StoryPhase.BLOCKED if MEANINGS[story.reason].ends_in == "blocked" else StoryPhase.FAILED
        return [rest(story, phase, story.reason, "uncounted endings")]
    if _may_be_there(planned, story) and not story.judged and not story.change_requested:
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


def _may_be_there(planned: Story, story: StoryState) -> bool:
    """Tell whether a story may be done without another attempt: its document or an earlier run says so, or its agent found nothing to do."""
    if story.parent:
        return False
    claimed = (planned.claimed_done or story.kept) and story.attempts == 0
    return bool(claimed or story.parts or story.reason is Reason.AGENT_NO_CHANGE)


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
    waiting = [story.id]
    while waiting:
        for name in state.needs.get(waiting.pop(), ()):
            other = state.stories[name]
            on_branch = other.gated or other.integrated
            if other.phase is StoryPhase.VERIFIED and not on_branch and name not in needed:
                needed.add(name)
                waiting.append(name)
    found = sorted((state.stories[name] for name in needed), key=lambda other: other.index)
    work = [commit for other in found for commit in (*(other.onto[-1:] if other.on_tests else ()), other.commit)]
    return (state.head or "", *(commit for commit in (*work, story.tests) if commit))


def rest(story: StoryState, phase: StoryPhase, reason: Reason, limit: str, message: str = "") -> Fact:
    kind = EventKind.STORY_BLOCKED if phase is StoryPhase.BLOCKED else EventKind.STORY_FAILED
    status: EventStatus = "blocked" if phase is StoryPhase.BLOCKED else "failed"
    return of_story(story, kind, phase, status, attempt=0, reason=reason, limit=limit, message=message)


def _has_failed(at: Situation) -> bool:
    return any(not at.state.stories[name].skipped for name in at.state.failed)


def in_flight(at: Situation, story: str) -> bool:
    return any(story_of(step) == story for step in at.flying.values())
