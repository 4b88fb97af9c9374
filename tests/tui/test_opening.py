"""A plan takes its time to be read: its chunks are painted before that, and what is wrong with the rest is told after that."""

from __future__ import annotations

import asyncio
import termios
from pathlib import Path

import pytest

from santiago.artifacts.names import PLAN
from santiago.contract.reasons import ExitCode
from santiago.report.outline import Outline, outline
from santiago.tui.app import SantiagoApp
from santiago.tui.opening import Opening
from santiago.tui.watch import WatchScreen
from tests.tui.made import failed_run
from tests.tui.made_session import reviewed
from tests.tui.terminal import Terminal


def test_the_chunks_are_painted_before_the_plan_is_read(tmp_path: Path) -> None:
    """Seen by what happens where only the beginning of the plan can be read."""
    plan = failed_run(tmp_path / "run").out_dir / PLAN
    text = plan.read_bytes()
    plan.write_bytes(text[: text.index(b'"contract_version"')])
    _ends_in_words("watch", tmp_path / "run", tmp_path, b"Phase 2: Back end")


def test_the_chunks_of_a_session_are_painted_before_its_plan_is_read(tmp_path: Path) -> None:
    folder = reviewed(tmp_path).folder
    latest = max((folder / "revisions").iterdir())
    latest.write_bytes(latest.read_bytes() + b" ")
    _ends_in_words("review", folder, tmp_path, b"Phase 2: Back end")


def _ends_in_words(command: str, folder: Path, cwd: Path, chunk: bytes) -> None:
    terminal = Terminal("-m", "santiago", command, str(folder), cwd=cwd)
    assert terminal.ends() not in (0, ExitCode.BUG)
    painted, told = terminal.shown.find(chunk), terminal.shown.find(b"fix: ")
    assert 0 < painted < terminal.shown.find(b"\x1b[?1049l") < told
    assert termios.tcgetattr(terminal.theirs) == terminal.before
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
