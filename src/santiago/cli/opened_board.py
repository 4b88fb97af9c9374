"""The board of this project, opened for one command, and its plans taken in before anything is judged."""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.cli.view.text import paint, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.board.opening import Opened
    from santiago.board.store import Reading


@contextmanager
def opened() -> Iterator[Opened]:
    """Open the board; what is to be said of its files is said when they are written."""
    from santiago.board.opening import open_board

    with open_board(Path.cwd(), os.environ) as found:
        yield found
    for notice in found.notices:
        warn(notice)


def warn(text: str) -> None:
    say(f"{paint('warning:', 'yellow')} {text}", err=True)


def synchronise(board: Opened) -> tuple[str, ...]:
    """Take plans with open boxes onto the board; return those that could not be."""
    from santiago.app.board.backlog import synchronise as synchronised

    left: tuple[str, ...] = synchronised(board)
    return left


def asking(at: Reading, project: Path) -> tuple[str, ...]:
    """Return the blocked tickets whose run asks something of a person."""
    from santiago.app.board_questions import asking_tickets

    return asking_tickets(at.cards("blocked"), project)


def language(project: Path) -> str:
    """Return the language that the settings ask for; empty where they do not."""
    from santiago.app.config import load

    setting = load(project).get("board.language")
    return str(setting.value or "") if setting is not None else ""


def utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
