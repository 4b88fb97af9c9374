"""The scripted agent: what it does can be watched, and what it said before it was stopped is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from santiago.agent.scripted import Scripted, load
from santiago.contract.errors import SantiagoError
from santiago.contract.ports.agent import Packet
from santiago.contract.reasons import Reason
from tests.agents.packets import Never, packet_in


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


@pytest.mark.parametrize(
    ("move", "fault"),
    [
        ("write: {a: 5}", "write must be relative paths, each with a text"),
        ("write: [a]", "write must be"),
        ("write:", "write must be"),
        ("append: {../a: x}", "append must be"),
        ("delete: a", "delete must be a list of relative paths"),
        ("delete: [/etc/passwd]", "delete must be"),
        ("say: {a: b}", "say must be a text"),
        ("exit: many", "exit must be a whole number from 0"),
        ("seconds: abc", "seconds must be a number from 0"),
        ("seconds: .inf", "seconds must be"),
        ("tokens: many", "tokens must be"),
        ("cost_usd: -1", "cost_usd must be"),
        ("detail: [a]", "detail must be a text, or a mapping"),
        ("detail: {objective: 2026-01-02}", "detail must be"),
        ("detail: &a {objective: *a}", "detail must be"),
        ("wrote: {a: b}", "unknown key wrote"),
        ("just words", "it must hold some of write, append"),
    ],
)
def test_a_playbook_is_checked_when_it_is_read_and_the_fault_has_its_place(move: str, fault: str) -> None:
    with pytest.raises(SantiagoError) as caught:
        load(f"stories:\n  R1:\n    - say: first\n    - {move}\n", "play.yaml")
    assert (caught.value.where, caught.value.exit_code) == ("play.yaml", 30)
    assert f"R1, attempt 2: {fault}" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "stories: []",
        "stories:",
        "tales: {}",
        "stories: {R1: 5}",
        "stories: {}\ntests: []",
        "stories: {}\nproposals: []",
        "{",
        "[" * 5000,
    ],
)
def test_what_is_no_playbook_is_refused(text: str) -> None:
    with pytest.raises(SantiagoError, match="not a playbook"):
        load(text, "play.yaml")


def test_a_playbook_may_hold_everything_that_it_can() -> None:
    move = "{write: {a/b.py: x}, append: {c: y}, delete: [d], say: 5, ask: why, exit: 1, seconds: 0.5, tokens: 3, cost_usd: 0.1}"
    more = f"tests: {{R2: {move}}}\nproposals: {{R3: {{detail: {{objective: x}}, say: y}}}}\ndrafts: {{plan: [{{detail: {{stories: []}}}}]}}"
    books = load(f"stories: {{1: {move}, R2: [], R3: [{{}}]}}\n{more}", "play.yaml")
    assert [list(book) for book in books] == [["1", "R2", "R3"], ["R2"], ["R3"], ["plan"]]


def test_an_attempt_that_writes_tests_plays_its_own_moves_and_the_others_begin_with_the_first(packet: Packet) -> None:
    player = Scripted({"S1": [{"say": "work"}, {"say": "again"}]}, {"S1": [{"say": "tests"}]})
    packets = (
        replace(packet, tests_only=True),
        replace(packet, attempt=2, tests_by=1),
        replace(packet, attempt=3, tests_by=1),
    )
    assert [player.attempt(one, Never()).message for one in packets] == ["tests", "work", "again"]
