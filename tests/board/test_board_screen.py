"""The board in the TUI, and where there is no terminal: queues, tickets, what people do, what others do meanwhile."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from santiago.app.board import by_hand
from santiago.board.board_telling import verdict_of
from santiago.cli.main import santiago
from santiago.cli.ticket_commands import board as command
from santiago.contract.board import FIELDS
from santiago.report.whole_board import board_data
from santiago.tui.app import SantiagoApp
from santiago.tui.board_screen import BoardScreen, Column
from santiago.tui.keys import BOARD
from tests.board import desk as shells
from tests.board.boards import Desk, desk
from tests.board.cards import NOW, blocked, card, spent
from tests.board.screens import HERE, PICTURES, TICKS, Person, drawn, filled, look
from tests.tui.driving import program

__all__ = ["desk"]

OTHER = """
import sys
from pathlib import Path
from santiago.board.board_commands import Board
from santiago.board.board_store import Store
claim = Board(Store(Path(sys.argv[1]))).claim("developer-todo", "ben", "ben")
print(claim.card.id)
"""


@pytest.mark.parametrize("name", PICTURES)
def test_the_board_looks_as_in_its_picture(name: str) -> None:
    """The board in the TUI: wide with columns, narrow with one at a time; `python -m tests.board.screens` draws them."""
    assert drawn(name) == (HERE / name).read_text(encoding="utf-8")


def test_the_only_column_with_tickets_is_readable_at_once_on_a_narrow_terminal(desk: Desk) -> None:
    """The board in the TUI: at 80 columns one queue is shown at a time, and it takes the whole width."""
    desk.add(blocked("W1", note="waits"))

    async def reads(person: Person) -> None:
        await person.until(lambda: person.visible() == ["blocked"])
        await person.until(lambda: "blocked 1" in person.text())
        column = person.screen.query_one("#blocked", Column)
        assert "W1 Title of W1" in str(column.options.options[0].prompt)

    look(desk, reads, size=(80, 24))


def test_what_another_process_does_is_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board in the TUI follows other processes live, not only by reading all of it now and then."""
    monkeypatch.setattr("santiago.tui.board_screen.SLOW", 10**9)
    desk.add(card("T1"))

    async def watches(person: Person) -> None:
        assert "ben" not in person.page()
        done = subprocess.run(
            [sys.executable, "-c", OTHER, str(desk.place.store)], check=True, capture_output=True, text=True
        )
        assert done.stdout == "T1\n"
        await person.until(lambda: "ben, 60 min left · try 1/3" in person.page())

    look(desk, watches)


def test_claim_by_key_after_a_word(desk: Desk) -> None:
    """The board in the TUI: c claims, and any other key than y does not."""
    desk.add(card("T1"), card("T2"))

    async def claims(person: Person) -> None:
        await person.press("down", "c", "enter", "escape")
        await person.press("c", "y")
        assert person.said() == "T2 is yours: try 1 of 3"
        await person.press("c", "y")
        assert "T2 is held by ann" in person.said()

    look(desk, claims)
    with desk.store.reading() as at:
        assert [(one.id, one.holder, one.attempt_count) for one in at.cards("developer-todo")] == [
            ("T1", "", 0),
            ("T2", "ann", 1),
        ]


def test_move_asks_for_what_the_queue_needs(desk: Desk) -> None:
    """The board in the TUI: m moves; evidence is asked for, and what was typed is not lost where it is no evidence."""
    desk.add(card("T1"))
    desk.board.claim("developer-todo", "ann", "ann")

    async def moves(person: Person) -> None:
        await person.press("m", "enter", *"none", "enter")
        assert "without evidence" in person.text()
        await person.press(*["backspace"] * 4, *"log", "enter")
        assert "log does not exist" in person.text()
        (desk.place.project / "log").touch()
        await person.press("enter")
        assert person.said() == "T1 is in planner-review now"
        assert person.tickets("planner-review") == ["T1"]
        await person.press("right", "m")
        assert "accepts T1 with a" in person.text()
        await person.press("escape")

    look(desk, moves)
    with desk.store.reading() as at:
        (found,) = at.cards("planner-review")
        assert (found.evidence_links, found.phase) == ("log", "evidence_collected")


