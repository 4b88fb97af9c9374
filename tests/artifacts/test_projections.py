"""What the projections show is what plan and log say, and they are written only when that has changed."""

from typing import Any

from hypothesis import given, settings

from santiago.artifacts.projections import (
    BESIDE,
    CHUNK_PLAN,
    FULL_PLAN,
    SESSION,
    VERDICTS,
    History,
    Projector,
    chunk_plan,
    session,
    verdicts,
)
from santiago.contract import codec
from santiago.contract.events import EventKind
from santiago.contract.phases import RunPhase, StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.result import ResumePoint, Session
from tests.contract.histories import Journal, plan_of, plans
from tests.util.each import each

PLAN = plan_of(S1="C01:", S2="C01: S1", S3="C02: S1")


def history_of(journal: Journal) -> History:
    history = History()
    for event in journal.events:
        history.take(event)
    return history


def session_of(journal: Journal) -> Session:
    return session(journal.state, history_of(journal))


def executing() -> Journal:
    journal = Journal(PLAN, started=False)
    journal.add(EventKind.RUN_CREATED, phase=RunPhase.CREATED)
    journal.add(EventKind.RUN_EXECUTING, phase=RunPhase.EXECUTING)
    journal.add(EventKind.CHUNK_STARTED, chunk="C01")
    return journal


def test_the_chunk_plan_holds_the_active_chunk_only_and_names_its_place() -> None:
    data = chunk_plan(PLAN, "C02")
    assert [story["id"] for story in data["stories"]] == ["S3"]
    assert [chunk["label"] for chunk in data["chunks"]] == ["C02"]
    place = {"chunk": "C02", "stories": ["S3"], "chunk_index": 2, "chunk_count": 2}
    assert data["execution_scope"] == {**place, "full_plan": "planning_docs/full_plan.json"}


@given(plans())
@settings(max_examples=30)
def test_the_chunk_plans_together_hold_every_story_once_as_the_plan_has_it(plan: Plan) -> None:
    parts = [story for chunk in plan.chunks for story in chunk_plan(plan, chunk.label)["stories"]]
    assert sorted(map(str, parts)) == sorted(map(str, codec.to_data(plan)["stories"]))
    assert chunk_plan(plan, None)["stories"] == []


def test_the_session_follows_the_chunks_of_the_log() -> None:
    journal = executing()
    for _ in range(2):
        journal.move("S1", StoryPhase.RUNNING, StoryPhase.READY)
    journal.move("S1", StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED, StoryPhase.DONE)
    journal.move("S2", StoryPhase.RUNNING, StoryPhase.EVIDENCE_COLLECTED, StoryPhase.VERIFIED, StoryPhase.DONE)
    journal.add(EventKind.CHUNK_ENDED, chunk="C01", status="ok")
    journal.add(EventKind.CHUNK_STARTED, chunk="C02")
    journal.add(EventKind.RUN_PAUSED, phase=RunPhase.PAUSED)
    found = session_of(journal)
    assert (found.status, found.current_chunk, found.completed_chunks) == ("resumable", "C02", ("C01",))
    assert [(one.chunk, one.status, one.retries) for one in found.chunk_history] == [
        ("C01", "completed", 2),
        ("C02", "stopped", 0),
    ]
    last = journal.events[-1]
    assert found.resumable_state == ResumePoint(seq=last.seq, chunk="C02", story="S3", timestamp=last.timestamp)
    assert codec.decode(Session, codec.canonical(found), "session") == found


def test_a_chunk_in_which_the_run_ended_or_rested_has_its_end_its_status_and_its_retries_until_it_goes_on() -> None:
    """People 17, and 003: per chunk start, end, status and retries."""
    ends: tuple[tuple[EventKind, RunPhase, Any, str], ...] = (
        (EventKind.RUN_ENDED, RunPhase.FAILED, "failed", "failed"),
        (EventKind.RUN_ENDED, RunPhase.BLOCKED, "blocked", "blocked"),
        (EventKind.RUN_PAUSED, RunPhase.PAUSED, "ok", "stopped"),
    )
    for event, phase, status, shown in ends:
        journal = executing()
        journal.move("S1", StoryPhase.RUNNING, StoryPhase.READY, StoryPhase.RUNNING, StoryPhase.READY)
        journal.add(event, phase=phase, status=status)
        (found,) = session_of(journal).chunk_history
        assert (found.status, found.ended_at, found.retries) == (shown, journal.events[-1].timestamp, 1)
        journal.add(EventKind.RUN_EXECUTING, phase=RunPhase.EXECUTING)
        (found,) = session_of(journal).chunk_history
        assert (found.status, found.ended_at) == ("running", None)


def test_a_chunk_taken_up_again_is_in_the_session() -> None:
    journal = executing()
    journal.add(EventKind.CHUNK_ENDED, chunk="C01", status="failed")
    assert [one.status for one in session_of(journal).chunk_history] == ["failed"]
    journal.add(EventKind.CHUNK_STARTED, chunk="C01")
    assert [one.status for one in session_of(journal).chunk_history] == ["running"]


def test_the_table_of_verdicts_keeps_each_attempts_with_pass_or_fail_in_the_fourth_column() -> None:
    """Board line 7."""
    journal = executing()
    journal.move("S1", StoryPhase.RUNNING)
    journal.add(EventKind.ATTEMPT_ENDED, "S1", StoryPhase.READY, status="failed", verdict="fail", commit="a\tb\nc")
    rows = verdicts(history_of(journal)).decode().splitlines()
    assert rows[0].split("\t")[3] == "verdict"
    assert rows[1].split("\t")[3] == "FAIL"
    assert rows[1].split("\t")[5] == "a b c"
    journal.move("S1", StoryPhase.RUNNING)
    journal.add(EventKind.ATTEMPT_ENDED, "S1", StoryPhase.EVIDENCE_COLLECTED, status="ok", verdict="pass", verify_ms=5)
    rows = verdicts(history_of(journal)).decode().splitlines()
    assert [row.split("\t")[3] for row in rows[1:]] == ["FAIL", "PASS"]


def test_projections_are_written_only_when_they_changed() -> None:
    files: dict[str, bytes] = {}
    journal = executing()
    projector = Projector(PLAN, files.get, files.__setitem__)
    for event in journal.events:
        projector.take(event)
    assert sorted(projector.write(journal.state)) == sorted([BESIDE, CHUNK_PLAN, FULL_PLAN, SESSION, VERDICTS])
    assert projector.write(journal.state) == []

    def add(*arguments: Any, **options: Any) -> list[str]:
        journal.add(*arguments, **options)
        projector.take(journal.events[-1])
        return projector.write(journal.state)

    assert add(EventKind.ATTEMPT_STARTED, "S1", StoryPhase.RUNNING) == [SESSION]
    assert add(EventKind.NOTE) == [], "a remark changes nothing"
    assert add(EventKind.CHUNK_STARTED, chunk="C02") == [SESSION, CHUNK_PLAN]
    again = Projector(PLAN, files.get, files.__setitem__)
    for event in journal.events:
        again.take(event)
    assert again.write(journal.state) == []


@each("phase", RunPhase)
def test_every_run_phase_has_a_session_that_its_schema_allows(phase: RunPhase) -> None:
    journal = executing()
    journal.state.phase = phase
    found = session_of(journal)
    assert codec.decode(Session, codec.canonical(found), "session") == found
