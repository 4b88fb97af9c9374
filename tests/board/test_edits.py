"""What another program changes in the board's files comes in as moves, by the rules of moves, or is refused by name."""

from pathlib import Path

import pytest

from santiago.board import board_store
from santiago.board.rules import Move
from santiago.contract.board import Card
from tests.board.project import Told, lines, opened, project, queue, ticket

QUEUES = Path(".santiago/.runtime/orchestration/queues")
LATER = "2099-01-01T00:00:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = project(tmp_path / "p")
    with opened(folder) as board:
        for name in ("T-1", "T-2"):
            board.board.add(ticket(name), "me")
    return folder


def edit(folder: Path, name: str, rows: list[list[str]]) -> None:
    path = folder / QUEUES / f"{name}.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def rows(folder: Path, name: str) -> list[list[str]]:
    return lines(folder / QUEUES / f"{name}.tsv")


def card(folder: Path, name: str) -> Card:
    with opened(folder) as board, board.store.reading() as at:
        found = at.card(name)
    assert found is not None
    return found


def taken_in(folder: Path) -> Told:
    told = queue(folder, "import", "--from-tsv")
    with opened(folder) as board:
        pass
    assert board.notices == (), "no file counts as changed afterwards"
    return told


def test_a_note_is_taken_in_and_a_new_row_is_a_new_ticket(folder: Path) -> None:
    """board line 14."""
    found = rows(folder, "developer-todo")
    found[1][6] = "look here"
    edit(folder, "developer-todo", found)
    told = taken_in(folder)
    assert (told.code, told.out) == (0, "queues/developer-todo.tsv:2 T-1 is in developer-todo, pending\n")
    assert card(folder, "T-1").note == "look here"
    assert rows(folder, "developer-todo")[1][6] == "look here"
    found = rows(folder, "developer-todo")
    edit(folder, "developer-todo", [*found, ["T-3", *found[1][1:]]])
    assert taken_in(folder).code == 0
    assert card(folder, "T-3").queue == "developer-todo"
    assert taken_in(folder).code == 0


def test_another_programs_claim_and_handover_are_taken_in(folder: Path) -> None:
    """board line 14: the claim counts as an attempt, and the ticket stands where the program put it."""
    found = rows(folder, "developer-todo")
    first, second = found[1], found[2]
    second[1:3], second[5], second[8] = ["in_progress", "bob"], LATER, f"held:bob:{LATER}"
    second[10], second[12] = "running", "1"
    first[1], first[5], first[8], first[9] = "review", LATER, f"released:{LATER}", "x.log"
    first[10], first[12] = "evidence_collected", "1"
    edit(folder, "planner-review", [found[0], first])
    edit(folder, "developer-todo", [found[0], second])
    told = taken_in(folder)
    assert told.code == 0, told
    handed, held = card(folder, "T-1"), card(folder, "T-2")
    assert (handed.queue, handed.phase) == ("planner-review", "evidence_collected")
    assert (handed.attempt_count, handed.evidence_links) == (1, "x.log")
    assert (held.status, held.holder, held.attempt_count) == ("in_progress", "bob", 1)


def test_what_the_rules_forbid_is_refused_by_name_and_kept_beside(folder: Path) -> None:
    """board line 14."""
    found = rows(folder, "developer-todo")
    first, second = found[1], found[2]
    edit(folder, "done", [found[0], [first[0], "done", *first[2:10], "done", *first[11:]]])
    edit(folder, "developer-todo", [found[0], [*second[:3], "Another title", *second[4:]]])
    told = taken_in(folder)
    assert told.code == 30
    assert "queues/done.tsv:2 T-1 refused: a ticket gets to done only through the planner's review" in told.out
    assert "developer-todo.tsv:2 T-2 refused: its title was changed" in told.out
    assert (card(folder, "T-1").queue, card(folder, "T-2").title) == ("developer-todo", "Do T-2")
    assert len(list((folder / QUEUES).glob("*.edited-*"))) == 2


def test_a_row_that_was_removed_and_an_edit_of_an_old_row_are_refused_by_name(folder: Path) -> None:
    """board line 14."""
    edit(folder, "developer-todo", rows(folder, "developer-todo")[:2])
    told = taken_in(folder)
    assert told.code == 30
    assert "T-2 refused: its row was removed" in told.out
    assert len(rows(folder, "developer-todo")) == 3
    found = rows(folder, "developer-todo")
    found[1][6], found[1][5] = "look here", "2020-01-01T00:00:00Z"
    edit(folder, "developer-todo", found)
    told = taken_in(folder)
    assert told.code == 30
    assert "T-1 refused: it has changed on the board since" in told.out


def test_an_old_row_does_not_move_a_ticket_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """board line 14: a file that was edited is not written again, so that its other rows grow old."""
    found = rows(folder, "developer-todo")
    found[2][6] = "look here"
    edit(folder, "developer-todo", found)
    with opened(folder) as board:
        monkeypatch.setattr(board_store, "utc", lambda: "2050-01-01T00:00:00Z")
        board.board.claim("developer-todo", "w", "w", name="T-1")
        board.board.move("T-1", "developer-todo", Move(to="planner-review", evidence="x.log"), "w")
    told = queue(folder, "import", "--from-tsv")
    assert (told.code, told.out.splitlines()) == (0, ["queues/developer-todo.tsv:3 T-2 is in developer-todo, pending"])
    assert card(folder, "T-1").queue == "planner-review"


def test_the_archive_is_written_by_the_board_alone(folder: Path) -> None:
    """board line 14."""
    with opened(folder) as board:
        board.board.claim("developer-todo", "w", "w", name="T-1")
        board.board.move("T-1", "developer-todo", Move(to="planner-review", evidence="x.log"), "w")
        board.board.accept("T-1", "planner", 1, "")
    (archive,) = (folder / QUEUES.parent / "archive").iterdir()
    archive.write_text(archive.read_text().replace("Do T-1", "Did T-1"))
    told = taken_in(folder)
    assert told.code == 30
    assert "T-1 refused: a ticket gets to done only through the planner's review" in told.out
    assert "Did" not in archive.read_text()
