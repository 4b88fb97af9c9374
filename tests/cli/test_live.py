"""The screen of a run: a live table that leaves nothing behind, lines and heartbeats elsewhere, and never a broken run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.app.loading import empty_fold, frozen, load
from santiago.cli.view import ci
from santiago.cli.view.beat import EVERY_MS, Beat
from santiago.cli.view.checking import BASE, Checks
from santiago.cli.view.lines import timed
from santiago.cli.view.live import Live, is_wanted, page
from santiago.cli.view.table import Table
from santiago.contract.events import Event, EventKind
from santiago.contract.phases import RunPhase
from santiago.contract.state import Question, RunState
from santiago.report.page import Line
from santiago.util.text import width
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.santiago import trusted
from tests.tui.terminal import Terminal as RealTerminal

ABOUT = [
    ("S1-2-base", "S1", "checks without the work"),
    ("S1-2-check", "S1", "checks the work"),
    ("S2.1-1-merged", "S2.1", "checks it beside the others' work"),
    ("S1-1-merged-base", "S1", "checks the others' work without it"),
    ("S4-claim", "S4", "checks what is claimed done"),
    ("run-check", "run", "checks the work"),
    ("run-base-S2", "run", "checks without the work"),
    ("S1-2-old-tests", "S1", "runs the old tests on the new code"),
    ("S1-2-blind", "S1", "tries whether the checks notice broken code"),
    ("base", BASE, "checks what is there before any work"),
    ("base-S3", BASE, "checks what is there before any work"),
    ("base-blind", BASE, "tries whether the checks notice broken code"),
]


class Terminal:
    """As much of a terminal as the live view uses: an ordinary and an alternate screen, lines, home, and erasing."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.row = 0
        self.ordinary: tuple[list[str], int] | None = None
        """The other screen and its row, while the alternate one is shown."""

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
            self._take(part)

    def _take(self, part: str) -> None:
        match part:
            case "\n":
                self.row += 1
                self.lines += [""] * (self.row + 1 - len(self.lines))
            case "\x1b[?1049h":
                assert self.ordinary is None, "entered twice"
                self.ordinary, self.lines, self.row = (self.lines, self.row), [""], 0
            case "\x1b[?1049l":
                assert self.ordinary is not None, "left without having entered"
                (self.lines, self.row), self.ordinary = self.ordinary, None
            case "\x1b[H":
                self.row = 0
            case "\x1b[J":
                self.lines[self.row :] = [""]
            case "\x1b[2K":
                self.lines[self.row] = ""
            case "\r" | "\x1b[?7l" | "\x1b[?7h":
                pass
            case _:
                assert not part.startswith("\x1b"), f"a terminal may do more than is wanted at {part!r}"
                self.lines[self.row] += part


class Pictures:
    """A table that shows given pictures one after the other."""

    def __init__(self, pictures: list[list[str]]) -> None:
        self.pictures = pictures

    def picture(self, state: object, columns: int, rows: int) -> list[str]:
        return self.pictures.pop(0)

    def take(self, events: object) -> None:
        """Hear of events."""


_lines = st.lists(st.text("abc 환", min_size=1, max_size=30), max_size=5)


@given(st.lists(st.tuples(_lines, _lines), min_size=1, max_size=8))
def test_whatever_is_drawn_only_the_lasting_lines_stay(frames: list[tuple[list[str], list[str]]]) -> None:
    """They stand above each picture, on the ordinary screen from the moment they come, and in the end alone."""
    terminal = Terminal()
    live = Live(cast("Table", Pictures([picture for _, picture in frames])), terminal.write)
    live.take([], cast("RunState", object()))
    lasting: list[str] = []
    for above, picture in frames:
        lasting += above
        for line in above:
            live.above(line)
        live._draw()
        assert [line for line in terminal.lines if line] == [*lasting, *picture][-23:]
        assert terminal.ordinary is not None
        assert terminal.ordinary[0] == [*lasting, ""]
    live._closing.set()
    live._keep_drawing()
    assert terminal.lines == [*lasting, ""]
    assert terminal.ordinary is None


