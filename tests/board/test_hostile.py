"""What nobody should be able to do to a board: give an id twice, share a lease, hide something in a text, take a folder."""

import sqlite3
from contextlib import closing
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest

from santiago.app.board.routing import route
from santiago.app.board.settling import shortened
from santiago.board import board_place, board_store
from santiago.board.board_handle import open_board
from santiago.board.done_gate import Missing, refusal
from santiago.board.rules import Move, refuse_text
from santiago.board.tsv_projections import Projections
from santiago.cli.ticket_work import enqueue
from santiago.contract.board import QUEUES, Card
from santiago.contract.errors import Kind, SantiagoError
from tests.board import desk as shells
from tests.board.boards import Desk, desk
from tests.board.cards import card
from tests.cli import greeter

__all__ = ["desk"]
TOO_MUCH: dict[str, dict[str, Any]] = {
    "bytes that are no text": {"title": "caf\udce9"},
    "a control character of the second kind": {"note": "\x9b31m"},
    "more attempts than a number may be": {"retry_budget": 10**30},
    "a NUL": {"title": "a\x00b"},
    "an escape": {"title": "\x1b[31m"},
    "the mark between the values of a row": {"title": "a\x1fb"},
    "a delete": {"title": "a\x7fb"},
    "no check": {"checks": (" ",)},
    "a check of nothing": {"checks": ("true",)},
    "a check with an escape": {"checks": ("grep \x1b x",)},
}


