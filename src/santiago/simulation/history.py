"""What earlier runs tell about the next one: how long attempts and checks take, what they cost, how they end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple

from santiago.contract.events import Event, EventKind
from santiago.contract.moments import ms_of
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.record import lean, record

MOST = 300
"""How many attempts chance draws from, the newest first: what was long ago says little."""
_ASKED = frozenset({Reason.AGENT_ASKED, Reason.CHANGED_EXPECTATION, Reason.DOUBTED, Reason.NEEDS_USER_CONFIRMATION})
_REFUSED = frozenset({Reason.AGENT_RATE_LIMITED, Reason.AGENT_UNAVAILABLE})
_SPENDING = {reason for reason, meaning in MEANINGS.items() if meaning.spends} - {Reason.INTERRUPTED}
_CHANCE = {reason.value: reason for reason in _ASKED | _REFUSED | _SPENDING}
"""Endings that happen by chance. Others, such as a missing sign-in, are mended before the next run."""


class Tried(NamedTuple):
    """One attempt that ended."""

    agent_ms: int
    verify_ms: int
    reason: Reason | None = None
    tokens: int | None = None
    micro_usd: int | None = None
    wait_s: int | None = None
    """How long its service refused, where it said so."""


@record
class History:
    """All that is known before a run begins."""

    attempts: tuple[Tried, ...] = ()
    checks: tuple[int, ...] = ()
    """How long verdicts took besides those on attempts: of the base, of work on a branch that moved, of the run."""
    people: tuple[int, ...] = ()
    """How long people took to answer."""
    conflicts: float = 0.0
    """Share of verified work that did not fit onto the branch."""
    runs: int = 0
    origin: str = ""
    """Where it is from: `here`, `your other repositories`; empty where only options say it."""
    said: tuple[str, ...] = ()
    """What options said in its place."""


@lean()
class Learner:
    """Takes in the logs of runs, event by event."""

    attempts: list[Tried] = field(default_factory=list)
    checks: list[int] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    integrations: list[bool] = field(default_factory=list)
    """For each story that came to its turn, whether its work did not fit."""
    runs: int = 0

    def read(self, events: Iterable[Event]) -> None:
        """Learn from one run."""
        open_ones: dict[str, str] = {}
        asked: dict[str, str] = {}
        for event in events:
            context, story = event.context, event.story_id or ""
            match event.event:
                case EventKind.ATTEMPT_STARTED if event.actor == "santiago":
                    open_ones[story] = event.timestamp
                case EventKind.ATTEMPT_ENDED | EventKind.ATTEMPT_VOIDED if story in open_ones:
                    self._take(event, open_ones.pop(story))
                case EventKind.STORY_DONE | EventKind.STORY_INTEGRATED:
                    self.integrations.append(False)
                case EventKind.ATTEMPT_VOIDED | EventKind.INTEGRATION_FAILED:
                    self.integrations.append(context.get("reason") == Reason.WORKSPACE_CONFLICT)
                case EventKind.QUESTION_ASKED:
                    asked[context.get("question", "")] = event.timestamp
                case EventKind.QUESTION_ANSWERED if (since := asked.pop(context.get("question", ""), None)) is not None:
                    self.people.append(max(0, ms_of(event.timestamp) - ms_of(since)))
            if event.event not in (EventKind.ATTEMPT_ENDED, EventKind.CLAIM_JUDGED) and context.get("verify_ms"):
                self.checks.append(context["verify_ms"])
        self.runs += 1

    def _take(self, event: Event, since: str) -> None:
        context, word = event.context, event.context.get("reason")
        if word and word not in _CHANCE:
            return
        reason = _CHANCE.get(word or "")
        agent, verify = context.get("agent_ms", 0), context.get("verify_ms", 0)
        lasted = ms_of(event.timestamp) - ms_of(since)
        if (
            agent + verify < lasted < 2 * (agent + verify) + 60_000
        ):  # more than that is no work, but a machine that slept
            agent = lasted - verify
        refused = context.get("ms") if reason in _REFUSED else None
        self.attempts.append(
            Tried(
                agent, verify, reason, context.get("tokens"), context.get("cost_micro_usd"), refused and refused // 1000
            )
        )

    def history(self, origin: str) -> History:
        fits = self.integrations
        return History(
            attempts=tuple(self.attempts[:MOST]), checks=tuple(self.checks[:MOST]), people=tuple(self.people[:MOST]),
            conflicts=sum(fits) / len(fits) if fits else 0.0, runs=self.runs, origin=origin,
        )  # fmt: skip