@given(_lines, _lines, st.integers(4, 12), st.integers(8, 40))
def test_a_page_of_any_size_has_picture_and_lines(kept: list[str], picture: list[str], rows: int, columns: int) -> None:
    terminal = Terminal()
    terminal.write(page(kept, picture, columns, rows))
    *lines, below = terminal.lines
    assert below == ""
    assert len(lines) < rows
    shown = picture[: rows - 1]
    assert lines[len(lines) - len(shown) :] == shown
    above, words = " ".join(lines[: len(lines) - len(shown)]).split(), " ".join(kept).split()
    assert above == words[len(words) - len(above) :]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_table_fits_narrow_and_wide_terminals(success: Done, columns: int) -> None:
    plan, run_input = frozen(success.out_dir)
    state = load(success.out_dir).state
    table = Table(plan, run_input, success.out_dir, "agent", lambda: 0)
    for line in table.rows(state, columns - 1, next(iter(state.chunks))):
        assert width(line) < columns
        assert re.match(r" ✓  S\d +Say", line)
        assert "done" in line
        assert ("/4" in line) == (columns > 40)
    assert "3/3 stories" in table.header(state, columns - 1)


def test_an_error_in_a_picture_ends_the_view_and_nothing_else() -> None:
    live = Live(cast("Table", Pictures([])), lambda _: None)
    live.take([], cast("RunState", object()))
    live.start()
    live._thread.join(60)
    assert live.broken
    live.above("still said")
    assert live.close() == ["still said"]


def test_a_line_that_is_too_long_for_the_terminal_is_broken_between_words() -> None:
    line = Line(
        "S1 attempt 1: story_verification_failed: python3 -m unittest -q tests.test_money exit 1", label="retry"
    )
    assert timed(line, "11:26:29", columns=60).splitlines() == [
        "11:26:29 retry    S1 attempt 1: story_verification_failed:",
        "                  python3 -m unittest -q tests.test_money",
        "                  exit 1",
    ]
    assert "\n" not in timed(line, "11:26:29")


