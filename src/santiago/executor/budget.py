"""The hard limits, all in one place: what is left before an attempt, and which limit was reached."""

from __future__ import annotations

from typing import NamedTuple

from santiago.contract.counting import count
from santiago.contract.policy import Limits
from santiago.contract.reasons import Reason
from santiago.contract.state import RunState, StoryState

MAX_UNCOUNTED = 5
"""How many attempts of one story may end without being counted. Without this limit a broken service would be asked for ever."""


TICK_MS = 15_000
"""How often execution time is recorded as it passes."""


class Exhausted(NamedTuple):
    reason: Reason
    limit: str
    """Name of the limit, as in the run input."""


class Purse(NamedTuple):
    """One limit on tokens or money, with what the log says was used of it."""

    limit: str
    most: int
    spent: int
    expected: int
    """What one more attempt is expected to use: the largest so far."""
    silent: int
    """Attempts that did not report their usage, and that no person has accepted since."""

    def left(self, under_way: int) -> int:
        """Return what may still be spent. Each attempt that is under way has its share reserved."""
        return self.most - self.spent - under_way * self.expected

    def admits(self, under_way: int) -> bool:
        """Tell whether one more attempt may begin: enough must be left for its share."""
        return self.left(under_way) > 0 and self.lacking(under_way) == 0

    def lacking(self, under_way: int) -> int:
        """Return by how much the limit would have to rise so that one more attempt may begin."""
        return max(0, -self.left(under_way + 1))


class Budget:
    """The limits, raised by what people granted, compared with what the log says was used."""

    def __init__(self, limits: Limits, state: RunState, *, unknown_allowed: bool = False) -> None:
        self.limits = limits
        self.state = state
        self.unknown_allowed = unknown_allowed
        """Whether an agent that does not report its usage may work under a limit on tokens or money."""

    def exhausted(self, story: StoryState, now_ms: int) -> Exhausted | None:
        """Return the limit that forbids the next attempt of a story. `now_ms` is the time that the run has used."""
        return self.run_exhausted(now_ms) or self.story_exhausted(story)

    @property
    def run_attempts(self) -> int:
        """Attempts of the whole run, with what people granted on top."""
        return self._most("run_max_attempts", self.limits.run_max_attempts)

    @property
    def run_ms(self) -> int:
        return self._most("run_timeout_minutes", int(self.limits.run_timeout_minutes))

    def out_of_time(self, now_ms: int) -> Exhausted | None:
        return Exhausted(Reason.RUN_TIMEOUT, "run_timeout_minutes") if now_ms >= self.run_ms else None

    def run_exhausted(self, now_ms: int) -> Exhausted | None:
        if spent := self.out_of_time(now_ms):
            return spent
        if self.state.counted >= self.run_attempts:
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "run_max_attempts")
        return self._spending()

    def _spending(self) -> Exhausted | None:
        purses = [purse for purse in (self.tokens, self.money) if purse is not None]
        for purse in purses:
            if not purse.admits(0):
                return Exhausted(Reason.COST_BUDGET_EXHAUSTED, purse.limit)
        for purse in purses:
            if purse.silent > 0 and not self.unknown_allowed:
                return Exhausted(Reason.USAGE_UNKNOWN, purse.limit)
        return None

    def has_room(self, under_way: int, begun: int) -> bool:
        """Tell whether one more attempt fits beside those under way. `begun` of these are not in the log yet."""
        return not self.holding(under_way, begun)

    def holding(self, under_way: int, begun: int = 0) -> str:
        """Return the name of the limit that forbids one more attempt beside those under way; empty if there is room."""
        if begun and self.state.counted + begun >= self.run_attempts:
            return "run_max_attempts"
        purses = [purse for purse in (self.tokens, self.money) if purse is not None]
        # At first nobody knows what an attempt costs, so the first attempt runs alone.
        unknown = under_way and self.state.attempts - self.state.free + begun <= under_way
        return next((purse.limit for purse in purses if unknown or not purse.admits(under_way)), "")

    @property
    def tokens(self) -> Purse | None:
        state, limit = self.state, "run_max_tokens"
        given = self.limits.run_max_tokens
        if given is None:
            return None
        silent = state.unreported - state.accepted.get(limit, 0)
        return Purse(limit, self._most(limit, given), state.tokens, state.largest_tokens, silent)

    @property
    def money(self) -> Purse | None:
        """In millionths of a dollar."""
        state, limit = self.state, "run_max_cost_usd"
        given = self.limits.run_max_cost_usd
        if given is None:
            return None
        silent = state.unpriced - state.accepted.get(limit, 0)
        return Purse(limit, self._most(limit, int(given)), state.cost_micro_usd, state.largest_cost, silent)

    def story_exhausted(self, story: StoryState) -> Exhausted | None:
        """Return which limit of its own a story has reached."""
        if story.counted >= self.attempts_of(story):
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "story_max_attempts")
        if self.story_ms_left(story) <= 0:
            return Exhausted(Reason.ATTEMPT_BUDGET_EXHAUSTED, "story_timeout_minutes")
        return None

    def story_spent(self, story: StoryState) -> list[str]:
        """Return, in words, which of its own limits a story has used up: attempts, minutes, or both."""
        attempts, ms_left = self.story_attempts(story.parent or story.id), self.story_ms_left(story)
        minutes = (ms_left + sum(one.used_ms for one in self.state.family(story))) / 60_000
        gone = {
            count(attempts, "attempt"): story.counted >= self.attempts_of(story),
            f"{minutes:g} minute{'' if minutes == 1 else 's'}": ms_left <= 0,
        }
        return [words for words, used_up in gone.items() if used_up]

    def attempts_of(self, story: StoryState) -> int:
        """Return how many attempts one story may have in all: a parent and its substeps share theirs."""
        others = sum(one.counted for one in self.state.family(story)) - story.counted
        return self.story_attempts(story.parent or story.id) - others

    def story_attempts(self, story_id: str) -> int:
        return self._most("story_max_attempts", self.limits.story_max_attempts, story_id)

    def story_proposals(self, story_id: str) -> int:
        return self._most("story_max_proposals", self.limits.story_max_proposals, story_id)

    def story_ms_left(self, story: StoryState) -> int:
        """Return the time that a story has left, in milliseconds. Substeps use their parent's time."""
        most = self._most("story_timeout_minutes", int(self.limits.story_timeout_minutes), story.parent or story.id)
        return most - sum(one.used_ms for one in self.state.family(story))

    def attempt_ms(self, story: StoryState, now_ms: int) -> int:
        """Return the time that the next attempt may take."""
        run_left = self.run_ms - now_ms
        return max(1, min(self.limits.attempt_ms, self.story_ms_left(story), run_left))

    def _most(self, limit: str, given: int, story_id: str | None = None) -> int:
        raised = self.state.raised
        if not raised:
            return given
        return given + raised.get(limit, 0) + (raised.get(f"{limit}/{story_id}", 0) if story_id else 0)
