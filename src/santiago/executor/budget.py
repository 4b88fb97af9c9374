"""The hard limits, in one place: what is left before an attempt, and the name of what has run out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from santiago.contract.policy import Limits
    from santiago.contract.state import RunState, StoryState

MAX_UNCOUNTED = 5
"""Endings of one story that cost no attempt; without a bound a broken service would be asked for ever."""


class Exhausted(NamedTuple):
    reason: Reason
    limit: str
    """Name of the limit, as in the run input."""
    whole_run: bool


class Budget:
    """Limits with what people have added to them, against what the log says was used."""

    def __init__(self, limits: Limits, state: RunState) -> None:
        self.limits = limits
        self.state = state

    def exhausted(self, story: StoryState, now_ms: int) -> Exhausted | None:
        """Return what forbids the next attempt of a story; `now_ms` is the run's time used up to now."""
        return self.run_exhausted(now_ms) or self._story_exhausted(story)

    def run_exhausted(self, now_ms: int) -> Exhausted | None:
        state, limits = self.state, self.limits
        if now_ms >= self._most("run_timeout_minutes", int(limits.run_timeout_minutes)):
            return Exhausted(Reason.RUN_TIMEOUT, "run_timeout_minutes", whole_run=True)
        if state.counted >= self._most("run_max_attempts", limits.run_max_attempts):
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "run_max_attempts", whole_run=True)
        return self._spending()

    def _spending(self) -> Exhausted | None:
        state, limits = self.state, self.limits
        if limits.run_max_tokens is not None and state.tokens >= self._most("run_max_tokens", limits.run_max_tokens):
            return Exhausted(Reason.COST_BUDGET_EXHAUSTED, "run_max_tokens", whole_run=True)
        cost = limits.run_max_cost_usd
        if cost is not None and state.cost_micro_usd >= self._most("run_max_cost_usd", int(cost)):
            return Exhausted(Reason.COST_BUDGET_EXHAUSTED, "run_max_cost_usd", whole_run=True)
        return None

    def _story_exhausted(self, story: StoryState) -> Exhausted | None:
        if story.counted >= self.story_attempts(story.id):
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "story_max_attempts", whole_run=False)
        if self.story_ms_left(story) <= 0:
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "story_timeout_minutes", whole_run=False)
        return None

    def story_attempts(self, story_id: str) -> int:
        return self._most("story_max_attempts", self.limits.story_max_attempts, story_id)

    def story_ms_left(self, story: StoryState) -> int:
        return self._most("story_timeout_minutes", int(self.limits.story_timeout_minutes), story.id) - story.used_ms

    def attempt_ms(self, story: StoryState, now_ms: int) -> int:
        """Return the time that the next attempt may take."""
        run_left = self._most("run_timeout_minutes", int(self.limits.run_timeout_minutes)) - now_ms
        return max(1, min(self.limits.attempt_ms, self.story_ms_left(story), run_left))

    def _most(self, limit: str, given: int, story_id: str | None = None) -> int:
        raised = self.state.raised
        return given + raised.get(limit, 0) + (raised.get(f"{limit}/{story_id}", 0) if story_id else 0)
