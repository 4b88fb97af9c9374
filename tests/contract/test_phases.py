"""The two machines are exactly the arrows of the design, no more and no fewer."""

from __future__ import annotations

from itertools import product

from santiago.contract.phases import ENDED, RUN_MOVES, SATISFIED, STORY_MOVES, RunPhase, StoryPhase

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


def test_moves_are_exactly_the_drawn_arrows() -> None:
    stories = {(old.value, new.value) for old, new in product(StoryPhase, StoryPhase) if new in STORY_MOVES[old]}
    runs = {(old.value, new.value) for old, new in product(RunPhase, RunPhase) if new in RUN_MOVES[old]}
    assert stories == arrows(STORY_ARROWS)
    assert runs == arrows(RUN_ARROWS)


def test_work_serves_others_once_verified_and_a_run_has_a_result_once_ended() -> None:
    assert set(SATISFIED) == {StoryPhase.VERIFIED, StoryPhase.DONE}
    assert set(ENDED) == {RunPhase.SUCCESS, RunPhase.FAILED, RunPhase.BLOCKED}
