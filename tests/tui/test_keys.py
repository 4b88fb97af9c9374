"""Line 75: whatever the browser does has a command that does the same, and the help names it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from santiago.cli.commands import COMMANDS
from santiago.cli.main import santiago
from santiago.tui.keys import WATCH, Key, table
from santiago.tui.watch import WatchScreen
from tests.tui.driving import browse
from tests.tui.made import failed_run

if TYPE_CHECKING:
    from tests.tui.driving import Browser

DOCS = Path(__file__).parents[2] / "docs" / "watch.md"


@pytest.mark.parametrize("key", WATCH, ids=lambda key: key.shown)
def test_line_75_the_command_of_every_key_exists_with_its_options(key: Key) -> None:
    words = key.command.split()
    assert words[0] == "santiago"
    assert words[1] in COMMANDS
    command = santiago.get_command(click.Context(santiago), words[1])
    assert command is not None
    known = {name for one in command.params for name in one.opts} | {"--help"}
    assert set(re.findall(r"--[a-z-]+", key.command)) <= known


def test_line_75_every_key_of_the_browser_is_in_the_table() -> None:
    own = [one for one in WatchScreen.__mro__ if one.__module__.startswith("santiago.")]
    actions = {name.removeprefix("action_") for one in own for name in vars(one) if name.startswith("action_")}
    assert actions == {key.action.partition("(")[0] for key in WATCH if key.action}


def test_line_75_the_help_names_every_key_with_its_command(tmp_path: Path) -> None:
    async def asks(browser: Browser) -> None:
        await browser.press("question_mark")
        shown = browser.text()
        for key in WATCH:
            assert key.does in shown
            assert f"$ {key.command}" in shown

    browse(failed_run(tmp_path / "run").out_dir, asks)


def test_line_75_the_documentation_has_the_same_table() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")
