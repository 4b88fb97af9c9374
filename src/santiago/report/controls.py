"""Which controls the review of a planning session shows now. All others are hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from santiago.report.following_session import FollowingSession

Control = Literal[
    "continue", "edit", "finalize", "cancel", "take_up", "answer", "plan_on", "run", "begin", "more_turns"
]
DECIDING: frozenset[Control] = frozenset({"continue", "edit", "finalize", "cancel"})
OVER: frozenset[Control] = frozenset({"more_turns", "finalize", "cancel"})
"""Controls that are left when all turns are used."""


def controls_of(following: FollowingSession) -> frozenset[Control]:
    """Return what can be done now. A person can decide only on the latest revision, and only if no process works on it."""
    review = following.review
    found: set[Control] = {"answer"} if following.asked else set()
    if review.run:
        planned: set[Control] = {"begin"} if following.ran.startswith("planned") else set()
        return frozenset(found | planned | {"plan_on", "run"})
    if review.worker and review.state == "drafting":
        return frozenset(found | {"cancel"})
    if following.earlier or review.worker:
        return frozenset(found)
    if review.question and not following.waiting:
        return frozenset(found | (OVER if following.turns_used else DECIDING))
    return frozenset(found if review.state == "finalized" else {*found, "take_up"})