def test_a_terminal_gets_a_live_table_and_is_left_tidy(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", greeter.SLOW)
    settings = {**greeter.place(repo), "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    words = trusted("run", "prd.md", "--jobs", "2", "--trust-commands")
    real = RealTerminal("-m", "santiago", *words, cwd=repo, env=settings)
    assert real.ends() == 0
    real.close()
    shown = real.shown.decode().replace("\r\n", "\n")
    assert re.search(r"0/3 stories +\d/20 attempts", shown)
    assert re.search(r"▶ +S1 +Say hello +1/4 +0:00 +agent", shown)
    assert "\x1b[?25l" not in shown, "the cursor was hidden"
    terminal = Terminal()
    terminal.write(re.sub(r"\x1b\[[\d;]*m", "", shown))
    kept = [line for line in terminal.lines if line.strip()]
    assert [line.split()[:2] for line in kept if line.startswith(" ✓")] == [["✓", "S1"], ["✓", "S2"], ["✓", "S3"]]
    assert kept[-2].startswith("next: git merge santiago/")
    assert not any("ctrl-c" in line for line in kept)


def test_the_live_view_is_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    def wanted(*, plain: bool = False, **env: str) -> bool:
        with patch.dict(os.environ, {"TERM": "xterm", **env}, clear=True):
            return is_wanted(plain=plain)

    assert (wanted(), wanted(NO_COLOR="1"), wanted(plain=True), wanted(TERM="dumb")) == (True, True, False, False)
    assert not any((wanted(CI="1"), wanted(GITHUB_ACTIONS="true"), wanted(SANTIAGO_PLAIN="1")))


def test_a_reader_that_goes_away_does_not_end_the_run(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    arguments = [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands", "--json")]
    ran = subprocess.Popen(
        arguments, cwd=repo, env=greeter.place(repo), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert ran.stdout is not None
    ran.stdout.readline()
    ran.stdout.close()
    assert ran.wait(60) == 0
    assert '"status": "success"' in (greeter.out_dir(repo) / "result.json").read_text()


def test_it_is_said_from_the_name_of_a_trial_what_a_check_is_about_or_that_it_is_set_up() -> None:
    for folder, story, words in ABOUT:
        checks = Checks()
        checks.begun(folder, 1, 2, "pytest -q")
        found = checks.of(story)
        assert found is not None, folder
        assert found.text == f"{words}, 1 of 2: pytest -q"
        kind, name = (EventKind.BASE_EXAMINED, None) if story == BASE else (EventKind.ATTEMPT_ENDED, story)
        checks.take(cast("Event", SimpleNamespace(event=kind, story_id=name)))
        assert checks.of(story) is None, folder
    for folder, story in (("S1.2-3", "S1.2"), ("S1-2-check", "S1"), ("base", BASE)):
        checks = Checks()
        checks.begun(folder, 0, 1, "pip install -e .")
        found = checks.of(story)
        assert found is not None, folder
        assert found.text == "sets a checkout up: pip install -e ."
        checks.begun(folder, 0, 0, "")
        assert checks.of(story) is None, folder


def test_the_table_says_what_is_checked_before_any_work(success: Done) -> None:
    plan, run_input = frozen(success.out_dir)
    checks = Checks()
    table = Table(plan, run_input, success.out_dir, "agent", lambda: 0, checks)
    checks.begun("base", 2, 3, "pytest -q")
    state = empty_fold(plan, run_input).state
    assert " ▶  checks what is there before any work, 2 of 3: pytest -q" in table.picture(state, 79, 24)


def test_services_take_no_orders_from_prints_no_title_leaves_its_annotation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for text in ("::error::x", "  ::add-mask::x", "a ##[add-path]x", "##[group]"):
        quiet = ci.quiet(text)
        assert not quiet.lstrip().startswith("::"), text
        assert "##[" not in quiet
    (line,) = ci.annotation("a,b.md", 3, "x:y", "100%\n::error::z")
    assert line == "::error file=a%2Cb.md,line=3,title=x%3Ay::100%25%0A::error::z"
    monkeypatch.setenv("BUILDKITE", "true")
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert not ci.quiet("+++ x").startswith("+++")
    assert ci.opening("S1") == ["+++ S1"]


class _Story:
    attempts = 1


class _State:
    def __init__(self) -> None:
        self.running = {"S1"}
        self.stories = {"S1": _Story()}
        self.phase = "executing"
        self.wait_until: str | None = None


def test_a_heartbeat_comes_once_a_minute_only_in_silence_and_says_who_is_at_work(tmp_path: Path) -> None:
    now = 0
    beat = Beat(tmp_path, "any", lambda: now, lambda _: None)
    beat.take([], cast("RunState", _State()))
    seen: list[int] = []
    for second in range(300):
        now = second * 1000
        if second == 90:
            beat.said()
        if beat.line() is not None:
            seen.append(now)
    assert seen == [60_000, 150_000, 210_000, 270_000]
    assert EVERY_MS == 60_000
    now = EVERY_MS
    beat = Beat(tmp_path, "any", lambda: now, lambda _: None)
    beat.take([], cast("RunState", _State()))
    now = 2 * EVERY_MS
    line: Any = beat.line()
    assert line.text.startswith("S1 attempt 1 running")
    assert "no agent output yet" in line.text


def test_a_heartbeat_does_not_break_into_the_line_of_somebody_who_answers(tmp_path: Path) -> None:
    now = 0
    beat = Beat(tmp_path, "any", lambda: now, lambda _: None)
    state = RunState({}, {}, {}, {}, {}, [], phase=RunPhase.EXECUTING)
    beat.take([], state)
    now = EVERY_MS
    assert beat.line() is not None
    state.asking["S1-detail-1"] = Question("S1-detail-1", "S1", "Carry it out?", ())
    now = 2 * EVERY_MS
    assert beat.line() is None