def test_a_planner_accepts_by_key_what_the_done_gate_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board in the TUI, board lines 22 and 52: a accepts after a word, and says what is missing where something is."""
    shell = shells.Desk(tmp_path)
    monkeypatch.setattr(by_hand, "sys", SimpleNamespace(executable=program()))
    for name, value in shell.env.items():
        monkeypatch.setenv(name, value)
    shell.add("T1", "developer-todo", "--verify", "grep hello hello.txt")
    shell.add("T2", "planner-review")
    shell.claim("ada")
    shell.commit(hello_txt="hello\n")
    shell.ok("queue", "verify", "T1", "--trust-commands")

    async def is_refused(person: Person) -> None:
        await person.press("a")
        assert person.said() == "only tickets in planner-review can be accepted"
        await person.press("right", "a")
        assert person.said().startswith("ann is not a planner")
        assert "`santiago board --actor planner`" in person.said()

    async def accepts(person: Person) -> None:
        await person.press("right", "a", "enter", "escape", "a", "y")
        await person.until(lambda: "T2 is not done: it has no evidence" in person.said())
        await person.press("down", "a", "y")
        await person.until(lambda: person.said() == "T1 is done, and in the archive")
        await person.until(lambda: person.tickets("planner-review") == ["T2"])

    with shell.opened() as opened:
        opened.board.add(card("T3"), "planner")
        look(opened, is_refused)
    with shell.opened() as opened:
        monkeypatch.setenv("USER", "ann")
        look(opened, accepts, actor="ann")
    assert shell.card("T1").archived_by == "ann", "the owner of the repository, under her own name"


def test_nothing_is_painted_on_a_board_that_is_being_left(desk: Desk) -> None:
    """The board in the TUI: what a worker says and what is read while the app leaves asks for no widget."""
    screen = BoardScreen(desk.opened, 0, "ann", lambda: NOW)

    async def leaves() -> None:
        app = SantiagoApp(screen)
        async with app.run_test():
            app._running = False  # leaving begins so, and then takes the widgets down
            await screen.remove_children()
            desk.add(card("T1"))
            screen.reload()
            await asyncio.to_thread(app.call_from_thread, screen.say, "T1 is done, and in the archive")

    asyncio.run(leaves())
    assert screen.told == ("", "")


def test_what_others_hold_is_not_moved_and_no_secret_is_typed_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board in the TUI keeps the rules of the command line: it is said in the window, and nothing is kept."""
    monkeypatch.setenv("API_TOKEN", "sk-9f8e7d6c5b4a3210ffee")
    desk.add(card("T1"), card("T2"))
    desk.board.claim("developer-todo", "ben", "ben")

    async def moves(person: Person) -> None:
        await person.press("m", "down", "enter", *"stuck", "enter")
        assert "ben holds it now" in person.text()
        await person.press("escape", "down")
        await person.press("m", "down", "enter", *"sk-9f8e7d6c5b4a3210ffee", "enter")
        assert "the variable API_TOKEN" in " ".join(person.text().split())
        await person.press("escape")

    look(desk, moves)
    with desk.store.reading() as at:
        assert at.counts() == {"developer-todo": 2}


def test_only_a_planner_decides(desk: Desk) -> None:
    """The board in the TUI, board line 28: d decides on what has no attempt left."""
    desk.keep(spent("T1"), spent("T2", arrival=1), spent("T3", arrival=2))

    async def is_refused(person: Person) -> None:
        await person.press("d")
        assert person.said().startswith("ann is not a planner")
        assert "`santiago board --actor planner`" in person.said()

    async def decides(person: Person) -> None:
        await person.press("d", "s")
        assert person.said() == "T1 is closed: stop"
        await person.press("down", "d", "r", *["backspace"], "x", "enter")
        assert "is not a number" in person.text()
        await person.press("backspace", "5", "enter")
        assert person.said() == "T2 is in planner-inbox now"
        assert person.tickets("planner-inbox") == ["T2"]

    look(desk, is_refused)
    look(desk, decides, actor="planner")
    with desk.store.reading() as at:
        assert [(one.id, one.decided) for one in at.cards("blocked")] == [("T1", "stop"), ("T3", "")]


