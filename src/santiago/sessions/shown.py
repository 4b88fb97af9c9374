"""A planning session for its `session.json`: the state of planning, in the words of the planning review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from santiago.contract.phases import SessionPhase
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.result import Feedback, Session

if TYPE_CHECKING:
    from santiago.contract.session import SessionState

_STATUS: dict[SessionPhase, Literal["planning", "ready", "cancelled"]] = {
    SessionPhase.DRAFTING: "planning",
    SessionPhase.REVIEW: "ready",
    SessionPhase.FINALIZED: "ready",
    SessionPhase.CANCELLED: "cancelled",
}


def shown(state: SessionState) -> Session:
    """Return the fields about planning. The fields about execution belong to the run."""
    last = state.turns[-1] if state.turns else None
    return Session(
        contract_version=CONTRACT_VERSION,
        plan_revision=state.revision,
        planning_iteration_count=len(state.turns),
        planning_feedback_history=tuple(
            Feedback(revision=turn.began, mode=turn.mode, text=turn.text, actor=turn.actor, at=turn.at)
            for turn in state.turns
            if turn.text
        ),
        last_planning_mode=last.mode if last else None,
        execution_mode="chunked_by_planner_v1",
        current_chunk=None,
        completed_chunks=(),
        chunk_history=(),
        resumable_state=None,
        status=_STATUS[state.phase],
    )
