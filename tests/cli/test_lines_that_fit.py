"""On a terminal lines are broken between words, by the cells that letters take; times agree, and one of a thing is told in the singular."""

import json
import os
import pty
import re
import shlex
import threading
import time
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.app.loading import History, frozen
from santiago.app.start.request import RunHeader
from santiago.cli.main import main
from santiago.cli.view.screen import Screen
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.report.page import rows_that_fit
from santiago.util.clock import moment, time_of_day, zone
from santiago.util.text import width
from santiago.util.wrapping import broken
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.fakes import PRD
from tests.cli.inside import inside
from tests.cli.santiago import trusted
from tests.transcripts import recording
from tests.transcripts.playing import transcripts, typed

COLUMNS = st.integers(20, 120)
_words = st.lists(st.text("abc-_/.:…é환불", min_size=1, max_size=14), min_size=1, max_size=40)
NOUNS = r"stories|attempts|units|criteria|headings|requirements|boxes|commands|checks|records|tasks|chunks|files|tests"
ONE_UNIT = {
    "heading.md": PRD,
    "boxes.md": "# Plan\n\n### T1: Say hello\n\n- [ ] hello.txt says hello\n",
    "task.md": "# Plan\n\n## Task 1: Say hello\n\n- [ ] **Step 1:** write hello.txt\n",
    "requirement.md": "# PRD\n\n### Requirement 1: Hello\n\n#### Acceptance Criteria\n\n1. WHEN run THEN it SHALL say hello\n",
    "story.md": "# PRD\n\n## Epic 1: Words\n\n### Story 1.1: Hello\n\n- [ ] it says hello\n",
    "records.json": '{"stories": [{"id": "US-1", "title": "Hello", "acceptanceCriteria": ["it says hello"]}]}',
    "hello.feature": "Feature: Hello\n  Scenario: Greet\n    When run\n    Then hello\n",
}


@given(_words, st.sampled_from(("", "  ", "why        ", "next: ", "✓ ok    git           ")), COLUMNS)
def test_every_word_stays_whole_and_every_line_fits(words: list[str], name: str, columns: int) -> None:
    text = name + " ".join(words)
    shown = broken(text, columns)
    assert shown.split() == text.split()
    assert all(width(line) <= columns or " " not in line.strip() for line in shown.split("\n"))


@given(st.text("購入者は商品を削除できる。👍👩🏽", min_size=1, max_size=200), COLUMNS)
def test_a_script_without_blanks_is_broken_by_the_cells_that_it_takes(text: str, columns: int) -> None:
    shown = broken(text, columns).split("\n")
    assert "".join(line.strip() for line in shown) == text
    assert all(width(line) <= columns for line in shown)


@given(_words, COLUMNS)
def test_colours_take_no_room(words: list[str], columns: int) -> None:
    text = " ".join(words)
    painted = broken(f"\x1b[31m{text}\x1b[0m", columns)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == broken(text, columns)


@pytest.mark.parametrize(
    ("text", "cells"),
    [("abc", 3), ("환불", 4), ("e\u0301", 1), ("\u1112\u116a\u11ab", 2), ("👍", 2), ("a\u200bb", 2), ("…", 1)],
)
def test_letters_are_measured_in_cells(text: str, cells: int) -> None:
    assert width(text) == cells


def test_further_lines_stand_below_what_the_first_says_and_a_table_without_room_loses_columns() -> None:
    assert broken("why        one two three four", 24).split("\n") == ["why        one two three", "           four"]
    assert broken("note: one two three four five", 24).split("\n") == ["note: one two three four", "      five"]
    typed = broken("next: santiago resume   # go on with it", 24)
    assert typed.split("\n") == ["next: santiago resume", "      # go on with it"]
    assert broken("│ one two three four five", 16).split("\n") == ["│ one two three", "│ four five"]
    path = "attempts/S1/1/agent.log"
    assert broken(f"log        {path}   (2 lines)", 28).split("\n") == ["log", f"  {path}", "           (2 lines)"]
    rows = [["story", "time", "cost"], ["S1 한글", " 1 s", "  $1"]]
    assert rows_that_fit(rows, 0, [2, 1]) == ["story  time  cost", "S1 한글   1 s    $1"]
    assert rows_that_fit(rows, 19, [2, 1]) == rows_that_fit(rows, 0, [])
    assert rows_that_fit(rows, 18, [2, 1]) == ["story  time", "S1 한글   1 s"]
    assert rows_that_fit(rows, 3, [2, 1]) == ["story", "S1 한글"]


@given(_words, _words, st.sampled_from(("next: ", "      ")), COLUMNS)
def test_a_command_and_its_comment_stay_whole(command: list[str], why: list[str], name: str, columns: int) -> None:
    """What is printed to be pasted can be: no line of it is a command but the first, which nothing is broken out of."""
    typed, *asides = broken(f"{name}{' '.join(command)}   # {' '.join(why)}", columns).split("\n")
    told, _, aside = typed.partition("   # ")
    assert told == name + " ".join(command)
    assert shlex.split("\n".join([aside and f"# {aside}", *asides]), comments=True) == []
    assert " ".join([aside, *(line.strip().removeprefix("# ") for line in asides)]).split() == why
    assert broken("│ x = 1   # one two three four", 24).split("\n")[1] == "│ three four", "code is no command"