def test_what_is_no_longer_wanted_is_dropped(desk: Desk) -> None:
    """The board in the TUI, board line 28: d has no other word for a ticket with attempts left."""
    desk.add(card("T1"))

    async def drops(person: Person) -> None:
        await person.press("d", "s", "x")
        assert person.said() == "T1 is closed: stop"
        await person.press("right", "d")
        assert person.said() == "go to a ticket that is not closed first"

    look(desk, drops, actor="planner")


def test_a_narrow_terminal_shows_one_queue_at_a_time(desk: Desk) -> None:
    filled(desk)

    async def turns(person: Person) -> None:
        assert person.visible() == ["blocked"], "it opens where a decision is needed"
        assert "PAY-1" in person.page()
        await person.press("down")
        assert "A person has to decide" in person.page()
        await person.press("right")
        assert person.visible() == ["planner-inbox"]

    look(desk, turns, size=(60, 24))


def test_the_help_names_every_key_with_its_command_which_exists_with_its_options(desk: Desk) -> None:
    actions = {
        name.removeprefix("action_")
        for kind in BoardScreen.__mro__
        if kind.__module__.startswith("santiago.")
        for name in vars(kind)
        if name.startswith("action_")
    }
    assert actions == {key.action.partition("(")[0] for key in BOARD if key.action}

    async def asks(person: Person) -> None:
        await person.press("question_mark")
        assert all(f"$ {key.command}" in person.text() for key in BOARD)

    look(desk, asks)
    for key in BOARD:
        _, name, *words = key.command.split()
        found: click.Command | None = santiago.get_command(click.Context(santiago), name)
        if isinstance(found, click.Group):
            found = found.commands[words[0]]
        assert found is not None
        known = {option for one in found.params for option in one.opts} | {"--help"}
        assert set(re.findall(r"--[a-z-]+", key.command)) <= known


def test_without_a_terminal_it_is_a_list(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fourteen fields in their order, and what they mean now; what has to be decided, and by whom."""
    filled(desk)
    monkeypatch.setattr("santiago.report.whole_board.ticks_of", lambda _: TICKS)
    monkeypatch.setattr("santiago.cli.board_views.utc", lambda: NOW)
    assert command.main(["--plain"], standalone_mode=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("NEEDS YOU, 2 tickets wait for a decision: PAY-1, PAY-2, planner-inbox 1,")
    assert "developer-todo: 2 tickets" in lines
    assert "  AUTH.S1, Sign in with a passkey, ben, 43 min left, try 1/3, 0 min" in lines
    assert "  AUTH.S2, Sign out everywhere, waits for AUTH.S1, 0 min" in lines
    assert "  PAY-2, Which bank?, 0 min, a person has to decide" in lines
    assert command.main(["--json"], standalone_mode=False) == 0
    data = json.loads(capsys.readouterr().out)
    review = data["queues"]["planner-review"][0]
    assert tuple(review)[:14] == FIELDS
    assert review["evidence"] == ["a/results.tsv", "b.log"]
    assert data["queues"]["developer-todo"][1]["waits_for"] == ["AUTH.S1"]
    assert [(one["id"], one["by"], one["priority"]) for one in data["decisions"]] == [
        ("PAY-1", "planner", "P0"),
        ("PAY-2", "user", "P3"),
    ]
    assert (data["archived"], data["verdict"]["status"]) == (1, "STOP_USER_CONFIRMATION")


def test_a_long_queue_is_shown_from_its_beginning(desk: Desk) -> None:
    desk.keep(*(card(f"T{number}", arrival=number) for number in range(5)))
    with desk.store.reading() as at:
        data = board_data(at, verdict_of(at, 0), NOW, 2)
    assert [one["id"] for one in data["queues"]["developer-todo"]] == ["T0", "T1"]
    assert data["counts"]["developer-todo"] == 5


@pytest.mark.parametrize(("minutes", "left"), [(60, 60), (1, 1), (0, 0), (-5, 0)])
def test_a_lease_is_told_in_whole_minutes_by_the_boards_clock(minutes: int, left: int) -> None:
    from santiago.report.whole_board import lease_minutes

    assert lease_minutes(card("T1", expires=TICKS + minutes * 60_000), TICKS) == left
    assert lease_minutes(card("T1"), TICKS) is None
