"""A lease goes by the board's own clock: a wall clock that jumps neither ends a live lease nor revives a dead one."""

from pathlib import Path

import pytest

from santiago.board import board_clock
from santiago.contract.board import BoardEvent
from tests.board.project import opened, project, ticket

MINUTE = 60_000


class Machine:
    def __init__(self) -> None:
        self.boot, self.monotonic, self.wall = "first", 5_000_000, 1_700_000_000_000

    def read(self) -> tuple[str, int, int]:
        return self.boot, self.monotonic, self.wall

    def pass_by(self, minutes: int) -> None:
        self.monotonic += minutes * MINUTE
        self.wall += minutes * MINUTE

    def set_wall(self, minutes: int) -> None:
        self.wall += minutes * MINUTE

    def start_anew(self, minutes: int) -> None:
        """The machine is off for a while, and its monotonic clock begins again."""
        self.boot, self.monotonic, self.wall = self.boot + "'", 100, self.wall + minutes * MINUTE


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(board_clock, "machine_clocks", made.read)
    return made


@pytest.fixture
def folder(tmp_path: Path, machine: Machine) -> Path:
    assert machine.boot == "first"
    folder = project(tmp_path / "p")
    with opened(folder) as board:
        board.board.add(ticket("T-1"), "me")
    return folder


def taken_by(folder: Path, worker: str) -> bool:
    """Try to claim, in a process's own view of the board, and tell whether that brought the ticket."""
    with opened(folder) as board:
        return board.board.claim("developer-todo", worker, worker).card is not None


@pytest.mark.parametrize("jump", [600, -600, 60 * 24 * 365])
def test_a_jump_of_the_wall_clock_ends_no_live_lease(folder: Path, machine: Machine, jump: int) -> None:
    """board line 75."""
    assert taken_by(folder, "one")
    machine.set_wall(jump)
    assert not taken_by(folder, "two")
    machine.pass_by(59)
    assert not taken_by(folder, "two")
    machine.pass_by(2)
    assert taken_by(folder, "two")


def test_a_clock_that_is_set_back_revives_no_dead_lease(folder: Path, machine: Machine) -> None:
    """board line 75: what has ended by the board's clock has ended."""
    assert taken_by(folder, "one")
    machine.pass_by(61)
    machine.set_wall(-600)
    assert taken_by(folder, "two")


def test_a_jump_is_recorded_and_said_once(folder: Path, machine: Machine) -> None:
    """board line 75."""
    assert taken_by(folder, "one")
    machine.set_wall(-600)
    with opened(folder) as board:
        board.board.reconcile((), "me")
    assert "was changed by -36000 s" in "".join(board.notices)
    with opened(folder) as board:
        board.board.reconcile((), "me")
        with board.store.reading() as at:
            assert [event.about for event in at.events(event=BoardEvent.CLOCK_JUMPED)] == [{"seconds": -36000}]
    assert board.notices == ()


def test_a_process_that_lives_through_a_jump_goes_on_with_the_same_time(folder: Path, machine: Machine) -> None:
    """board line 75: two processes, one of which saw the jump first."""
    one, other = opened(folder), opened(folder)
    one.board.claim("developer-todo", "one", "one")
    other.board.reconcile((), "me")
    machine.set_wall(600)
    one.board.reconcile((), "me")
    machine.pass_by(30)
    assert other.board.claim("developer-todo", "two", "two").card is None
    assert one.store.ticks() == other.store.ticks()
    one.close()
    other.close()


def test_a_restart_counts_the_time_that_the_machine_was_off(folder: Path, machine: Machine) -> None:
    """board line 75: it is the only one who knows; where it went back, no time passed."""
    assert taken_by(folder, "one")
    machine.start_anew(30)
    assert not taken_by(folder, "two")
    machine.start_anew(-600)
    assert not taken_by(folder, "two")
    machine.start_anew(31)
    assert taken_by(folder, "two")


def test_renewing_counts_from_now(folder: Path, machine: Machine) -> None:
    """board lines 29 and 75: by the record of renewals, not by the time in the lease."""
    with opened(folder) as board:
        card = board.board.claim("developer-todo", "one", "one").card
        assert card is not None
        machine.pass_by(50)
        machine.set_wall(-600)
        assert board.board.renew("T-1", card.lease, "one").lease == card.lease
    machine.pass_by(50)
    assert not taken_by(folder, "two")
    machine.pass_by(11)
    assert taken_by(folder, "two")
