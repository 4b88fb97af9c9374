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


def synchronise(board: Opened) -> int:
    """Take plans with open boxes onto the board; say which could not be, and return how many."""
    from santiago.app.board.backlog import synchronise as synchronised

    left = synchronised(board)
    for notice in left:
        warn(notice)
    return len(left)


def utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
