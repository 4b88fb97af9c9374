"""Lines 62, 63 and 75: whatever the review does has a command that does the same; what is hidden has no key."""

from __future__ import annotations

import os
import re
import signal
import termios
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from santiago.cli.commands import COMMANDS
from santiago.cli.main import santiago
from santiago.contract.phases import SESSION_MOVES, RunPhase, SessionPhase
from santiago.contract.reasons import ExitCode
from santiago.contract.views import screen
from santiago.report.following_session import FollowingSession
from santiago.report.review import screen_of
from santiago.tui.review import ReviewScreen
from santiago.tui.review_keys import REVIEW, table
from santiago.tui.reviewing import Reviewing
from tests.cli.santiago import santiago as run
from tests.tui.made_session import reviewed
from tests.tui.reviewing import review
from tests.tui.terminal import Terminal

if TYPE_CHECKING:
    from santiago.tui.keys import Key
    from tests.tui.reviewing import Reader

DOCS = Path(__file__).parents[2] / "docs" / "review.md"


@pytest.mark.parametrize("key", REVIEW, ids=lambda key: key.shown)
def test_line_75_the_command_of_every_key_exists_with_its_options(key: Key) -> None:
    for command_line in key.command.split(", "):
        words = command_line.split()
        assert words[0] == "santiago"
        assert words[1] in COMMANDS
        command = santiago.get_command(click.Context(santiago), words[1])
        assert command is not None
        known = {name for one in command.params for name in one.opts} | {"--help"}
        assert set(re.findall(r"--[a-z-]+", command_line)) <= known


def test_line_75_every_key_of_the_review_is_in_the_table() -> None:
    found = {name.removeprefix("action_") for one in (ReviewScreen, Reviewing) for name in vars(one)}
    actions = {name for name in found if f"action_{name}" in {*vars(ReviewScreen), *vars(Reviewing)}}
    assert actions == {key.action.partition("(")[0] for key in REVIEW if key.action} | {"revision"}


def test_line_75_the_help_names_every_key_with_its_command(tmp_path: Path) -> None:
    async def asks(reader: Reader) -> None:
        await reader.press("question_mark")
        shown = reader.text()
        for key in REVIEW:
            assert key.does in shown
            assert f"$ {key.command}" in shown

    review(reviewed(tmp_path).folder, asks)


def test_line_75_the_documentation_has_the_same_table() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")


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


# On a pseudo-terminal

PAINTED = b"Continue planning"


@pytest.mark.parametrize("how", ["q", signal.SIGTERM, signal.SIGHUP])
def test_line_71_the_terminal_is_left_as_it_was(tmp_path: Path, how: str | signal.Signals) -> None:
    made = reviewed(tmp_path)
    terminal = Terminal("-m", "santiago", "review", str(made.folder), cwd=tmp_path)
    terminal.until(PAINTED)
    assert termios.tcgetattr(terminal.theirs) != terminal.before
    if how == "q":
        os.write(terminal.ours, b"q")
    else:
        terminal.process.send_signal(int(how))
    assert terminal.ends() == (0 if how == "q" else ExitCode.TERMINATED)
    assert termios.tcgetattr(terminal.theirs) == terminal.before
    for begins, ends in (
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?25l", b"\x1b[?25h"),
        (b"\x1b[?1000h", b"\x1b[?1000l"),
    ):
        assert terminal.shown.rfind(ends) > terminal.shown.rfind(begins) >= 0
    if how == "q":
        assert b"the review stays open: `santiago review" in terminal.shown
    terminal.close()


def test_line_71_without_colour_nothing_is_coloured(tmp_path: Path) -> None:
    made = reviewed(tmp_path)
    terminal = Terminal("-m", "santiago", "review", str(made.folder), cwd=tmp_path, env={"NO_COLOR": "1"})
    terminal.until(PAINTED)
    os.write(terminal.ours, b"q")
    assert terminal.ends() == 0
    colours = {part.split(b"m")[0] for part in terminal.shown.split(b"\x1b[38;2;")[1:]}
    assert all(len(set(colour.split(b";")[:3])) == 1 for colour in colours)
    terminal.close()


@pytest.mark.parametrize("flags", [["--plain"], []])
def test_line_71_without_a_terminal_the_session_is_printed_line_by_line(tmp_path: Path, flags: list[str]) -> None:
    made = reviewed(tmp_path)
    told = run("review", made.folder, *flags, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "Session   p_20261115_011702  review\n" in told.stdout
    assert "Changed   + S10   ~ S3" in told.stdout
    assert "\x1b" not in told.stdout
