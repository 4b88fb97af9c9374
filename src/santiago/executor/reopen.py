"""Going on after an end: what a new start records when a person granted more, answered, or mended something."""

from __future__ import annotations

from collections.abc import Container, Sequence

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import EventKind, Fact
from santiago.contract.facts import of_run, of_story
from santiago.contract.phases import ENDED, PARKED, RunPhase, StoryPhase
from santiago.contract.policy import Limits
from santiago.contract.reasons import MEANINGS, ExitCode, Reason
from santiago.contract.record import record
from santiago.contract.state import RunState, StoryState
from santiago.executor.budget import Budget
from santiago.executor.decide import begin_chunk

_OF_RUN = frozenset({Reason.RUN_TIMEOUT, Reason.COST_BUDGET_EXHAUSTED})
"""Limits of the whole run. Reopening a single story cannot continue a run that reached one of them."""


@record
class Grants:
    """What a person adds with this start; each becomes an event."""

    attempts: int = 0
    minutes_ms: int = 0
    cost_micro_usd: int = 0
    tokens: int = 0
    hints: tuple[tuple[str, str], ...] = ()
    """(story, text)."""
    actor: str = "user"
    """Who grants."""

    @property
    def more_budget(self) -> bool:
        return bool(self.attempts or self.minutes_ms or self.cost_micro_usd or self.tokens)


def reopening(
    state: RunState, limits: Limits, grants: Grants, head: str | None, only: Container[str] | None = None
) -> list[Fact]:
    """Return the facts that continue a run; raise if it would only fail again in the same way.

    With `only`, no other story is reopened.
    """
    if state.phase is RunPhase.SUCCESS:
        return []
    _refuse_without_grant(state, limits, grants)
    asked = {question.story for question in state.open_questions()}
    waiting = [story for story in state.stories.values() if story.phase in PARKED and not story.skipped]
    wanted = [story for story in waiting if only is None or story.id in only or story.parent in only]
    reopened = [_reopened(story, grants.actor) for story in wanted if story.id not in asked]
    return [*_raised(state, limits, grants), *hints(state, grants), *reopened, *_executing(state, head)]


def reopening_some(state: RunState, names: Sequence[str], head: str | None, actor: str) -> list[Fact]:
    """Return the facts that reopen stories for work that a person supplies or accepts, even without budget or before their chunk."""
    stories = [state.stories[name] for name in names]
    reopened = [_reopened(story, actor) for story in stories if story.phase in PARKED]
    chunk = state.chunks[stories[0].chunk]
    return [*reopened, *_executing(state, head), *([] if chunk.started else begin_chunk(state, chunk))]


def _reopened(story: StoryState, actor: str) -> Fact:
    return of_story(story, EventKind.STORY_REOPENED, StoryPhase.READY, attempt=0, actor=actor)


def _executing(state: RunState, head: str | None) -> list[Fact]:
    resting = state.phase in ENDED or state.phase is RunPhase.PAUSED
    refused = state.phase is RunPhase.EXECUTING and (state.shut or state.refusal)
    if not resting and not refused:
        return []  # the run goes on where a crash left it, and keeps waiting if it was waiting
    return [of_run(EventKind.RUN_EXECUTING, RunPhase.EXECUTING, head=head or "")]


def _refuse_without_grant(state: RunState, limits: Limits, grants: Grants) -> None:
    reason = state.reason if state.phase is RunPhase.FAILED else None
    lost = [story for story in state.stories.values() if story.phase is StoryPhase.FAILED and not story.skipped]
    if reason is None or grants.more_budget or MEANINGS[reason].exit_code is not ExitCode.FAILED:
        return
    if not lost and reason not in _OF_RUN:
        return  # its failed stories were skipped, or the run's checks failed on a branch that a person may have mended
    gone = _used_up(Budget(limits, state), lost)
    raise SantiagoError(
        Kind.INPUT,
        f"this run ended with {reason} ({gone}); going on as it is would only repeat that",
        hint=f"{MEANINGS[reason].hint} `santiago skip STORY --why …` leaves a story out.",
        reason=reason,
    )


def _used_up(budget: Budget, lost: list[StoryState]) -> str:
    """Say which limits were reached: those of stories, or else the run's own."""
    own = [(story.id, budget.story_spent(story)) for story in lost]
    told = [f"{name} used all of its {' and '.join(gone)}" for name, gone in own if gone]
    spent = budget.run_exhausted(budget.state.used_ms)
    return "; ".join(told[:5]) or (
        f"the run reached its limits.{spent.limit}" if spent else "the run used its budget up"
    )


def _raised(state: RunState, limits: Limits, grants: Grants) -> list[Fact]:
    facts: list[Fact] = []
    budget = Budget(limits, state)
    # Stories without budget failed, or will fail when their turn comes.
    left = (one for one in state.stories.values() if not one.satisfied)
    spent = [one for one in left if one.phase is StoryPhase.FAILED or budget.story_exhausted(one) is not None]
    names = dict.fromkeys(one.parent or one.id for one in spent)
    for name in names:
        facts += _raise("story_max_attempts", grants.attempts, grants.actor, name)
        facts += _raise("story_timeout_minutes", grants.minutes_ms, grants.actor, name)
    facts += _raise("run_max_attempts", grants.attempts * max(1, len(names)), grants.actor)
    facts += _raise("run_timeout_minutes", grants.minutes_ms, grants.actor)
    facts += _raise("run_max_cost_usd", grants.cost_micro_usd, grants.actor)
    return facts + _raise("run_max_tokens", grants.tokens, grants.actor)


def _raise(limit: str, amount: int, actor: str, story: str | None = None) -> list[Fact]:
    if not amount:
        return []
    return [Fact(event=EventKind.BUDGET_RAISED, story=story, actor=actor, context={"limit": limit, "amount": amount})]


def hints(state: RunState, grants: Grants) -> list[Fact]:
    """Return the facts that give hints to stories' next attempts; raise if a story will have no further attempt."""
    for story in (state.stories[name] for name, _ in grants.hints):
        if story.satisfied:
            message = f"{story.id} is {'left out' if story.skipped else story.phase}, so no attempt will follow that could use the hint"
            raise SantiagoError(Kind.INPUT, message, hint="Write a new story for it.")
    return [
        Fact(event=EventKind.HINT_ADDED, story=name, actor=grants.actor, context={"text": text})
        for name, text in grants.hints
    ]