def _shown(repo: Path, *words: str) -> list[str]:
    """Return the lines that a command prints on a terminal of sixty columns, whose other side somebody reads."""
    ours, theirs = pty.openpty()
    pieces: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other side is closed
            while piece := os.read(ours, 4096):
                pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    env = {**greeter.place(repo), "COLUMNS": "60", "NO_COLOR": "1"}
    with (
        os.fdopen(theirs, "w", encoding="utf-8") as terminal,
        patch.dict(os.environ, env),
        chdir(repo),
        redirect_stdout(terminal),
    ):
        main(trusted(*words))
    reader.join(60)
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n").splitlines()


def test_commands_fit_the_terminal_and_are_whole_in_a_pipe(failure: Done) -> None:
    for words in (["status", "--failed"], ["show", "S1"], ["doctor"], ["clean"], ["log"]):
        lines = _shown(failure.repo, *words)
        assert lines, words
        assert [line for line in lines if width(line) > 60 and " " in line.strip()] == [], words
        piped = inside(*words, cwd=failure.repo, env={**greeter.place(failure.repo), "COLUMNS": "60"})
        assert any(width(line) > 60 for line in piped.stdout.splitlines()), words


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


def test_a_chunk_has_the_time_of_a_run_that_goes_on_with_it_and_not_that_in_which_a_person_was_asked() -> None:
    found = history(
        (0, EventKind.RUN_STARTED, {}), (0, EventKind.RUN_EXECUTING, {}), (0, EventKind.CHUNK_STARTED, {}),
        (1, EventKind.TIME_USED, {"ms": 1000}), (1, EventKind.RUN_ENDED, {}),
        (40, EventKind.RUN_STARTED, {}), (40, EventKind.RUN_EXECUTING, {}), (45, EventKind.TIME_USED, {"ms": 5000}),
    )  # fmt: skip
    assert found.chunk_ms == {"C01": 6000}
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
def test_a_time_is_told_as_the_clock_on_the_wall_shows_it_and_the_head_of_a_run_names_the_zone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its day is named where it is another one here, whatever day it is in Greenwich."""
    assert moment("2026-01-01T20:00:00.000Z") == "2026-01-02 01:30:00 IST"
    assert moment("2026-01-01T20:00:00.000Z", "2026-01-01T18:45:00Z") == "01:30:00 IST"
    assert moment("2026-01-01T18:45:00.000Z", "2026-01-01T10:00:00Z") == "2026-01-02 00:15:00 IST"
    assert (time_of_day("2026-01-01T20:00:00Z"), zone("2026-01-01T20:00:00Z")) == ("01:30:00", "IST")
    assert (moment("2026-13-01T20:00:00Z"), moment("now")) == ("2026-13-01T20:00:00Z", "now")
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


def test_people_read_local_times_and_programs_read_utc(tmp_path: Path) -> None:
    """The lines of a run and `santiago log`; the log itself and `--json` stay as they are."""
    repo = recording.load("finished", tmp_path)
    begun = json.loads((greeter.out_dir(repo) / "progress.ndjson").read_text().splitlines()[0])["timestamp"]
    here = datetime.fromisoformat(begun).astimezone(timezone(timedelta(hours=9)))
    east = "TZ=Etc/GMT-9"  # east of Greenwich, whatever its name says
    assert typed(f"{east} santiago log", repo)[0].startswith(here.strftime("%Y-%m-%d %H:%M:%S +09 "))
    assert typed(f"{east} santiago run prd.md", repo)[1].startswith(f"{here:%H:%M}:")
    assert json.loads(typed(f"{east} santiago log --json", repo)[1])["timestamp"] == begun


def _wrong(shown: str) -> list[str]:
    return re.findall(rf"^.*\b1 (?:more |numbered )?(?:{NOUNS})\b.*$", shown, re.MULTILINE)


def test_a_plan_of_one_story_tells_what_it_counts_in_the_singular(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in ONE_UNIT.items():
        (tmp_path / name).write_text(text)
        told = inside("plan", name, cwd=tmp_path, env=greeter.place(tmp_path), code=0)
        assert not _wrong(told.stdout + told.stderr)


def test_what_transcripts_show_of_single_attempts_stories_and_tests_is_told_in_the_singular() -> None:
    """Among the recorded runs are some of one attempt, of one story, and of one of one attempt used."""
    shown = "".join(path.read_text() for path in transcripts())
    assert all(one in shown for one in ("1 of 1 attempt used", "(1 attempt, ", "1 test failed", "1 of 1 attempt; "))
    assert not _wrong(shown)
