"""On a terminal lines are broken between words, by the cells that letters take; on the way to a file never."""

from __future__ import annotations

import os
import pty
import re
import shlex
import threading
from contextlib import chdir, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.cli.main import main
from santiago.cli.view.text import broken, rows_that_fit
from santiago.util.text import width
from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.inside import inside
from tests.cli.santiago import trusted

COLUMNS = st.integers(20, 120)
_words = st.lists(st.text("abc-_/.:…é환불", min_size=1, max_size=14), min_size=1, max_size=40)


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


def test_further_lines_stand_below_what_the_first_says() -> None:
    assert broken("why        one two three four", 24).split("\n") == ["why        one two three", "           four"]
    assert broken("note: one two three four five", 24).split("\n") == ["note: one two three four", "      five"]
    typed = broken("next: santiago resume   # go on with it", 24)
    assert typed.split("\n") == ["next: santiago resume", "      # go on with it"]
    assert broken("│ one two three four five", 16).split("\n") == ["│ one two three", "│ four five"]


@given(_words, _words, st.sampled_from(("next: ", "      ")), COLUMNS)
def test_a_command_stays_whole_and_what_it_does_stays_a_comment(
    command: list[str], why: list[str], name: str, columns: int
) -> None:
    """What is printed to be pasted can be: no line of it is a command but the first, which nothing is broken out of."""
    typed, *asides = broken(f"{name}{' '.join(command)}   # {' '.join(why)}", columns).split("\n")
    told, _, aside = typed.partition("   # ")
    assert told == name + " ".join(command)
    assert shlex.split("\n".join([aside and f"# {aside}", *asides]), comments=True) == []
    assert " ".join([aside, *(line.strip().removeprefix("# ") for line in asides)]).split() == why
    assert broken("│ x = 1   # one two three four", 24).split("\n")[1] == "│ three four", "code is no command"


def test_a_path_that_is_too_long_for_its_place_goes_below_and_stays_whole() -> None:
    path = "attempts/S1/1/agent.log"
    assert broken(f"log        {path}   (2 lines)", 28).split("\n") == ["log", f"  {path}", "           (2 lines)"]


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


def test_a_table_without_room_loses_columns_instead_of_breaking_its_rows() -> None:
    rows = [["story", "time", "cost"], ["S1 한글", " 1 s", "  $1"]]
    assert rows_that_fit(rows, 0, [2, 1]) == ["story  time  cost", "S1 한글   1 s    $1"]
    assert rows_that_fit(rows, 19, [2, 1]) == rows_that_fit(rows, 0, [])
    assert rows_that_fit(rows, 18, [2, 1]) == ["story  time", "S1 한글   1 s"]
    assert rows_that_fit(rows, 3, [2, 1]) == ["story", "S1 한글"]
