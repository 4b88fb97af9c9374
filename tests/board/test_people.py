"""The board as people meet it: in words and not in codes, under their own name, and never without saying how it goes on."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from santiago.app.board import ticket_context
from santiago.board.board_commands import Board
from santiago.board.board_store import Store
from santiago.contract.board import Card
from santiago.report.board_pages import word
from tests.board import boards
from tests.board.boards import desk
from tests.board.cards import blocked, card, spent
from tests.board.desk import HELLO, PROTOCOL, REQUEST, Desk
from tests.board.screens import Person, filled, look
from tests.tui.driving import resized
from tests.util import terminal

__all__ = ["desk"]
CODE = re.compile(r"\b[A-Z]+_[A-Z_]+\b|\b[A-Z]+:[A-Z]|CONTINUE|TBD|needs_user_confirmation")
"""What only programs read."""


class People(Desk):
    """Somebody who sets no variable of the protocol."""

    def __init__(self, folder: Path, playbook: str = HELLO, **more: Any) -> None:
        super().__init__(folder, playbook, **more)
        for name in PROTOCOL:
            del self.env[name]

    def at_terminal(self, *words: str, **env: str) -> tuple[int, str]:
        whole = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **self.env,
            "USER": "ann",
            **env,
        }
        typed = terminal.Terminal([sys.executable, "-m", "santiago", *words], self.repo, whole)
        code = typed.ends()
        typed.close()
        return code, typed.shown.decode()


def test_people_read_words_and_programs_read_codes(tmp_path: Path) -> None:
    """Board lines 18, 37 and 68: one request from the inbox to the archive, as people see it, and as programs do."""
    people, said = People(tmp_path), ""
    for words in (
        REQUEST,
        ("loop", "--trust-commands", "--trust-project"),
        ("queue", "loop-status"),
        ("queue", "next-prompt"),
    ):
        told = people.type(*words)
        assert told.returncode == 0, told.stderr
        said += told.stdout + told.stderr
    assert CODE.findall(said) == []
    assert "accepted REQ.S1 Say hello" in said
    assert "is it complete" not in said.lower(), "nobody is asked what the loop's own planner answers"
    for words, codes in (
        (("loop", "--trust-project"), "AUTOLOOP_TERMINAL_STATUS:STOP_DONE"),
        (("queue", "loop-status"), "LOOP_STATUS:STOP_DONE"),
        (("queue", "next-prompt"), "NEXT_PROMPT_TARGET:tech-planner"),
    ):
        assert codes in people.json(*words)["lines"]
        assert f"{codes}\n" in people.ok(*words, SIGEE_RUNTIME_ROOT=".santiago/.runtime")


def test_a_loop_that_stops_says_why_in_words_with_what_helps(tmp_path: Path) -> None:
    """Board line 46: a sentence without a document, which nobody can plan."""
    people = People(tmp_path)
    people.ok("queue", "add", "CSV export")
    told = people.loop()
    assert (told.returncode, CODE.findall(told.stdout + told.stderr)) == (10, [])
    assert "nothing goes on until somebody decides on REQ-1" in told.stdout
    assert "santiago queue move" in told.stderr
    assert people.json("board")["verdict"]["status"] == "STOP_USER_CONFIRMATION"


def test_what_is_offered_for_a_run_of_the_board_is_what_the_board_takes(tmp_path: Path) -> None:
    """Board line 34: `resume` claims nothing there."""
    people = People(tmp_path)
    people.routed()
    assert [row["next"] for row in people.json("runs")["runs"]] == ["santiago loop"]


def test_a_title_is_enough_and_ids_are_made_and_never_twice(tmp_path: Path) -> None:
    """Board line 18: `queue add "CSV export"`, also without quotes; queue and id can be given; a title is needed once."""
    people = People(tmp_path)
    first = people.json("queue", "add", "CSV export")
    assert (first["id"], first["queue"], first["title"], first["status"]) == (
        "REQ-1",
        "planner-inbox",
        "CSV export",
        "pending",
    )
    people.ok("queue", "add", "--id", "REQ-2", "--title", "By option")
    assert people.json("queue", "add", "Import", "of", "TSV")["id"] == "REQ-3"
    assert people.json("queue", "add", "Fix it", "--queue", "developer-todo")["id"] == "T-1"
    for words in ((), ("one", "--title", "two"), ("",), ("  ",)):
        people.refused(2, "queue", "add", *words)
    people.refused(2, "queue", "add", "A name", "--id", "")
    people.ok("queue", "decide", "REQ-3", "drop", "--actor", "planner")
    assert people.json("queue", "add", "After that")["id"] == "REQ-4"
    document = people.json("queue", "add", "prd.md", "--id", "DOC")
    assert (document["title"], document["source"]) == ("One", "doc:prd.md"), (
        "who names a document means what it describes"
    )
    assert people.json("queue", "add", "nowhere.md", "--id", "NO")["source"] == "manual"
    other = Board(Store(people.root / "orchestration" / "board.sqlite3"))
    with people.opened() as opened:
        for number in range(5, 11):
            at = opened.board if number % 2 else other
            assert at.add(card("", "planner-inbox", title="T"), "ann").id == f"REQ-{number}"
    other.store.close()


def test_claim_and_move_take_the_ticket_by_its_place_and_the_name_of_whoever_types(tmp_path: Path) -> None:
    """Board lines 17 and 26: no option is needed where there is only one sensible value."""
    people = People(tmp_path)
    people.ok("queue", "add", "Measure it", "--queue", "scientist-todo")
    found = people.json("queue", "claim", "T-1")["ticket"]
    assert (found["worker"], found["queue"]) == ("user", "scientist-todo")
    people.ok("queue", "move", "T-1", "--to", "blocked", "--note", "no data")
    assert people.card("T-1").queue == "blocked"
    people.refused(2, "queue", "move", "--to", "blocked", "--note", "which one?")
    people.refused(2, "queue", "claim", "T-1", "--id", "T-2")
    assert people.ok("queue", "claim") == "NO_PENDING:developer-todo\n"


def test_a_board_without_open_tickets_says_how_to_fill_it(tmp_path: Path) -> None:
    """An empty board, and one on which everything is done."""
    people, fills = People(tmp_path), 'santiago queue add "CSV export"'
    for words in (("board",), ("loop", "--trust-project"), ("queue", "loop-status")):
        assert fills in people.ok(*words)
    assert fills in people.at_terminal("queue", "list")[1]
    people.requested()
    assert fills not in people.ok("board")
    people.looped()
    assert fills in people.ok("board")


def test_the_owner_of_the_repository_decides_and_accepts_at_a_terminal_under_their_own_name(tmp_path: Path) -> None:
    """Board lines 28 and 52: only at a terminal, only under a name of their own, and never their own work."""
    people = People(tmp_path)
    people.add("T1", "developer-todo", "--verify", "grep hello hello.txt")
    for name in ("T2", "T3", "T4"):
        people.add(name, "blocked", "--attempt-count", "3", "--note", "why")
    people.claim("ada")
    people.commit(hello_txt="hello\n")
    people.ok("queue", "verify", "T1", "--trust-commands")
    people.refused(10, "queue", "decide", "T2", "stop", USER="ann")
    people.refused(10, "queue", "move", "T1", "--to", "done", USER="ann")
    for env in ({"SANTIAGO_RUN": "r_1"}, {"SIGEE_QUEUE_ACTOR": "tech-developer"}):
        assert people.at_terminal("queue", "decide", "T2", "stop", **env)[0] == 10
    assert people.at_terminal("queue", "decide", "T2", "stop", "--actor", "bob")[0] == 10
    assert people.at_terminal("queue", "move", "T1", "--to", "done", USER="ada")[0] == 10, "her own work"
    assert people.at_terminal("queue", "decide", "T2", "stop")[0] == 0
    assert people.at_terminal("queue", "decide", "T3", "bypass", SANTIAGO_ACTOR="Ann Other")[0] == 0
    assert people.ok("queue", "decide", "T4", "stop", SANTIAGO_ACTOR="planner")
    assert people.at_terminal("queue", "move", "T1", "--to", "done")[0] == 0
    assert [people.events(name)[-1].actor for name in ("T2", "T3", "T4")] == ["ann", "Ann Other", "planner"]
    assert people.card("T1").archived_by == "ann"


def test_whoever_does_not_own_the_repository_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 52."""
    monkeypatch.setenv("USER", "ann")
    monkeypatch.delenv("SANTIAGO_ACTOR", raising=False)
    monkeypatch.delenv("SANTIAGO_RUN", raising=False)
    assert "ann" in ticket_context.planners_of(tmp_path, in_person=True)
    assert "ann" not in ticket_context.planners_of(tmp_path, in_person=False)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert "ann" not in ticket_context.planners_of(tmp_path, in_person=True)


