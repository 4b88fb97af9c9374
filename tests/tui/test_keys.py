"""Line 75: whatever the screens do has a command that does the same, and the help names it."""

import re
from pathlib import Path

import click
import pytest
from textual.screen import Screen

from santiago.cli.commands import COMMANDS
from santiago.cli.main import santiago
from santiago.tui.keys import REVIEW, WATCH, Key, table
from santiago.tui.review import ReviewScreen
from santiago.tui.watch import WatchScreen
from tests.tui.driving import Person, browse
from tests.tui.made import failed_run
from tests.tui.made_session import reviewed
from tests.tui.reviewing import review

DOCS = Path(__file__).parents[2] / "docs"


def test_line_75_the_command_of_every_key_exists_with_its_options() -> None:
    for command_line in [line for key in (*WATCH, *REVIEW) for line in key.command.split(", ")]:
        words = command_line.split()
        assert words[0] == "santiago"
        assert words[1] in COMMANDS, command_line
        command = santiago.get_command(click.Context(santiago), words[1])
        assert command is not None
        known = {name for one in command.params for name in one.opts} | {"--help"}
        assert set(re.findall(r"--[a-z-]+", command_line)) <= known, command_line


@pytest.mark.parametrize(("screen", "keys"), [(WatchScreen, WATCH), (ReviewScreen, REVIEW)])
def test_line_75_every_key_of_a_screen_is_in_its_table(screen: type[Screen[None]], keys: tuple[Key, ...]) -> None:
    own = [one for one in screen.__mro__ if one.__module__.startswith("santiago.")]
    actions = {name.removeprefix("action_") for one in own for name in vars(one) if name.startswith("action_")}
    assert actions == {key.action.partition("(")[0] for key in keys if key.action}


def test_line_75_the_help_names_every_key_with_its_command(tmp_path: Path) -> None:
    async def asks(person: Person, keys: tuple[Key, ...]) -> None:
        await person.press("question_mark")
        for key in keys:
            await person.sees(key.does)
            await person.sees(f"$ {key.command}")

    browse(failed_run(tmp_path / "run").out_dir, lambda browser: asks(browser, WATCH))
    review(reviewed(tmp_path).folder, lambda reader: asks(reader, REVIEW))


@pytest.mark.parametrize(("name", "keys"), [("watch.md", WATCH), ("review.md", REVIEW)])
def test_line_75_the_documentation_has_the_same_table(name: str, keys: tuple[Key, ...]) -> None:
    assert table(keys) in (DOCS / name).read_text(encoding="utf-8")