def test_an_id_is_given_once_also_after_the_archive_was_cleared(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 18: evidence and events of a ticket never become those of another one."""
    desk.add(card("REQ-1", "planner-inbox", phase="planned"))
    with desk.store.writing() as at:
        at.drop(at.cards("planner-inbox")[0])
    with pytest.raises(SantiagoError, match="there was a ticket REQ-1 already"):
        desk.add(card("REQ-1"))
    Path("prd.md").write_text("# Again\n")
    enqueue(Path("prd.md"), (), None, as_json=False)
    assert capsys.readouterr().out == "ADDED:REQ-2:planner-inbox\n"


def test_two_claims_of_one_worker_within_a_second_have_two_leases(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 29: a late move by the first is refused, also where it names its lease without the number of its claim."""
    monkeypatch.setattr(board_store, "utc", lambda: "2026-11-17T12:00:00Z")
    desk.add(card("T1", retry_budget=9))
    leases = []
    for _ in range(3):
        claimed = desk.board.claim("developer-todo", "ada", "ada").card
        assert claimed
        leases.append(claimed.lease)
        last = claimed.lease
        desk.board.move("T1", None, Move(to="developer-todo", phase="ready"), "ada", lease=last)
    assert leases == [f"held:ada:2026-11-17T12:00:0{number}Z" for number in range(3)]
    monkeypatch.setattr(board_store, "utc", lambda: "2026-11-17T12:00:01Z")  # a time that the second lease has already
    desk.board.claim("developer-todo", "ada", "ada")
    for lease in leases:
        with pytest.raises(SantiagoError, match="no longer yours"):
            desk.board.move("T1", None, Move(to="blocked", note="late"), "ada", lease=lease)


def test_tickets_are_claimed_in_the_order_in_which_they_came_to_the_queue(desk: Desk) -> None:
    """Board line 26: whatever their ids; who is given back keeps the place, who comes from elsewhere stands behind."""
    desk.add(card("T3"), card("T1"), card("T4"), card("T2"))
    desk.board.move("T3", None, Move(to="planner-inbox"), "planner")
    desk.board.move("T3", None, Move(to="developer-todo"), "planner")
    assert _claimed(desk).id == "T1"
    desk.board.move("T1", None, Move(to="developer-todo", phase="ready"), "ada")
    assert [_claimed(desk).id for _ in range(4)] == ["T1", "T4", "T2", "T3"]


def _claimed(desk: Desk) -> Card:
    claimed = desk.board.claim("developer-todo", "ada", "ada").card
    assert claimed
    return claimed


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_a_ticket_cannot_hold_is_refused(desk: Desk, what: str) -> None:
    """Board lines 8, 16 and 18."""
    with pytest.raises(SantiagoError) as caught:
        desk.add(card("T1", **TOO_MUCH[what]))
    assert caught.value.kind is Kind.USAGE
    with desk.store.reading() as at:
        assert not any(at.counts().get(queue) for queue in QUEUES)


def test_a_note_takes_whatever_a_check_printed_and_what_is_missing_stands_on_lines_of_its_own() -> None:
    """Board lines 16 and 52: escapes and broken text stop no loop; one thing in a sentence, several in a list."""
    refuse_text("note", shortened("\x1b[31mred\x1b]0;title\x07\x9b\x85 caf\udce9 \x00"))
    one, two = (
        Missing(what="it has no evidence", remedy="Verify it."),
        Missing(what="its phase is ready", remedy="Wait."),
    )
    assert refusal(card("T1"), [one]).message == "T1 is not done: it has no evidence"
    told = refusal(card("T1"), [one, two])
    assert told.message.splitlines()[1:] == ["  it has no evidence", "  its phase is ready"]
    assert told.hint == "Verify it. Wait."


@pytest.mark.parametrize("name", [".git", ".git/board", "src", ".santiago/runs/x"])
def test_a_folder_for_something_else_is_no_runtime_root(desk: Desk, name: str) -> None:
    """Board line 10: git would see nothing any more in a folder that the board takes for its own."""
    (desk.place.project / "src").mkdir()
    (desk.place.project / "src" / "main.py").touch()
    with pytest.raises(SantiagoError, match="is used for something else"):
        board_place.runtime_root(desk.place.project, {"SIGEE_RUNTIME_ROOT": name})


def test_who_only_looks_sees_the_board_also_on_a_full_disk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 77: files that are behind are said, and fail only the command that changed something."""

    def full(*_: object, **__: object) -> float:
        raise OSError(ENOSPC, "No space left on device")

    desk.add(card("T1"))
    monkeypatch.setattr(Projections, "_write", full)
    with open_board(desk.place.project, {}) as looks, looks.store.reading() as at:
        assert [one.id for one in at.cards("developer-todo")] == ["T1"]
    assert "the board's files are out of date" in looks.notices[0]
    with pytest.raises(SantiagoError, match="files are out of date"), open_board(desk.place.project, {}) as changes:
        changes.board.add(card("T2"), "planner")
    monkeypatch.undo()  # the board is closed after this


def test_a_board_of_a_newer_version_is_left_alone_and_an_earlier_one_gets_the_tables_it_lacks(desk: Desk) -> None:
    """Board line 3: nothing is written into a store whose form is not known; tickets of an earlier one stay, and can be claimed."""
    desk.store.close()
    with closing(sqlite3.connect(desk.place.store)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(SantiagoError, match="another version of santiago wrote this board"):
        desk.add(card("T1"))
    with closing(sqlite3.connect(desk.place.store)) as connection:
        connection.execute(f"PRAGMA user_version = {board_store.VERSION}")
    desk.add(card("T1"))
    desk.store.close()
    with closing(sqlite3.connect(desk.place.store)) as connection:
        connection.executescript("DROP TABLE follows; PRAGMA user_version = 1;")
    assert _claimed(desk).id == "T1"
    desk.board.free("T1", "planner")


def test_a_request_whose_name_an_old_branch_has_gets_another_for_its_run(tmp_path: Path) -> None:
    """Board line 39: folders of runs are cleaned up, and their branches stay."""
    shell = shells.Desk(tmp_path)
    greeter.git(shell.repo, "branch", "santiago/REQ")
    shell.commit(more_txt="more\n")
    shell.requested()
    with shell.opened() as opened:
        assert route(opened, shell.card("REQ"), shells.CONSENTS).run == "REQ-2"


def test_a_ticket_of_the_same_name_is_not_taken_for_a_story(tmp_path: Path) -> None:
    """Board line 39: the request is blocked and says which, instead of never coming to an end."""
    shell = shells.Desk(tmp_path)
    shell.add("REQ.S1")
    shell.requested()
    with shell.opened() as opened:
        request = route(opened, shell.card("REQ"), shells.CONSENTS)
    assert (request.queue, request.note) == ("blocked", "there is a ticket REQ.S1 already")


def test_a_program_of_a_run_cannot_decide_about_its_tickets(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against accidents: tickets of other runs are not concerned."""
    for name, run in (("MINE", "r1"), ("OTHER", "r2")):
        desk.add(card(name, run=run))
    monkeypatch.setenv("SANTIAGO_RUN", "r1")
    with pytest.raises(SantiagoError, match="SANTIAGO_RUN"):
        desk.board.decide("MINE", "drop", "planner")
    assert desk.board.decide("OTHER", "drop", "planner").decided
