"""An idle loop ends; one that was told to wait does so for no longer than it was told."""

import threading
from pathlib import Path

import pytest

from santiago.app.board import queue_loop
from tests.board.desk import Desk
from tests.board.project import opened, project, ticket


def test_a_loop_with_nothing_to_do_ends(tmp_path: Path) -> None:
    """Board lines 45 and 51."""
    ran = Desk(tmp_path).loop()
    assert ran.returncode == 0
    assert "AUTOLOOP_TERMINAL_STATUS:STOP_DONE" in ran.stdout
    assert "AUTOLOOP_TOTAL_CYCLES:1" in ran.stdout


def test_waiting_ends_with_the_first_change_or_with_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 51: a look at the store now and then, bounded."""
    monkeypatch.setattr(queue_loop, "PAUSE_S", 0.01)
    folder = project(tmp_path / "p")
    with opened(folder) as board:
        assert not queue_loop.wait_for_change(board, 0)

        def add() -> None:
            with opened(folder) as other:
                other.board.add(ticket("NEW"), "planner")

        thread = threading.Thread(target=add)
        thread.start()
        assert queue_loop.wait_for_change(board, 5)
        thread.join()
