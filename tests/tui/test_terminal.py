"""The screens on a pseudo-terminal: chunks are painted before a plan is read, and the terminal is left as it was; and without one."""

import asyncio
import os
import signal
import termios
from pathlib import Path

import pytest

from santiago.artifacts.names import PLAN
from santiago.contract.reasons import ExitCode
from santiago.report.plan_outline import Outline, outline
from santiago.tui.app import Opening, SantiagoApp
from santiago.tui.watch import WatchScreen
from tests.cli import greeter
from tests.cli.inside import inside
from tests.tui.made import failed_run
from tests.tui.made_session import reviewed
from tests.tui.terminal import Terminal

PAINTED, AT_ONCE = b"selection >", b"\x1b[?1049h"
REVIEWED = b"Continue planning"


def opened(screen: str, tmp_path: Path, **env: str) -> Terminal:
    folder = failed_run(tmp_path / "run").out_dir if screen == "watch" else reviewed(tmp_path).folder
    return Terminal("-m", "santiago", screen, str(folder), cwd=tmp_path, env=env)


@pytest.mark.parametrize(
    ("screen", "how", "when"),
    [
        ("watch", "q", PAINTED),
        ("watch", signal.SIGTERM, PAINTED),
        ("watch", signal.SIGHUP, PAINTED),
        ("watch", signal.SIGTERM, AT_ONCE),
        ("review", "q", REVIEWED),
        ("review", signal.SIGTERM, REVIEWED),
    ],
)
def test_line_71_the_terminal_is_restored(tmp_path: Path, screen: str, how: str | signal.Signals, when: bytes) -> None:
    terminal = opened(screen, tmp_path)
    terminal.until(when)
    assert when is AT_ONCE or termios.tcgetattr(terminal.ours) != terminal.before
    if how == "q":
        os.write(terminal.ours, b"q")
    else:
        terminal.process.send_signal(int(how))
    assert terminal.ends() == (0 if how == "q" else ExitCode.TERMINATED)
    assert termios.tcgetattr(terminal.ours) == terminal.before
    for begins, ends in (
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?25l", b"\x1b[?25h"),
        (b"\x1b[?1000h", b"\x1b[?1000l"),
    ):
        assert terminal.shown.rfind(ends) > terminal.shown.rfind(begins) >= 0
    assert (b"the review stays open: `santiago review" in terminal.shown) is (screen == "review" and how == "q")
    terminal.close()


def test_promise_5_a_browser_whose_terminal_is_gone_ends_although_no_signal_said_so(tmp_path: Path) -> None:
    """Reading from a terminal that is not there any more ends at once, again and again, and would use a processor for ever."""
    terminal = opened("watch", tmp_path)
    terminal.until(PAINTED)
    terminal.close()
    assert terminal.process.wait(60) == ExitCode.TERMINATED


@pytest.mark.parametrize(("screen", "when"), [("watch", PAINTED), ("review", REVIEWED)])
def test_line_71_without_colour_nothing_is_coloured(tmp_path: Path, screen: str, when: bytes) -> None:
    terminal = opened(screen, tmp_path, NO_COLOR="1")
    terminal.until(when)
    os.write(terminal.ours, b"q")
    assert terminal.ends() == 0
    colours = {part.split(b"m")[0] for part in terminal.shown.split(b"\x1b[38;2;")[1:]}
    assert all(len(set(colour.split(b";")[:3])) == 1 for colour in colours)
    assert (b"completed" if screen == "watch" else b"Phase 2: Back end") in terminal.shown
    terminal.close()


def test_line_71_without_a_terminal_a_run_and_a_session_are_told_line_by_line(tmp_path: Path) -> None:
    run, session = failed_run(tmp_path / "run").out_dir, reviewed(tmp_path).folder
    for flags in (["--plain"], []):
        told = inside("watch", run, *flags, cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "chunk 2, Phase 2: Back end, failed, 0 of 3 stories done, S3, 3 of 3 attempts\n" in told.stdout
        assert "  S3, Refund endpoint, failed, attempt_budget_exhausted\n" in told.stdout
        assert "`santiago log --follow` follows the run" in told.stdout
        assert "\x1b" not in told.stdout
        told = inside("review", session, *flags, cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "Session   p_20261115_011702  review\n" in told.stdout
        assert "Changed   + S10   ~ S3" in told.stdout
        assert "\x1b" not in told.stdout


def test_bare_santiago_on_a_terminal_offers_the_run_that_there_is(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    terminal = Terminal("-m", "santiago", cwd=repo, env=greeter.place(repo))
    assert terminal.ends() == 2
    assert b"santiago watch" not in terminal.shown
    terminal.close()
    assert inside("plan", "prd.md", cwd=repo, env=greeter.place(repo)).returncode == 0
    terminal = Terminal("-m", "santiago", cwd=repo, env=greeter.place(repo))
    assert terminal.ends() == 2
    assert greeter.out_dir(repo).name.encode() in terminal.shown
    assert b"next: santiago watch" in terminal.shown
    terminal.close()


def test_the_chunks_of_a_run_and_of_a_session_are_painted_before_the_plan_is_read(tmp_path: Path) -> None:
    """Seen by what happens where only the beginning of the plan can be read."""
    plan = failed_run(tmp_path / "run").out_dir / PLAN
    text = plan.read_bytes()
    plan.write_bytes(text[: text.index(b'"contract_version"')])
    _ends_in_words("watch", tmp_path / "run", tmp_path, b"Phase 2: Back end")
    folder = reviewed(tmp_path).folder
    latest = max((folder / "revisions").iterdir())
    latest.write_bytes(latest.read_bytes() + b" ")
    _ends_in_words("review", folder, tmp_path, b"Phase 2: Back end")


def _ends_in_words(command: str, folder: Path, cwd: Path, chunk: bytes) -> None:
    terminal = Terminal("-m", "santiago", command, str(folder), cwd=cwd)
    assert terminal.ends() not in (0, ExitCode.BUG)
    painted, told = terminal.shown.find(chunk), terminal.shown.find(b"fix: ")
    assert 0 < painted < terminal.shown.find(b"\x1b[?1049l") < told
    assert termios.tcgetattr(terminal.ours) == terminal.before
    terminal.close()


def test_the_screen_that_was_asked_for_follows(tmp_path: Path) -> None:
    made = failed_run(tmp_path / "run")

    async def opens() -> None:
        first = Opening("run", outline(made.out_dir / PLAN), lambda plain: WatchScreen(made.out_dir, plain=plain))
        app = SantiagoApp(first)
        async with app.run_test() as pilot:
            while not isinstance(app.screen, WatchScreen):
                await pilot.pause()
            assert app.screen_stack[1:] == [app.screen]

    asyncio.run(opens())


def test_an_outline_has_the_labels_of_the_plan_and_no_more_than_text(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{\n  "chunks": [{"label": "a\\u001b[2Jb", "stories": ["S1", "S2"]}], "stories": [')
    assert outline(plan) == [Outline("ab", 2)]


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "chunks": [{"label"',
        '{\n  "chunks": [{"label": 1, "stories": []}]}',
        '{\n  "chunks": 7}',
        '{"a": 1}',
        "",
        "[" * 9,
    ],
)
def test_a_file_that_is_no_plan_has_no_outline(tmp_path: Path, text: str) -> None:
    plan = tmp_path / "plan.json"
    assert outline(plan) == []
    plan.write_text(text)
    assert outline(plan) == []
