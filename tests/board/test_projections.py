"""The board's files say what its store says, a moment later, and never overwrite what another program wrote."""

import threading
import time
from pathlib import Path

import pytest

from santiago.artifacts.files import write_whole
from santiago.board import tsv_projections
from santiago.board.board_commands import add
from santiago.board.board_handle import BoardHandle
from santiago.board.rules import Move
from santiago.contract.board import FIELDS
from tests.board.project import lines, opened, project, queue, ticket

QUEUES = Path(".santiago/.runtime/orchestration/queues")
TODO = QUEUES / "developer-todo.tsv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "p")


def handed_over(board: BoardHandle, name: str) -> None:
    board.board.claim("developer-todo", "w", "w", name=name)
    board.board.move(name, "developer-todo", Move(to="planner-review", evidence="x.log"), "w")


def test_a_row_has_the_fourteen_fields_in_their_order_and_files_that_are_right_are_not_touched(folder: Path) -> None:
    """board lines 15 and 19."""
    with opened(folder) as board:
        board.board.add(ticket("T-1", note="first"), "me")
        claimed = board.board.claim("developer-todo", "w", "w").card
    header, row = lines(folder / TODO)
    assert " ".join(header) == (
        "id status worker title source updated_at note next_action lease evidence_links phase error_class attempt_count retry_budget"
    )
    assert claimed is not None
    assert row[:8] == ["T-1", "in_progress", "w", "Do T-1", "manual", claimed.updated_at, "first", "TBD"]
    assert row[8:] == [claimed.lease, "none", "running", "none", "1", "3"]
    assert claimed.updated_at[10] == "T"
    assert claimed.updated_at[19:] == "Z"
    before = (folder / TODO).stat()
    assert queue(folder, "sync").code == 0
    assert (folder / TODO).stat() == before


def test_tickets_stand_in_order_of_arrival_and_done_has_a_header_only(folder: Path) -> None:
    """board lines 15 and 19; the archive has when and by whom."""
    with opened(folder) as board:
        for name in ("T-2", "T-10", "T-1"):
            board.board.add(ticket(name), "me")
        handed_over(board, "T-10")
        board.board.accept("T-10", "planner", 1, "")
    assert [row[0] for row in lines(folder / TODO)] == ["id", "T-2", "T-1"]
    assert lines(folder / QUEUES / "done.tsv") == [list(FIELDS)]
    (archive,) = (folder / QUEUES.parent / "archive").iterdir()
    header, row = lines(archive)
    assert header == [*FIELDS, "archived_at", "archived_by"]
    assert archive.name == f"done-{row[14][:7]}.tsv"
    assert (row[0], row[1], row[10], row[15]) == ("T-10", "done", "done", "planner")


def test_an_exhausted_budget_is_a_row_of_the_history(folder: Path) -> None:
    """board lines 15 and 27: twelve columns, as things were then."""
    with opened(folder) as board:
        board.board.add(ticket("T-1", title="p0 the shop is down", attempt_count=3, note="it fell over"), "me")
        assert board.board.claim("developer-todo", "w", "w").only_spent
    header, row = lines(folder / QUEUES.parent / "history/retry-events.tsv")
    assert " ".join(header) == (
        "ts_utc event_type id from_queue to_queue status error_class attempt_count retry_budget priority actor note"
    )
    assert row[1:] == [
        "retry_budget_exhausted_auto_claim", "T-1", "developer-todo", "blocked", "blocked", "dependency_blocked", "3", "3", "P0", "w",
        "it fell over",
    ]  # fmt: skip


def test_tabs_and_line_ends_survive_in_the_store_alone(folder: Path) -> None:
    """board line 16: round trip."""
    odd = "a\tb\r\nc\nd"
    with opened(folder) as board:
        board.board.add(ticket("T-1", title=odd, note=odd), "me")
    with opened(folder) as board, board.store.reading() as at:
        card = at.card("T-1")
    assert card is not None
    assert (card.title, card.note) == (odd, odd)
    assert [row[3] for row in lines(folder / TODO)[1:]] == ["a b  c d"]
    assert board.notices == ()


def test_many_changes_are_written_once_and_at_the_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """board line 15: coalesced, and written before a command exits."""
    written: list[str] = []

    def heard(path: Path, content: bytes) -> None:
        written.append(path.name)
        write_whole(path, content)

    monkeypatch.setattr(tsv_projections, "write_whole", heard)
    monkeypatch.setattr(tsv_projections, "LEAST_S", 600.0)
    with opened(folder) as board:
        for number in range(50):
            board.board.add(ticket(f"T-{number}"), "me")
        assert written == []
    assert written == ["developer-todo.tsv"]
    assert len(lines(folder / TODO)) == 51


def test_files_follow_by_themselves_while_a_process_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """board line 15: at most so far behind, although nobody closes the board."""
    monkeypatch.setattr(tsv_projections, "LEAST_S", 0.01)
    done = threading.Event()
    real = tsv_projections.Projections._write

    def heard(*words: object, **more: object) -> float:
        wait = real(*words, **more)  # type: ignore[arg-type]  # as they came
        done.set()
        return wait

    monkeypatch.setattr(tsv_projections.Projections, "_write", heard)
    board = opened(folder)
    board.board.add(ticket("T-1"), "me")
    assert done.wait(60)
    assert [row[0] for row in lines(folder / TODO)] == ["id", "T-1"]
    board.close()


