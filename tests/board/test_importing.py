"""A project whose tickets stand in TSV files is taken over once, row by row, and not before every row is understood."""

import json
from pathlib import Path

import pytest

from santiago.board.board_handle import is_on_board
from santiago.board.board_place import find
from santiago.contract.board import FIELDS, BoardEvent, Card
from santiago.contract.errors import Kind, SantiagoError
from tests.board.project import lines, opened, project, queue, tree

TOP = Path(".sigee/.runtime/orchestration")
THEN = "2026-02-27T10:00:00Z"
OLD = ("id", "status", "worker", "title", "source", "updated_at", "note", "next_action", "lease", "evidence_links")
"""Columns from before phases and budgets."""


def row(name: str, status: str = "pending", **fields: str) -> dict[str, str]:
    known = {"worker": "planner", "title": f"Do {name}", "source": "manual", "updated_at": THEN, "next_action": "TBD"}
    late = {"lease": "none", "evidence_links": "none", "attempt_count": "0", "retry_budget": "3"}
    return {**known, **late, "phase": "", "error_class": "", **fields, "id": name, "status": status}


def write(folder: Path, name: str, *rows: dict[str, str], fields: tuple[str, ...] = FIELDS) -> None:
    path = folder / TOP / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(
            "\t".join(values) + "\n" for values in (fields, *([one.get(name, "") for name in fields] for one in rows))
        )
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project as the older program leaves it."""
    folder = project(tmp_path / "p", sigee=True)
    running = {"worker": "dev", "phase": "running", "lease": f"held:dev:{THEN}", "attempt_count": "2"}
    held = row("T-2", "in_progress", error_class="none", **running)
    write(folder, "queues/developer-todo.tsv", row("T-1", phase="ready", error_class="none"), held)
    write(folder, "queues/planner-inbox.tsv", row("PLAN-shop", source="plan:shop"), fields=OLD)
    write(folder, "queues/scientist-todo.tsv", row("T-9", attempt_count="", retry_budget=""))
    write(folder, "queues/planner-review.tsv", row("T-3", "review", evidence_links="a.tsv;b.log"), fields=OLD)
    write(
        folder,
        "queues/blocked.tsv",
        row("T-4", "blocked", worker="tech-scientist", note="needs_user_confirmation"),
        fields=OLD,
    )
    write(folder, "queues/done.tsv")
    archived = row("T-0", "done", phase="done", error_class="none", archived_at=THEN, archived_by="tech-planner")
    write(folder, "archive/done-2026-02.tsv", archived, fields=(*FIELDS, "archived_at", "archived_by"))
    history = (
        "ts_utc event_type id from_queue to_queue status error_class attempt_count retry_budget priority actor note"
    )
    (folder / TOP / "history").mkdir()
    (folder / TOP / "history/retry-events.tsv").write_text(
        history.replace(" ", "\t")
        + f"\n{THEN}\tretry_budget_exhausted_auto_claim\tT-4\tdeveloper-todo\tblocked\tblocked"
        "\tdependency_blocked\t3\t3\tP1\tplanner\tgave up\n"
    )
    return folder


def cards(folder: Path) -> dict[str, Card]:
    from santiago.contract.board import QUEUES

    with opened(folder) as board, board.store.reading() as at:
        return {card.id: card for queue in QUEUES for card in at.cards(queue)}


def test_every_row_is_imported_with_its_id_lease_and_counts(folder: Path) -> None:
    """board lines 13 and 30: old headers are brought up to date, and each row is reported and recorded; a lease ends by itself."""
    told = queue(folder, "import", "--actor", "me")
    assert told.code == 0
    assert told.out.splitlines() == [
        "queues/planner-inbox.tsv:2 PLAN-shop imported",
        "queues/scientist-todo.tsv:2 T-9 imported",
        "queues/developer-todo.tsv:2 T-1 imported",
        "queues/developer-todo.tsv:3 T-2 imported",
        "queues/planner-review.tsv:2 T-3 imported",
        "queues/blocked.tsv:2 T-4 imported",
        "archive/done-2026-02.tsv:2 T-0 imported",
        "history/retry-events.tsv:2 T-4 imported",
    ]
    found = cards(folder)
    assert {name: (card.queue, card.phase, card.error_class) for name, card in found.items()} == {
        "PLAN-shop": ("planner-inbox", "planned", "none"),
        "T-9": ("scientist-todo", "ready", "none"),
        "T-1": ("developer-todo", "ready", "none"),
        "T-2": ("developer-todo", "running", "none"),
        "T-3": ("planner-review", "evidence_collected", "none"),
        "T-4": ("blocked", "running", "soft_fail"),
        "T-0": ("done", "done", "none"),
    }
    assert (found["T-2"].lease, found["T-2"].attempt_count, found["T-2"].updated_at) == (f"held:dev:{THEN}", 2, THEN)
    assert (found["T-9"].attempt_count, found["T-9"].retry_budget, found["T-9"].role) == (0, 3, "scientist")
    assert (found["T-0"].archived_at, found["T-0"].archived_by) == (THEN, "tech-planner")
    assert found["T-3"].evidence_links == "a.tsv;b.log"
    assert is_on_board(find(folder, {}))
    with opened(folder) as board, board.store.reading() as at:
        events = list(at.events(event=BoardEvent.TICKET_IMPORTED))
    assert len(events) == 7
    assert (events[0].actor, events[0].about) == ("me", {"file": "queues/planner-inbox.tsv", "line": 2})
    assert found["T-2"].expires is not None


def test_after_an_import_the_files_say_the_same_and_there_is_no_second_one(folder: Path) -> None:
    """board lines 13 and 14: they are projections from then on, and none of them counts as edited."""
    history = (folder / TOP / "history/retry-events.tsv").read_text()
    archive = (folder / TOP / "archive/done-2026-02.tsv").read_text()
    todo = (folder / TOP / "queues/developer-todo.tsv").read_text()
    assert queue(folder, "import").error.count("changed by another") == 0
    assert (folder / TOP / "history/retry-events.tsv").read_text() == history
    assert (folder / TOP / "archive/done-2026-02.tsv").read_text() == archive
    assert (folder / TOP / "queues/developer-todo.tsv").read_text() == todo
    assert lines(folder / TOP / "queues/blocked.tsv")[1][10:] == ["running", "soft_fail", "0", "3"]
    with opened(folder) as board:
        pass
    assert board.notices == ()
    before = cards(folder)
    told = queue(folder, "import")
    assert told.code == 30
    assert "--from-tsv" in told.error
    assert cards(folder) == before


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row("T-1"), "T-1 is there twice: also in queues/developer-todo.tsv:2"),
        (row("T-0"), "archive/done-2026-02.tsv:2 T-0 is there twice: also in queues/developer-todo.tsv:4"),
        (row("T-5", "waiting"), "T-5 has the status 'waiting'"),
        (row("T-5", "review"), "T-5 has the status review, which developer-todo does not have"),
        (row("T-5", phase="begun"), "T-5 has the phase 'begun'"),
        (row("T-5", error_class="oops"), "T-5 has the error class 'oops'"),
        (row("T-5", lease="held"), "T-5 has 'held' as its lease"),
        (row("T-5", updated_at="yesterday"), "T-5 has 'yesterday' as updated_at"),
        (row("T-5", attempt_count="4"), "T-5 has 4 attempts, more than its budget of 3"),
        (row("T-5", attempt_count="x"), "T-5 has 'x' as attempt_count"),
        (row("T-5", attempt_count="-1"), "T-5 has '-1' as attempt_count"),
        (row("T-5", attempt_count="1.0"), "T-5 has '1.0' as attempt_count"),
        (row("T-5", attempt_count="\u0663"), "as attempt_count"),
        (row("T-5", retry_budget="9" * 12), "as retry_budget"),
        (row("T-5", retry_budget="many"), "T-5 has 'many' as retry_budget"),
        (row("T-5", retry_budget="0"), "T-5 has the retry_budget 0"),
        (row("T-5", retry_budget="999999999"), "T-5 has the retry_budget 999999999"),
        (row("../x"), "is not a valid ticket id"),
        (row("T-5", title=" "), "T-5 has no title"),
        (row("T-5", note="a\x1bb"), "T-5 note holds a control character"),
    ],
)
def test_one_bad_row_stops_the_import_with_its_file_and_line(folder: Path, bad: dict[str, str], said: str) -> None:
    """board line 13: nothing is imported, and nothing is written."""
    good = [row("T-1", phase="ready"), row("T-2")]
    write(folder, "queues/developer-todo.tsv", *good, bad)
    before = tree(folder)
    told = queue(folder, "import")
    assert told.code == 30
    assert said in told.error
    assert "developer-todo.tsv:4" in told.error
    assert "--force-rows" in told.error
    assert tree(folder) == before
    assert not is_on_board(find(folder, {}))


def test_forced_the_good_rows_come_and_the_others_are_listed_and_kept(folder: Path) -> None:
    """board line 13: `--force-rows`."""
    write(folder, "queues/developer-todo.tsv", row("T-1"), row("T-5", "waiting"), row("T-6"))
    before = (folder / TOP / "queues/developer-todo.tsv").read_text()
    told = queue(folder, "import", "--force-rows", "--json")
    assert told.code == 0
    found = json.loads(told.out)
    assert len(found["left_out"]) == 1
    assert "developer-todo.tsv:3 T-5" in found["left_out"][0]
    assert {"T-1", "T-6"} <= cards(folder).keys()
    assert "T-5" not in cards(folder)
    assert (folder / TOP / "queues/developer-todo.tsv.before-import").read_text() == before


def test_a_header_that_nobody_knows_is_a_fault(folder: Path) -> None:
    """board line 13."""
    write(folder, "queues/developer-todo.tsv", row("T-1"), fields=("id", "status", "title", "colour"))
    told = queue(folder, "import")
    assert (told.code, "developer-todo.tsv:1" in told.error, "colour" in told.error) == (30, True, True)


def test_a_row_that_is_no_text_is_a_fault_and_takes_no_other_along(folder: Path) -> None:
    """board line 13."""
    (folder / TOP / "queues/blocked.tsv").write_bytes(b"id\tstatus\n\xff\xfe\n")
    assert "blocked.tsv:2 (no id) is not UTF-8" in queue(folder, "import").error
    write(folder, "queues/blocked.tsv", row("GOOD", "blocked"), row("BAD", "blocked"))
    path = folder / TOP / "queues/blocked.tsv"
    path.write_bytes(path.read_bytes().replace(b"BAD", b"B\xff"))
    assert "blocked.tsv:3 (no id) is not UTF-8" in queue(folder, "import").error
    queue(folder, "import", "--force-rows")
    assert "GOOD" in cards(folder)


def test_a_link_that_leads_out_of_the_project_is_not_read(folder: Path, tmp_path: Path) -> None:
    """board line 13."""
    path = folder / TOP / "queues/blocked.tsv"
    path.rename(tmp_path / "elsewhere.tsv")
    path.symlink_to(tmp_path / "elsewhere.tsv")
    told = queue(folder, "import", "--force-rows")
    assert (told.code, "out of the project" in told.error) == (30, True)
    assert not is_on_board(find(folder, {}))


def test_before_the_import_every_other_command_is_blocked_and_writes_nothing(folder: Path) -> None:
    """board line 13: exit 10, and the import is named."""
    before = tree(folder)
    with pytest.raises(SantiagoError) as caught:
        opened(folder)
    assert caught.value.kind is Kind.BLOCKED
    assert "santiago queue import" in caught.value.hint
    for words in (("init",), ("sync",), ("sync", "--discard-edits"), ("import", "--from-tsv")):
        assert queue(folder, *words).code == 10
    assert tree(folder) == before
    assert not is_on_board(find(folder, {}))


def test_where_there_is_nothing_to_import_it_says_so(tmp_path: Path) -> None:
    """board line 13."""
    folder = project(tmp_path / "p")
    told = queue(folder, "import")
    assert (told.code, "queue init" in told.error) == (30, True)
    assert tree(folder) == {".git": (b"", 0)}


def test_a_count_in_the_history_that_is_no_number_is_listed_too(folder: Path) -> None:
    """board line 13: what was spent is never guessed."""
    history = folder / TOP / "history/retry-events.tsv"
    history.write_text(history.read_text().replace("\t3\t3\tP1", "\t3\tplenty\tP1"))
    told = queue(folder, "import", "--force-rows", "--json")
    assert [line.split()[0] for line in json.loads(told.out)["left_out"]] == ["history/retry-events.tsv:2"]
