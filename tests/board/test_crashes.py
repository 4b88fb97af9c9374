"""Death and a full disk at every statement of every command: a ticket is where it was or where it goes, never both."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from santiago.board.board_commands import Board
from santiago.board.board_store import Store
from santiago.board.rules import Move
from santiago.contract.board import QUEUES, Card
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode
from tests.board import cards
from tests.board.invariants import wrong

REVIEW = Move(to="planner-review", evidence="proof.log")
COMMANDS: dict[str, Callable[[Board], object]] = {
    "add": lambda board: board.add(cards.card("new"), "planner", ["held"]),
    "claim": lambda board: board.claim("developer-todo", "anna", "anna"),
    "claim by id": lambda board: board.claim("developer-todo", "anna", "anna", name="free"),
    "renew": lambda board: board.renew("held", "1", "bert", minutes=90),
    "hand over": lambda board: board.move("held", None, REVIEW, "bert", lease="1"),
    "give back": lambda board: board.move("held", None, Move(to="developer-todo", phase="ready"), "bert", lease="1"),
    "block": lambda board: board.move("free", None, Move(to="blocked", note="why"), "planner"),
    "bypass": lambda board: board.decide("spent", "bypass", "planner"),
    "stop": lambda board: board.decide("spent", "stop", "planner"),
    "drop": lambda board: board.decide("held", "drop", "planner"),
    "reconcile": lambda board: board.reconcile(["scientist-todo"], "planner"),
    "accept": lambda board: board.accept("reviewed", "planner", 1, "looked at"),
}
"""Each changes something on the board that `filled` makes, some of them several tickets."""


class Watched:
    """A connection that tells of every statement before it is done."""

    def __init__(self, real: sqlite3.Connection, tell: Callable[[str], None]) -> None:
        self._real, self._tell = real, tell

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        self._tell(statement)
        return self._real.execute(statement, *values)

    @property
    def in_transaction(self) -> bool:
        return self._real.in_transaction

    def close(self) -> None:
        self._real.close()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    """A board with a ticket for every command."""
    (tmp_path / "board").mkdir()
    board = Board(Store(tmp_path / "board" / "board.sqlite3"))
    for name in ("held", "reviewed"):
        board.add(cards.card(name), "planner")
        board.claim("developer-todo", "bert", "bert", name=name)
    board.move("reviewed", None, REVIEW, "bert", lease="1")
    board.add(cards.card("free"), "planner")
    board.add(cards.card("used-up", "scientist-todo", attempt_count=3), "planner")
    board.add(cards.card("spent", "blocked", attempt_count=3), "planner")
    for name in ("spent", "reviewed"):
        board.add(cards.card(f"after-{name}"), "planner", [name])
    yield board
    board.store.close()


def watch(board: Board, tell: Callable[[str], None]) -> None:
    real = board.store._connection
    assert isinstance(real, sqlite3.Connection)
    board.store._connection = Watched(real, tell)  # type: ignore[assignment]


def standing(store: Store) -> tuple[list[Card], int]:
    with store.reading() as at:
        assert wrong(at) == []
        return [card for queue in QUEUES for card in at.cards(queue)], at.last()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_death_at_any_statement_leaves_the_board_whole(board: Board, tmp_path: Path, command: str) -> None:
    """board line 77: what a killed process leaves is its files, as they are at that moment."""
    before, left = standing(board.store), list[Path]()

    def copy(_: str = "") -> None:
        left.append(tmp_path / f"left-{len(left)}")
        left[-1].mkdir()
        for path in (tmp_path / "board").glob("*.sqlite3*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, left[-1])

    watch(board, copy)
    COMMANDS[command](board)
    copy()
    after = standing(board.store)
    assert after != before
    found = []
    for folder in left:
        store = Store(folder / "board.sqlite3")
        found.append(standing(store))
        store.close()
    ends = found.index(after)
    assert found[:ends] == [before] * ends
    assert found[ends:] == [after] * (len(found) - ends)
    assert ends > 4


@pytest.mark.parametrize("command", COMMANDS)
def test_a_disk_that_is_full_at_any_statement_changes_nothing(board: Board, command: str) -> None:
    """board line 77: exit 20, and the same command does it once there is space."""
    before, told, full_at = standing(board.store), 0, 0

    def fill_up(statement: str) -> None:
        nonlocal told
        told += statement != "ROLLBACK"  # it needs no space
        if told == full_at and statement != "ROLLBACK":
            raise sqlite3.OperationalError("database or disk is full")

    watch(board, fill_up)
    refused = True
    while refused:
        told, full_at, refused = 0, full_at + 1, False
        try:
            COMMANDS[command](board)
        except SantiagoError as error:
            refused = error.exit_code == ExitCode.TRANSIENT
        told = full_at
        assert (standing(board.store) == before) == refused
    assert full_at > 5
