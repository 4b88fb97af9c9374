"""The times that are shown agree with each other, also after a crash."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from santiago.app.history import History
from santiago.app.loading import frozen
from santiago.app.start.header import RunHeader
from santiago.cli.view.screen import Screen
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.util.clock import moment, time_of_day, zone
from tests.cli import greeter
from tests.transcripts import recording
from tests.transcripts.playing import typed


def history(*told: tuple[int, EventKind, Context]) -> History:
    """Return what a log tells whose events came at these seconds."""
    found = History()
    phases = {
        EventKind.RUN_EXECUTING: RunPhase.EXECUTING, EventKind.RUN_PAUSED: RunPhase.PAUSED,
        EventKind.RUN_ENDED: RunPhase.BLOCKED,
    }  # fmt: skip
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


def test_the_time_of_a_run_that_goes_on_after_it_was_blocked_belongs_to_the_chunk_that_it_goes_on_with() -> None:
    found = history(
        (0, EventKind.RUN_STARTED, {}), (0, EventKind.RUN_EXECUTING, {}), (0, EventKind.CHUNK_STARTED, {}),
        (1, EventKind.TIME_USED, {"ms": 1000}), (1, EventKind.RUN_ENDED, {}),
        (40, EventKind.RUN_STARTED, {}), (40, EventKind.RUN_EXECUTING, {}), (45, EventKind.TIME_USED, {"ms": 5000}),
    )  # fmt: skip
    assert found.chunk_ms == {"C01": 6000}


def test_the_time_in_which_a_person_was_asked_is_none_of_the_chunk() -> None:
    told = history(
        (0, EventKind.RUN_STARTED, {}), (0, EventKind.RUN_EXECUTING, {}), (1, EventKind.CHUNK_STARTED, {}),
        (3, EventKind.QUESTION_ASKED, {"question": "S1-detail-1"}),
        (43, EventKind.QUESTION_ANSWERED, {"question": "S1-detail-1"}), (45, EventKind.TIME_USED, {"ms": 5000}),
    )  # fmt: skip
    assert told.chunk_ms == {"": 1000, "C01": 4000}


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five and a half hours before Greenwich, all year round."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_kolkata")
def test_a_time_is_told_as_the_clock_on_the_wall_shows_it() -> None:
    """Its day is named where it is another one here, whatever day it is in Greenwich."""
    assert moment("2026-01-01T20:00:00.000Z") == "2026-01-02 01:30:00 IST"
    assert moment("2026-01-01T20:00:00.000Z", "2026-01-01T18:45:00Z") == "01:30:00 IST"
    assert moment("2026-01-01T18:45:00.000Z", "2026-01-01T10:00:00Z") == "2026-01-02 00:15:00 IST"
    assert (time_of_day("2026-01-01T20:00:00Z"), zone("2026-01-01T20:00:00Z")) == ("01:30:00", "IST")
    assert (moment("2026-13-01T20:00:00Z"), moment("now")) == ("2026-13-01T20:00:00Z", "now")


def test_people_read_local_times_and_programs_read_utc(tmp_path: Path) -> None:
    """The lines of a run and `santiago log`; the log itself and `--json` stay as they are."""
    repo = recording.load("finished", tmp_path)
    begun = json.loads((greeter.out_dir(repo) / "progress.ndjson").read_text().splitlines()[0])["timestamp"]
    here = datetime.fromisoformat(begun).astimezone(timezone(timedelta(hours=9)))
    east = "TZ=Etc/GMT-9"  # east of Greenwich, whatever its name says
    assert typed(f"{east} santiago log", repo)[0].startswith(here.strftime("%Y-%m-%d %H:%M:%S +09 "))
    assert typed(f"{east} santiago run prd.md", repo)[1].startswith(f"{here:%H:%M}:")
    assert json.loads(typed(f"{east} santiago log --json", repo)[1])["timestamp"] == begun


@pytest.mark.usefixtures("in_kolkata")
def test_the_head_of_a_run_names_the_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, run_input = frozen(greeter.out_dir(recording.load("finished", tmp_path)))
    screen = Screen(plan, run_input, as_json=False)
    head = RunHeader(
        run_id="r", agent="a", sandbox="none", jobs=2, stories=3, chunks=2, out_dir=tmp_path, resumed=False, notices=()
    )
    screen.header(head)
    screen.close()
    assert capsys.readouterr().err.endswith(
        "begins: 3 stories in 2 chunks, agent a, sandbox none, 2 at a time, times in IST\n"
    )
