"""Boards that earlier versions of santiago made are opened as they stand."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from santiago.board.board_store import Store
from santiago.contract.board import QUEUES
from tests.board.project import opened, project

EARLIER = Path(__file__).with_name("earlier")
ODD = {
    "I-ODD": "ready",
    "I-HELD": "running",
    "I-REVIEW": "evidence_collected",
    "I-BLOCKED": "running",
    "I-DONE": "done",
}
"""Imported tickets whose phase did not agree with their status, and the phase that they have now."""


def made_by_version_2(folder: Path) -> Path:
    """Return a project with a board that kept queue and status of each ticket."""
    path = project(folder) / ".santiago/.runtime/orchestration/board.sqlite3"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((EARLIER / "board-2.sql").read_text(encoding="utf-8"))
    return folder


def test_every_ticket_of_a_board_that_kept_queue_and_status_is_where_it_was(tmp_path: Path) -> None:
    folder = made_by_version_2(tmp_path / "p")
    known = json.loads((EARLIER / "board-2.json").read_text(encoding="utf-8"))
    with opened(folder) as board, board.store.reading() as at:
        cards = {card.id: card for name in QUEUES for card in at.cards(name)}
    assert cards.keys() == known.keys(), "GONE was cleared from the archive, and stays away"
    for name, before in known.items():
        names = [one for one in before if one not in ("phase", "checks", "role")]
        assert {one: getattr(cards[name], one) for one in names} == {one: before[one] for one in names}
        assert cards[name].phase == ODD.get(name, before["phase"])
        assert cards[name].role == ("developer" if name == "I-SCI" else before["role"]), (
            "its queue says who works on it"
        )


def test_a_board_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    folder = made_by_version_2(tmp_path / "p")
    with opened(folder) as board:
        claimed = board.board.claim("developer-todo", "ann", "planner", name="I-ODD")
        assert claimed.card is not None
        assert (claimed.card.queue, claimed.card.status) == ("developer-todo", "in_progress")
    with opened(folder) as board, board.store.reading() as at:
        assert at.waits_for("WAITS") == ["NEW"]
        assert at.counts() == {
            "planner-inbox": 2, "scientist-todo": 2, "developer-todo": 5, "planner-review": 1, "blocked": 4, "done": 2,
        }  # fmt: skip


def test_two_that_open_an_earlier_board_bring_it_up_once(tmp_path: Path) -> None:
    path = made_by_version_2(tmp_path / "p") / ".santiago/.runtime/orchestration/board.sqlite3"
    one, other = Store(path), Store(path)
    with one.reading() as at:
        cards = at.cards("developer-todo")
    with other.reading() as at:
        assert at.cards("developer-todo") == cards
    one.close()
    other.close()
