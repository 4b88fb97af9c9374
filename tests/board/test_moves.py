"""Every move there can be, from each phase in each queue to each phase in each queue, against a table of its own."""

from pathlib import Path
from typing import get_args

import pytest

from santiago.board.board_commands import Board
from santiago.board.board_store import Store
from santiago.board.rules import Move
from santiago.contract.board import QUEUES, Card, Phase, Queue
from santiago.contract.errors import SantiagoError
from santiago.contract.reasons import ExitCode
from tests.board import table
from tests.board.cards import card

PHASES: tuple[Phase, ...] = get_args(Phase)
HELD = "held:anna:2026-11-17T12:00:00Z"


def standing(name: str, queue: Queue, phase: Phase) -> Card:
    """Return a ticket in a queue and a phase: a running one is held, as a claim leaves it."""
    claimed = phase == "running" and "in_progress" in table.STANDS[queue]
    held = {"status": "in_progress", "lease": HELD, "expires": 10**12, "attempt_count": 1} if claimed else {}
    return card(name, queue, phase=phase, **held)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("queue", QUEUES)
def test_a_move_is_allowed_where_the_table_says_so_and_nowhere_else(tmp_path: Path, queue: Queue, phase: Phase) -> None:
    """board lines 20, 21 and 22"""
    store = Store(tmp_path / "board.sqlite3")
    board = Board(store)
    possible = any(phase in phases for phases in table.STANDS[queue].values())
    wishes = [(to, wanted) for to in QUEUES for wanted in PHASES]
    cards = {wish: standing(f"T{number}", queue, phase) for number, wish in enumerate(wishes)}
    with store.writing() as at:
        for one in cards.values():
            at.keep(one)
    for (to, wanted), before in cards.items():
        wish = Move(to=to, phase=wanted, evidence="proof.log", note="why")
        try:
            after = board.move(before.id, queue, wish, "planner")
        except SantiagoError as error:
            assert not (possible and table.is_way(queue, to) and wanted in table.arrivals(before, to)), (to, wanted)
            refused_rightly(store, before, to, error, possible=possible)
            continue
        assert after.phase == wanted
        assert wanted in table.STANDS[to][after.status]
        assert after.held == (after.status == "in_progress") == (after.expires is not None)
        if possible:
            assert table.is_way(queue, to), (to, wanted)
            assert wanted in table.arrivals(before, to), (to, wanted)
    store.close()


def refused_rightly(store: Store, before: Card, to: Queue, error: SantiagoError, *, possible: bool) -> None:
    with store.reading() as at:
        assert at.card(before.id) == before
    assert error.exit_code == (ExitCode.BLOCKED if to == "done" else ExitCode.FAILED), error
    if not possible or to == "done":
        return
    if not table.is_way(before.queue, to):
        assert "done" not in error.hint
        assert all(other in error.hint for other in QUEUES if table.is_way(before.queue, other))
        return
    named = set(error.hint.replace(".", "").replace(",", "").split()) & set(PHASES)
    assert named == set(table.arrivals(before, to)), error.hint
