"""Line 63: which screen state a session and a run have, and no arrow between them that nobody asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from santiago.contract.phases import SESSION_MOVES, RunPhase, SessionPhase
from santiago.contract.views import screen
from santiago.report.following_session import FollowingSession
from santiago.report.review import screen_of
from tests.tui.made_session import reviewed

SCREENS = {
    SessionPhase.DRAFTING: "PLANNING_ACTIVE",
    SessionPhase.REVIEW: "PLAN_REVIEW_READY",
    SessionPhase.FINALIZED: "NORMAL",
    SessionPhase.CANCELLED: "NORMAL",
}
ARROWS = {
    ("PLANNING_ACTIVE", "PLAN_REVIEW_READY"),  # a turn completes with a plan
    ("PLAN_REVIEW_READY", "PLANNING_ACTIVE"),  # continue planning, quick edit
    ("PLAN_REVIEW_READY", "NORMAL"),  # cancel; finalize with --no-start, from where the run leads on
    ("PLANNING_ACTIVE", "NORMAL"),  # no plan
    ("NORMAL", "PLAN_REVIEW_READY"),  # a cancelled review is taken up
    ("NORMAL", "PLANNING_ACTIVE"),  # planning begins, or a session without a plan is taken up
}


def test_line_63_a_session_has_these_arrows_and_no_others(tmp_path: Path) -> None:
    planning = FollowingSession(reviewed(tmp_path).folder).planning
    for phase, wanted in SCREENS.items():
        planning.state.phase = phase
        assert screen_of(planning) == wanted
    assert {(SCREENS[a], SCREENS[b]) for a, others in SESSION_MOVES.items() for b in others} == ARROWS


@pytest.mark.parametrize(
    ("phase", "resumable", "wanted"),
    [
        (RunPhase.CREATED, True, "NORMAL"),
        (RunPhase.PLANNING, False, "PLANNING_ACTIVE"),
        (RunPhase.PLAN_REVIEW, False, "PLAN_REVIEW_READY"),
        (RunPhase.EXECUTING, False, "EXECUTION_ACTIVE"),
        (RunPhase.RUN_VERIFICATION, False, "EXECUTION_ACTIVE"),
        (RunPhase.PAUSED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.FAILED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.FAILED, False, "NORMAL"),
        (RunPhase.BLOCKED, True, "EXECUTION_RESUMABLE"),
        (RunPhase.SUCCESS, False, "NORMAL"),
    ],
)
def test_line_63_a_run_has_these_screens(phase: RunPhase, resumable: bool, wanted: str) -> None:
    assert screen(phase, resumable=resumable) == wanted
