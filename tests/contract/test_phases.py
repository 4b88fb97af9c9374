"""The two machines are exactly the arrows of the design, no more and no fewer."""

from __future__ import annotations

from itertools import pairwise, product

from santiago.contract.phases import ENDED, RUN_MOVES, SATISFIED, STORY_MOVES, RunPhase, StoryPhase
from tests.util.each import each

STORY_ARROWS = """
    planned            → ready failed blocked
    ready              → proposed running evidence_collected planned failed blocked
    proposed           → ready running failed blocked
    running            → ready evidence_collected failed blocked
    evidence_collected → ready verified failed blocked
    verified           → ready done failed blocked
    done               →
    failed             → ready
    blocked            → ready planned
"""
"""Beside the design's own: claimed work is judged without an attempt, a voided dependency sends back to planned, and a parent fails with its substeps."""

RUN_ARROWS = """
    created          → planning executing
    planning         → plan_review failed blocked
    plan_review      → planning executing
    executing        → paused run_verification failed blocked
    paused           → executing failed blocked
    run_verification → success failed blocked paused
    success          →
    failed           → executing
    blocked          → executing
"""


def arrows(drawn: str) -> set[tuple[str, str]]:
    rows = [line.split("→") for line in drawn.strip().splitlines()]
    return {(old.strip(), new) for old, news in rows for new in news.split()}


def test_every_story_phase_has_a_row_of_moves() -> None:
    assert set(STORY_MOVES) == set(StoryPhase)


def test_every_run_phase_has_a_row_of_moves() -> None:
    assert set(RUN_MOVES) == set(RunPhase)


def test_story_moves_are_exactly_the_drawn_arrows() -> None:
    moves = {(old.value, new.value) for old, new in product(StoryPhase, StoryPhase) if new in STORY_MOVES[old]}
    assert moves == arrows(STORY_ARROWS)


def test_run_moves_are_exactly_the_drawn_arrows() -> None:
    moves = {(old.value, new.value) for old, new in product(RunPhase, RunPhase) if new in RUN_MOVES[old]}
    assert moves == arrows(RUN_ARROWS)


def test_a_story_walks_from_planned_to_done_with_or_without_a_proposal() -> None:
    plain = ["planned", "ready", "running", "evidence_collected", "verified", "done"]
    proposed = ["planned", "ready", "proposed", "running", "evidence_collected", "verified", "done"]
    for walk in (plain, proposed):
        phases = [StoryPhase(name) for name in walk]
        assert all(new in STORY_MOVES[old] for old, new in pairwise(phases))


@each("phase", [StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED])
def test_rework_leads_back_to_ready(phase: StoryPhase) -> None:
    assert StoryPhase.READY in STORY_MOVES[phase]


def test_only_a_verified_story_becomes_done() -> None:
    assert [old for old in StoryPhase if StoryPhase.DONE in STORY_MOVES[old]] == [StoryPhase.VERIFIED]


def test_only_collected_evidence_becomes_verified() -> None:
    assert [old for old in StoryPhase if StoryPhase.VERIFIED in STORY_MOVES[old]] == [StoryPhase.EVIDENCE_COLLECTED]


def test_only_a_verified_run_succeeds() -> None:
    assert [old for old in RunPhase if RunPhase.SUCCESS in RUN_MOVES[old]] == [RunPhase.RUN_VERIFICATION]


def test_done_and_success_are_the_only_phases_without_a_way_out() -> None:
    assert [phase for phase in StoryPhase if not STORY_MOVES[phase]] == [StoryPhase.DONE]
    assert [phase for phase in RunPhase if not RUN_MOVES[phase]] == [RunPhase.SUCCESS]


def test_failed_and_blocked_stories_return_to_ready() -> None:
    assert STORY_MOVES[StoryPhase.FAILED] == {StoryPhase.READY}
    assert StoryPhase.READY in STORY_MOVES[StoryPhase.BLOCKED]


def test_failed_and_blocked_runs_return_to_executing_only() -> None:
    assert RUN_MOVES[RunPhase.FAILED] == RUN_MOVES[RunPhase.BLOCKED] == {RunPhase.EXECUTING}


def test_no_phase_moves_to_itself() -> None:
    assert not any(phase in STORY_MOVES[phase] for phase in StoryPhase)
    assert not any(phase in RUN_MOVES[phase] for phase in RunPhase)


def test_every_phase_can_be_reached() -> None:
    assert set().union(*STORY_MOVES.values()) == set(StoryPhase)
    assert set().union(*RUN_MOVES.values()) == set(RunPhase) - {RunPhase.CREATED}


def test_work_serves_others_once_verified_and_a_run_has_a_result_once_ended() -> None:
    assert set(SATISFIED) == {StoryPhase.VERIFIED, StoryPhase.DONE}
    assert set(ENDED) == {RunPhase.SUCCESS, RunPhase.FAILED, RunPhase.BLOCKED}
