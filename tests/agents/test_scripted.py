"""The scripted agent: what it does can be watched, and what it said before it was stopped is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from santiago.agent.scripted import Scripted
from santiago.contract.ports.agent import Packet
from santiago.contract.reasons import Reason
from tests.agents.packets import packet_in


class Watching:
    """Looks into the log while the agent works, and stops it when it has seen enough."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.seen: list[str] = []

    def soon(self) -> bool:
        return False

    def now(self) -> bool:
        self.seen.append(self.log.read_text())
        return len(self.seen) == 2


@pytest.fixture
def packet(tmp_path: Path) -> Packet:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "old.txt").write_text("old")
    return packet_in(tmp_path, tmp_path / "work")


def test_its_words_are_in_the_log_while_it_works_and_stay_when_it_is_stopped(packet: Packet) -> None:
    watching = Watching(Path(packet.log))
    ending = Scripted({"S1": [{"say": "On it.", "seconds": 60, "write": {"a.txt": "a"}}]}).attempt(packet, watching)
    assert ending.reason is Reason.INTERRUPTED
    assert watching.seen == ["On it.\n", "On it.\n"]
    assert Path(packet.log).read_text() == "On it.\n"


def test_each_thing_it_does_is_a_line_also_of_a_move_that_breaks_off(packet: Packet) -> None:
    moves = [{"write": {"a.txt": "a"}, "append": {"b.txt": "b"}, "delete": ["old.txt", "../outside"]}]
    with pytest.raises(Exception, match="outside the worktree"):
        Scripted({"S1": moves}).attempt(packet, Watching(Path(packet.log)))
    assert Path(packet.log).read_text() == "wrote a.txt\nwrote b.txt\ndeleted old.txt\n"
