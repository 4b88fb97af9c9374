"""Decides whether the loop goes on, and which tickets a person has to decide on."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from santiago.board.triage import priority
from santiago.contract.board import QUEUES, Queue
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from santiago.contract.board import Card

LoopStatus = Literal["CONTINUE", "STOP_DONE", "STOP_USER_CONFIRMATION"]
ACTIONABLE: tuple[Queue, ...] = tuple(queue for queue in QUEUES if queue != "done")
_PHRASES = (
    "needs_user_confirmation", "external_decision_required", "user_decision_required",
    r"requires\s+user\s+confirmation", r"user\s+confirmation\s+required",
)  # fmt: skip
_SIGNAL = pattern(rf"(?<![\w-])(?:{'|'.join(_PHRASES)})(?!-?\w)", re.IGNORECASE)


@record
class Verdict:
    """Whether the loop goes on, and the counts that say why."""

    status: LoopStatus
    reason: str
    counts: dict[str, int]
    """Tickets that still need somebody, by queue. Tickets that the planner closed are not counted."""
    moving: int
    """How many of these somebody works on, could claim, or has to review."""
    ending: int
    """How many of these are requests that only wait for their own acceptance.

    They are counted only when nothing else moves.
    """
    backlog: int
    """Plans with open boxes that have no ticket."""
    user_confirmation_ids: tuple[str, ...]
    blocked_for_user: int
    """Blocked tickets that wait only for a person."""
    unproven: int
    """How many of these have their work on a branch already, so that nothing waits for them."""
    decided: dict[str, int]
    """Blocked tickets that the planner closed, by decision."""
    bypasses: int
    """How often somebody started work without the board."""

    @property
    def actionable(self) -> int:
        """How many tickets and plans can go on without a person's decision."""
        return sum(self.counts.values()) + self.backlog - self.blocked_for_user

    @property
    def stuck(self) -> bool:
        """Whether tickets are left, but none can go on until somebody decides."""
        return sum(self.counts.values()) > 0 and self.moving == 0 and self.backlog == 0


def judge(
    per_queue: Mapping[Any, int],
    blocked: Sequence[Card],
    moving: int,
    backlog: int,
    open_questions: Sequence[str],
    *,
    ending: int,
    bypasses: int,
) -> Verdict:
    """Return the verdict from the number of tickets per queue, and the blocked tickets themselves.

    That is enough, since only blocked tickets can be closed by a decision. `moving` counts the tickets that are held or
    can be claimed; tickets that wait for review or acceptance are added here. `open_questions` names those that wait for
    a person's answer.
    """
    undecided = [card for card in blocked if not card.decided]
    counts: dict[str, int] = {**{queue: per_queue.get(queue, 0) for queue in ACTIONABLE}, "blocked": len(undecided)}
    asking = tuple(dict.fromkeys([*(card.id for card in undecided if is_for_user(card)), *open_questions]))
    for_user = sum(card.id in asking for card in undecided)
    moving += ending + max(0, counts["planner-review"] - (len(asking) - for_user))
    status, reason = _status_and_reason(counts, moving, backlog, asking)
    return Verdict(
        status=status,
        reason=reason,
        counts=counts,
        moving=moving,
        ending=ending,
        backlog=backlog,
        user_confirmation_ids=asking,
        blocked_for_user=for_user,
        unproven=sum(card.is_unproven for card in undecided),
        decided=dict(Counter(card.decided for card in blocked if card.decided)),
        bypasses=bypasses,
    )


def is_ending(card: Card, parts: Iterable[Card]) -> bool:
    """Tell whether a routed request only waits for its own acceptance: all its tickets are done or bypassed."""
    routed = card.queue == "planner-inbox" and card.status == "in_progress" and not card.held
    return routed and all(one.queue == "done" or one.decided == "bypass" for one in parts)


def is_for_user(card: Card) -> bool:
    """Tell whether a blocked ticket's note or next action says that a person must decide. Its title does not count."""
    if card.queue != "blocked" or card.decided:
        return False
    return bool(_SIGNAL.search(card.note) or _SIGNAL.search(card.next_action))


def _status_and_reason(
    counts: dict[str, int], moving: int, backlog: int, asking: tuple[str, ...]
) -> tuple[LoopStatus, str]:
    total = sum(counts.values())
    if asking:
        return "STOP_USER_CONFIRMATION", "a person has to decide"
    if total == 0 and backlog == 0:
        return "STOP_DONE", "all queues and the plan backlog are empty"
    if total == 0:
        return "CONTINUE", "plans with open boxes are left"
    if moving == 0 and backlog == 0:
        return "CONTINUE", "everything that is left is blocked or waits for it; the planner has to decide"
    return "CONTINUE", "tickets are left to work on"


def accumulated(cards: Iterable[Card], limit: int) -> tuple[str, ...]:
    """Return the undecided tickets without an attempt left, if there are too many or one has the highest priority."""
    spent = [card for card in cards if card.queue == "blocked" and card.spent and not card.decided]
    too_many = len(spent) >= limit or any(priority(card) == 0 for card in spent)
    return tuple(card.id for card in spent) if too_many else ()


def as_data(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": verdict.status, "reason": verdict.reason, "counts": verdict.counts, "backlog": verdict.backlog,
        "stuck": verdict.stuck,
        "user_confirmation_ids": list(verdict.user_confirmation_ids), "decided": verdict.decided,
        "bypasses": verdict.bypasses,
    }  # fmt: skip