STATES = {
    "EMPTY": (),
    "DONE": (card("T1", "done"),),
    "OPEN": (card("T1"),),
    "NEEDS YOU": (card("T1"), spent("T2")),
    "STUCK": (spent("T1"), card("T2", error_class="dependency_blocked")),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_at_80x24_the_screen_opens_where_a_decision_is_needed(state: str, desk: boards.Desk) -> None:
    """A board on which nothing moves is STUCK, though the loop's own word for it is CONTINUE."""
    cards: tuple[Card, ...] = STATES[state]
    desk.keep(*cards)

    async def looks(person: Person) -> None:
        assert (word(person.screen.data), person.text().split("  ")[0]) == (state, state)
        here = next((one.queue for one in cards if one.queue == "blocked"), None)
        assert here is None or person.visible() == [here]
        assert person.screen.ticket is None or person.screen.ticket["queue"] == (here or "developer-todo")
        assert CODE.findall(person.text()) == []

    look(desk, looks, size=(80, 24))


def test_no_ticket_shows_a_code_on_its_page(desk: boards.Desk) -> None:
    """Phases, error classes and marks of the protocol are for programs; `--json` has them."""
    filled(desk)
    desk.keep(
        blocked(
            "ASK", note="needs_user_confirmation: Which bank?", next_action="needs_user_confirmation: `santiago answer`"
        )
    )
    codes = re.compile(r"evidence_collected|soft_fail|hard_fail|dependency_blocked|error.class|needs_user|TBD|manual")

    async def reads(person: Person) -> None:
        for _ in person.screen.columns:
            for _ in range(3):
                assert codes.findall(person.page()) == []
                await person.press("down")
            await person.press("right")

    look(desk, reads)


def test_the_board_keeps_its_keys_after_a_small_terminal_and_drops_what_it_said(desk: boards.Desk) -> None:
    desk.add(card("T1"), card("T2"))

    async def looks(person: Person) -> None:
        await person.press("a")
        assert "can be accepted" in person.said()
        await person.press("down")
        assert person.said() == ""
        await resized(person, (30, 10))  # type: ignore[arg-type]
        await person.press("c", "y")
        await resized(person, (80, 24))  # type: ignore[arg-type]
        await person.press("up", "c", "y")
        assert person.said() == "T1 is yours: try 1 of 3", "nothing was claimed where nothing was to be seen"

    look(desk, looks, size=(80, 24))
