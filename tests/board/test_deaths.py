"""A kill or a full disk at any moment of a queue command leaves a ticket where it was or where it goes, and every file whole."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proofs.crash import sick, tracing

from santiago.board.board_commands import add
from santiago.contract.errors import SantiagoError
from tests.board.project import lines, opened, project, ticket
from tests.crash.world import ROOT, memory_folder

ALL = ["nowhere", "developer-todo", "planner-review", "done"]
OPENING = """
import sys
from pathlib import Path
from santiago.board.board_store import Store
for number in range(int(sys.argv[2])):
    print(number, flush=True)
    sys.stdin.readline()
    store = Store(Path(sys.argv[1]) / f"{number}.sqlite3")
    with store.reading() as at:
        at.last()
    store.close()
"""
ADDING = """
import sys
from pathlib import Path
from tests.board.project import opened, ticket
with opened(Path(sys.argv[1])) as board:
    for number in range(10):
        board.board.add(ticket(f"{sys.argv[2]}-{number}"), "me")
assert board.notices == (), board.notices
"""


@pytest.fixture
def ground() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="board-", dir=memory_folder()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def swept(folder: Path, how: str, step: int, library: str = "", **environ: str) -> dict[str, Any]:
    words = [sys.executable, "-m", "tests.board.deaths", str(folder), how, str(step), library]
    done = subprocess.run(words, cwd=ROOT, env=os.environ | environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def test_a_kill_at_any_system_call_leaves_old_files_or_new_ones(ground: Path) -> None:
    """board lines 15 and 77: the calls that write files and store are among them."""
    library = tracing.library(ground)
    if not library:
        pytest.skip("there is no C compiler to build the tracing helper with")
    found = swept(ground, "kill", 31, library)
    if not found["deaths"]:
        pytest.skip("tracing a process is not permitted here")
    assert found["wrong"] == []
    assert found["ends"] == ALL


def on_a_sick_disk(ground: Path, how: str, step: int) -> dict[str, Any]:
    library = sick.library(ground)
    if not library:
        pytest.skip("there is no C compiler to build the interposed library with")
    control = sick.Sickness(ground, library).control
    return swept(ground, how, step, LD_PRELOAD=library, SICK_DISK=str(control))


def test_a_full_disk_at_any_write_is_transient_and_loses_nothing(ground: Path) -> None:
    """board line 77: exit 20, and the ticket where it was or where it goes; files are exact once there is room."""
    found = on_a_sick_disk(ground, "sick", 8)
    assert found["wrong"] == []
    assert found["ends"] == ALL
    assert found["deaths"] > 20


def test_a_disk_that_is_full_before_the_board_is_laid_out_leaves_nothing_half_made(ground: Path) -> None:
    """board line 11: exit 20; the layout is whole or not there at all."""
    found = on_a_sick_disk(ground, "layout", 9)
    assert found["wrong"] == []
    assert found["deaths"] > 20


def test_a_refused_command_leaves_nothing_of_itself(tmp_path: Path) -> None:
    """board line 77: what came before the refusal in the same transaction is gone, and the process goes on."""
    with opened(project(tmp_path / "p")) as board:
        with pytest.raises(SantiagoError), board.store.writing() as at:  # noqa: PT012  # the second takes the first along
            add(at, ticket("T-1"), "me")
            add(at, ticket("T-1"), "me")
        board.board.add(ticket("T-2"), "me")
        with board.store.reading() as at:
            assert [card.id for card in at.cards("developer-todo")] == ["T-2"]
            assert [event.ticket for event in at.events()] == ["T-2"]


def test_what_a_command_recorded_survives_a_power_cut(tmp_path: Path) -> None:
    """By what SQLite promises: in WAL mode, with `synchronous` at 2 (FULL), each commit waits until it is on disk."""
    with opened(project(tmp_path / "p")) as board, board.store._guarded() as connection:
        settings = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]


def test_a_store_that_several_processes_open_first_is_opened_by_all_of_them(tmp_path: Path) -> None:
    """Board line 11: SQLite itself refuses, without waiting, whoever sets the journal's mode beside another one."""
    rounds, pipe = 25, subprocess.PIPE
    words = [sys.executable, "-c", OPENING, str(tmp_path), str(rounds)]
    openers = [subprocess.Popen(words, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe) for _ in range(4)]
    for _ in range(rounds):
        for one in openers:
            assert one.stdout is not None
            assert one.stdout.readline(), one.communicate()[1]
        for one in openers:
            print(file=one.stdin, flush=True)
    assert [one.communicate()[1] for one in openers] == [""] * 4


def test_first_commands_of_several_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    """board lines 11 and 15: one board, every ticket in it, and the files say so when the last process is gone."""
    folder = project(tmp_path / "p", sigee=True)
    words = [[sys.executable, "-c", ADDING, str(folder), f"T{number}"] for number in range(4)]
    processes = [subprocess.Popen(one, cwd=ROOT, stderr=subprocess.PIPE, text=True) for one in words]
    assert [process.communicate()[1] for process in processes] == [""] * 4
    rows = lines(folder / ".sigee/.runtime/orchestration/queues/developer-todo.tsv")
    with opened(folder) as board, board.store.reading() as at:
        assert [row[0] for row in rows[1:]] == [card.id for card in at.cards("developer-todo")]
    assert len(rows) == 41
    assert (folder / ".gitignore").read_text().count(".sigee") == 1
    assert list(folder.rglob("*.tmp")) == []