def test_a_file_rests_ten_times_as_long_as_it_took_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """board line 15: by the monotonic clock, also after the machine was started anew."""
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert tsv_projections._wait(None) == 0
    assert tsv_projections._wait((998.0, 10 * 0.5)) == 3
    assert tsv_projections._wait((990.0, 10 * 0.5)) <= 0
    assert tsv_projections._wait((5000.0, 10 * 0.5)) == 0


def test_a_busy_board_of_many_tickets_seldom_writes_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """board lines 15 and 33: two processes share the times, so that one does not write what the other has just written."""
    monkeypatch.setattr(tsv_projections, "LEAST_S", 30.0)  # no timer of their own within this test
    one, other = opened(folder), opened(folder)
    one.board.add(ticket("T-1"), "me")
    assert one.projections._write(one.store, hurry=False) == 0
    other.board.add(ticket("T-2"), "me")
    assert 0 < other.projections._write(other.store, hurry=False) <= 30
    assert len(lines(folder / TODO)) == 2
    other.close()
    assert len(lines(folder / TODO)) == 3
    one.close()


def test_what_a_killed_process_left_behind_is_written_by_the_next_command(folder: Path) -> None:
    """board line 15: whatever command that is."""
    board = opened(folder)
    board.board.add(ticket("T-1"), "me")
    board.store.close()  # and no flush
    assert len(lines(folder / TODO)) == 1
    opened(folder).close()
    assert len(lines(folder / TODO)) == 2


def test_an_archive_of_an_older_month_keeps_its_file(folder: Path) -> None:
    """board line 15: also after its tickets were cleared away, when only the header is left."""
    with opened(folder) as board:
        with board.store.writing() as at:
            card = add(at, ticket("T-1"), "me")
            from santiago.board.rules import Change
            from santiago.contract.board import BoardEvent

            fields = dict.fromkeys(("queue", "status", "phase"), "done") | {"archived_by": "p"}
            card = at.change(
                card,
                Change(
                    event=BoardEvent.TICKET_DONE, changes={**fields, "archived_at": "2026-01-05T00:00:00Z"}, about={}
                ),
                "p",
            )
        board.projections.flush()
        path = folder / QUEUES.parent / "archive/done-2026-01.tsv"
        assert [row[0] for row in lines(path)] == ["id", "T-1"]
        with board.store.writing() as at:
            at.drop(card)
    assert [row[0] for row in lines(path)] == ["id"]


def test_an_edit_is_said_and_never_overwritten_and_kept_beside_when_it_is_discarded(folder: Path) -> None:
    """board line 14: by any command, also by one that changes the same queue; `queue sync --discard-edits` lets it go."""
    with opened(folder) as board:
        board.board.add(ticket("T-1"), "me")
    edited = (folder / TODO).read_text().replace("Do T-1", "Do T-1 at once")
    (folder / TODO).write_text(edited)
    with opened(folder) as board:
        board.board.add(ticket("T-2"), "me")
    assert "queues/developer-todo.tsv was changed by another program" in "".join(board.notices)
    assert "queue import --from-tsv" in "".join(board.notices)
    assert (folder / TODO).read_text() == edited
    told = queue(folder, "sync")
    assert told.code == 10
    assert (folder / TODO).read_text() == edited
    assert queue(folder, "sync", "--discard-edits").code == 0
    assert [row[0] for row in lines(folder / TODO)] == ["id", "T-1", "T-2"]
    (kept,) = (folder / QUEUES).glob("developer-todo.tsv.edited-*")
    assert kept.read_text() == edited
    with opened(folder) as board:
        pass
    assert board.notices == ()


def test_an_edit_of_a_file_that_was_never_written_is_seen_too(folder: Path) -> None:
    """board line 14."""
    with opened(folder) as board:
        board.board.add(ticket("T-1"), "me")
    with (folder / QUEUES / "blocked.tsv").open("a") as file:
        file.write("T-9\n")
    with opened(folder) as board:
        pass
    assert "queues/blocked.tsv was changed" in "".join(board.notices)


def test_a_link_in_a_files_place_is_left_alone_and_a_deleted_file_comes_back(folder: Path, tmp_path: Path) -> None:
    """board line 14: and what it leads to is not written."""
    with opened(folder) as board:
        board.board.add(ticket("T-1"), "me")
    (tmp_path / "target").write_text("theirs")
    (folder / TODO).unlink()
    (folder / TODO).symlink_to(tmp_path / "target")
    with opened(folder) as board:
        board.board.add(ticket("T-2"), "me")
    assert (tmp_path / "target").read_text() == "theirs"
    assert (folder / TODO).is_symlink()
    assert len(board.notices) == 1
    (folder / TODO).unlink()
    assert queue(folder, "sync").code == 0
    assert [row[0] for row in lines(folder / TODO)] == ["id", "T-1", "T-2"]
