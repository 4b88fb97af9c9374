"""The done gate believes only what santiago recorded itself, of this ticket, this attempt and this commit."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from santiago.board import done_gate
from santiago.board.board_handle import BoardHandle, open_board
from santiago.board.rules import Move
from santiago.contract.board import PLANNERS, BoardEvent, Card
from santiago.contract.errors import Kind
from tests.board.project import project, ticket

COMMIT = "c" * 40
TABLE = "task_no\ttitle\tkind\tstatus\n1\tx\tverify\tPASS\n"


def reviewed(opened: BoardHandle, name: str, *, attempt: int = 1, text: str = TABLE, **about: Any) -> Card:
    """Return a ticket in the review, with a table of results and, unless nothing is said of it, the event that vouches for it."""
    opened.board.add(ticket(name), "planner")
    claimed = opened.board.claim("developer-todo", "ada", "ada", name=name).card
    assert claimed is not None
    path = opened.place.project / f"{name}.tsv"
    path.write_text(text)
    if about.pop("recorded", True):
        known = {
            "path": path.name, "digest": sha256(text.encode()).hexdigest(), "commit": COMMIT, "passed": True, **about,
        }  # fmt: skip
        opened.board.note(name, BoardEvent.EVIDENCE_RECORDED, "santiago", attempt=attempt, about=known)
    return opened.board.move(name, None, Move(to="planner-review", evidence=path.name), "ada")


def lacks(opened: BoardHandle, card: Card, actor: str = "planner", commit: str = COMMIT) -> list[str]:
    with opened.store.reading() as at:
        found = done_gate.missing(at, opened.place, card, actor, PLANNERS, lambda one: one == commit)
    return [one.what for one in found]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[BoardHandle]:
    with open_board(project(tmp_path / "p"), {}) as found:
        yield found


def test_work_with_a_record_of_its_own_passes_and_without_one_or_with_anothers_does_not(opened: BoardHandle) -> None:
    """Board lines 24 and 52 to 56: nothing is missing, also on the last attempt; a record of another ticket or place counts for nothing."""
    assert lacks(opened, reviewed(opened, "GOOD")) == []
    (found,) = lacks(opened, reviewed(opened, "MINE", recorded=False))
    assert "MINE.tsv is evidence of GOOD" in found
    reviewed(opened, "T")
    card = opened.board.move("T", None, Move(to="planner-review", evidence="../../etc/passwd"), "ada")
    assert "../../etc/passwd is outside the project" in lacks(opened, card)
    opened.board.add(ticket("BARE"), "planner")
    claimed = opened.board.claim("developer-todo", "ada", "ada").card
    assert claimed is not None
    assert {"it is in developer-todo", "its phase is running", "it has no evidence"} <= set(lacks(opened, claimed))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"recorded": False}, "is not a record that santiago made"),
        ({"passed": False}, "has a FAIL, or no PASS"),
        ({"dry_run": True}, "comes from a dry run"),
        ({"attempt": 7}, "is about attempt 7, and this is attempt 1"),
        ({"commit": "d" * 40}, "but another commit is integrated"),
        ({"digest": "0" * 64}, "was changed since santiago wrote it"),
    ],
)
def test_evidence_of_other_work_is_refused(opened: BoardHandle, how: dict[str, Any], said: str) -> None:
    """Board line 54: forged, failed, of a dry run, of another attempt or commit, or edited."""
    (found,) = lacks(opened, reviewed(opened, "T", **how))
    assert said in found


def test_all_that_is_missing_is_said_at_once(opened: BoardHandle) -> None:
    """Board lines 52 and 63: who may not accept is told so, beside everything else."""
    card = reviewed(opened, "T", recorded=False)
    found = lacks(opened, card, actor="ada")
    assert [one.split(":")[0] for one in found] == [
        "ada is not a planner", "ada did the work, and nobody may accept their own work", "nothing shows that its checks passed",
    ]  # fmt: skip
    with opened.store.reading() as at:
        missing = done_gate.missing(at, opened.place, card, "ada", PLANNERS, lambda _: True)
    error = done_gate.refusal(card, missing)
    assert error.kind is Kind.BLOCKED
    assert "is not a planner" in error.message
    assert "queue verify T" in error.hint
