"""The state machines: the phases of a story, a run and a planning session, each with its whole table of allowed moves."""

from __future__ import annotations

from enum import StrEnum


class StoryPhase(StrEnum):
    PLANNED = "planned"
    """Waits for its dependencies or its chunk."""
    READY = "ready"
    """May be attempted."""
    PROPOSED = "proposed"
    """A detailed plan waits for approval; only where the detail gate is closed."""
    RUNNING = "running"
    """An attempt is under way; entering this phase counts one attempt."""
    EVIDENCE_COLLECTED = "evidence_collected"
    """The attempt ended and its verdict is recorded."""
    VERIFIED = "verified"
    """The verdict is a pass; waits for its turn to be integrated, and for the result gate."""
    DONE = "done"
    """Integrated into the run's branch. Final."""
    FAILED = "failed"
    """Out of budget; only a person's grant of more brings it back."""
    BLOCKED = "blocked"
    """Something outside the loop must happen first."""


class RunPhase(StrEnum):
    CREATED = "created"
    """Plan and input are frozen; nothing has run."""
    EXECUTING = "executing"
    """Stories are being carried out."""
    PAUSED = "paused"
    """Stopped at a safe boundary, or waiting; continues where it was."""
    RUN_VERIFICATION = "run_verification"
    """All stories are done; the run's own checks are under way."""
    SUCCESS = "success"
    """All stories done and the run's checks passed. Final."""
    FAILED = "failed"
    """Ended without success; a person's grant may reopen it."""
    BLOCKED = "blocked"
    """Ended because a person or another system must act."""


class SessionPhase(StrEnum):
    DRAFTING = "drafting"
    """A planning turn is under way."""
    REVIEW = "review"
    """A revision of the plan waits for a person's word."""
    FINALIZED = "finalized"
    """A person approved a revision, and its run is there. Final."""
    CANCELLED = "cancelled"
    """A person ended the review, or no turn brought a plan; it can be taken up again."""


_S = StoryPhase
STORY_MOVES: dict[StoryPhase, frozenset[StoryPhase]] = {
    # A parent fails with its substeps, on whose account they are. A person may accept work whose story has to wait again.
    _S.PLANNED: frozenset({_S.READY, _S.EVIDENCE_COLLECTED, _S.BLOCKED, _S.FAILED}),
    # Evidence without an attempt: work that the document claims done, judged on the base.
    _S.READY: frozenset({_S.PROPOSED, _S.RUNNING, _S.EVIDENCE_COLLECTED, _S.FAILED, _S.BLOCKED, _S.PLANNED}),
    _S.PROPOSED: frozenset({_S.READY, _S.RUNNING, _S.FAILED, _S.BLOCKED}),
    _S.RUNNING: frozenset({_S.EVIDENCE_COLLECTED, _S.READY, _S.FAILED, _S.BLOCKED}),
    _S.EVIDENCE_COLLECTED: frozenset({_S.VERIFIED, _S.READY, _S.FAILED, _S.BLOCKED}),
    _S.VERIFIED: frozenset({_S.DONE, _S.READY, _S.FAILED, _S.BLOCKED}),
    _S.DONE: frozenset(),
    _S.FAILED: frozenset({_S.READY}),
    _S.BLOCKED: frozenset({_S.READY, _S.PLANNED}),
}
"""`ready → planned` is a dependency that was verified and then voided at its integration."""

_R = RunPhase
RUN_MOVES: dict[RunPhase, frozenset[RunPhase]] = {
    _R.CREATED: frozenset({_R.EXECUTING}),
    _R.EXECUTING: frozenset({_R.PAUSED, _R.RUN_VERIFICATION, _R.FAILED, _R.BLOCKED}),
    _R.PAUSED: frozenset({_R.EXECUTING, _R.FAILED, _R.BLOCKED}),
    _R.RUN_VERIFICATION: frozenset({_R.SUCCESS, _R.FAILED, _R.BLOCKED, _R.PAUSED}),
    _R.SUCCESS: frozenset(),
    _R.FAILED: frozenset({_R.EXECUTING}),
    _R.BLOCKED: frozenset({_R.EXECUTING}),
}

_P = SessionPhase
SESSION_MOVES: dict[SessionPhase, frozenset[SessionPhase]] = {
    _P.DRAFTING: frozenset({_P.REVIEW, _P.CANCELLED}),
    _P.REVIEW: frozenset({_P.DRAFTING, _P.FINALIZED, _P.CANCELLED}),
    _P.FINALIZED: frozenset(),
    _P.CANCELLED: frozenset({_P.REVIEW, _P.DRAFTING}),
}

SATISFIED = frozenset({StoryPhase.VERIFIED, StoryPhase.DONE})
"""Phases in which a story's work can serve as the base of another."""

WAITING = frozenset({StoryPhase.PLANNED, StoryPhase.READY})
"""Phases in which nothing of a story is under way."""

PARKED = frozenset({StoryPhase.FAILED, StoryPhase.BLOCKED})
"""Phases in which a story has left the order, so that nobody waits behind it."""

ENDED = frozenset({RunPhase.SUCCESS, RunPhase.FAILED, RunPhase.BLOCKED})
"""Phases in which a run has a result."""
