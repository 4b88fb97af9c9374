"""The board of this project, opened for one command. Its plans are synchronised before anything is judged."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.cli.view.terminal import paint, say
from santiago.contract.errors import SantiagoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.board.board_handle import BoardHandle


@contextmanager
def opened_here() -> Iterator[BoardHandle]:
    """Open the board. Messages about its files are printed when they are written."""
    from santiago.board.board_handle import open_board

    with open_board(Path.cwd(), os.environ) as found:
        yield found
    for notice in found.notices:
        warn(notice)


def speaks_codes() -> bool:
    """Tell whether lines are for programs that know the protocol by its codes. Their users set variables of it."""
    return any(name.startswith("SIGEE_") and value for name, value in os.environ.items())


def wants_rows() -> bool:
    """Tell whether a table is for a program: only at a terminal people read it."""
    return speaks_codes() or not sys.stdout.isatty()


def warn(text: str) -> None:
    say(f"{paint('warning:', 'warn')} {text}", err=True)


def board_here(most: int | None) -> dict[str, Any] | None:
    """Return the board of this project as data; None if it has none, or if it cannot be read, which is printed.

    With `most`, only so many tickets of each queue.
    """
    from santiago.board import board_place

    try:
        place = board_place.find(Path.cwd(), os.environ)
        if not place.store.is_file():
            return None
        from santiago.board.board_clock import utc
        from santiago.board.board_handle import is_on_board
        from santiago.report.whole_board import whole_board

        if not is_on_board(place):
            return None
        with opened_here() as found:
            return whole_board(found, synchronise(found), utc(), most)
    except SantiagoError as error:
        if not os.environ.get("SANTIAGO_STORY"):  # within an attempt there is no board
            warn(f"the board cannot be read: {error.message}")
        return None


def routed(runs: Sequence[str]) -> frozenset[str]:
    """Return which of these runs have open tickets on the board: `loop` goes on with them, since `resume` claims nothing."""
    from santiago.board import board_place

    with suppress(SantiagoError):  # where the board cannot be read, `status` says so
        if not board_place.find(Path.cwd(), os.environ).store.is_file():
            return frozenset()
        with opened_here() as found, found.store.reading() as at:
            cards = {run: at.of_run(run) for run in runs}
        return frozenset(run for run, of in cards.items() if any(one.queue != "done" and not one.decided for one in of))
    return frozenset()


def synchronise(board: BoardHandle) -> int:
    """Put plans with open boxes onto the board; print which could not be, and return how many."""
    from santiago.app.board.backlog import synchronise as synchronised

    left = synchronised(board)
    for notice in left:
        warn(notice)
    return len(left)
