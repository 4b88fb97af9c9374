"""The times that are shown agree with each other, also after a crash."""

from __future__ import annotations

from santiago.app.history import History
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import RunPhase


def history(*told: tuple[int, EventKind, Context]) -> History:
    """Return what a log tells whose events came at these seconds."""
    found = History()
    phases = {EventKind.RUN_EXECUTING: RunPhase.EXECUTING, EventKind.RUN_PAUSED: RunPhase.PAUSED}
    for number, (second, kind, context) in enumerate(told, 1):
        found.take(
            Event(
                seq=number,
                timestamp=f"2026-01-01T00:00:{second:02}.000Z",
                run_id="r",
                event=kind,
                chunk="C01" if kind is EventKind.CHUNK_STARTED else None,
                story_id="S1" if kind is EventKind.ATTEMPT_ENDED else None,
                phase=phases.get(kind),
                context=context,
            )
        )
    return found


def test_a_chunk_s_time_is_what_counts_as_used_and_not_how_long_nobody_worked_after_a_crash() -> None:
    begun: tuple[tuple[int, EventKind, Context], ...] = (
        (0, EventKind.RUN_STARTED, {}),
        (0, EventKind.RUN_EXECUTING, {}),
        (0, EventKind.CHUNK_STARTED, {}),
    )
    counted: tuple[int, EventKind, Context] = (3, EventKind.TIME_USED, {"ms": 3000})
    assert history(*begun, (2, EventKind.NOTE, {})).chunk_ms == {"C01": 2000}
    crashed = history(
        *begun, counted, (4, EventKind.NOTE, {}), (30, EventKind.ATTEMPT_ENDED, {}), (30, EventKind.RUN_STARTED, {})
    )
    assert crashed.chunk_ms == {"C01": 3000}
    unseen: tuple[int, EventKind, Context] = (50, EventKind.TIME_USED, {"ms": 1000})  # what a start finds out first
    late = history(*begun, counted, (4, EventKind.NOTE, {}), unseen, (50, EventKind.RUN_STARTED, {}))
    assert late.chunk_ms == {"C01": 4000}
    stopped = history(*begun, counted, (3, EventKind.RUN_PAUSED, {}), (40, EventKind.RUN_STARTED, {}))
    assert stopped.chunk_ms == {"C01": 3000}


def test_the_time_in_which_a_person_was_asked_is_none_of_the_chunk() -> None:
    told = history(
        (0, EventKind.RUN_STARTED, {}), (0, EventKind.RUN_EXECUTING, {}), (1, EventKind.CHUNK_STARTED, {}),
        (3, EventKind.QUESTION_ASKED, {"question": "S1-detail-1"}),
        (43, EventKind.QUESTION_ANSWERED, {"question": "S1-detail-1"}), (45, EventKind.TIME_USED, {"ms": 5000}),
    )  # fmt: skip
    assert told.chunk_ms == {"": 1000, "C01": 4000}
