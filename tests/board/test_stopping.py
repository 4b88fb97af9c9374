"""One loop for a board, which a person can stop; who works beside it is waited for, and their word counts."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from santiago.app.board import working
from santiago.app.board.routing import route
from santiago.app.board.ticket_context import TicketContext
from santiago.app.board.working import only_loop, work_on
from santiago.app.start.request import Request
from santiago.board.rules import Move
from santiago.contract.events import EventKind
from tests.board.desk import CONSENTS, HELLO, Desk
from tests.cli import greeter

SLOW = HELLO.replace("    - write", "    - seconds: 1\n      write")
LIMITED = (
    "test -e {0} && echo hello > hello.txt && exit; touch {0}; echo 'rate limit reached, try again in 1 second'; exit 1"
)


def test_a_loop_that_is_stopped_ends_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """Board line 50: Ctrl-C lets the attempt come to its end, says so, and nothing else is begun."""
    desk = Desk(tmp_path, SLOW).requested()
    words = [sys.executable, "-m", "santiago", "loop", "--trust-commands", "--trust-project"]
    with subprocess.Popen(
        words, cwd=desk.repo, env=desk.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as loop:
        assert loop.stderr is not None
        while "start    S1" not in (line := loop.stderr.readline()):
            assert line, "it ended before it began"
        loop.send_signal(signal.SIGINT)
        out, said = loop.communicate(timeout=60)
    assert loop.returncode == 130, out + said
    assert "stopping" in said
    assert "stopped; `santiago loop` goes on" in said
    assert "TERMINAL_STATUS" not in out
    desk.looped()


def test_a_second_loop_says_who_is_at_work(tmp_path: Path) -> None:
    """Board line 37: two loops would take one request apart."""
    desk = Desk(tmp_path).requested()
    with desk.opened() as opened, only_loop(opened.place):
        said = desk.refused(20, "loop", "--trust-project")
    assert "another loop works on this board: process" in said
    assert desk.card("REQ").queue == "planner-inbox"


def test_the_loop_waits_for_whoever_works_on_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 41: a person who has their work judged meanwhile costs no ticket an attempt."""
    desk, others = Desk(tmp_path).requested(), ["ada", "ada", None]
    monkeypatch.setattr(working, "working", lambda _: others.pop(0))
    monkeypatch.setattr(working, "_POLL_S", 0)
    with desk.opened() as opened:
        card = route(opened, desk.card("REQ"), CONSENTS)
        working.start(TicketContext(opened=opened, consents=CONSENTS, patience_s=60), card, {})
    assert others == []


def test_what_a_person_moved_while_it_was_worked_on_stays_where_they_put_it(tmp_path: Path) -> None:
    """Board line 29: the loop goes on with the others instead of ending."""
    desk = Desk(tmp_path, greeter.GOOD, prd=greeter.PRD).routed()
    with desk.opened() as opened:
        claims = [opened.board.claim("developer-todo", "developer@loop", "planner").card for _ in range(2)]
        cards = [card for card in claims if card]
        opened.board.move("REQ.S1", None, Move(to="blocked", note="not now"), "ann")
        moved = work_on(TicketContext(opened=opened, consents=CONSENTS), cards)
    assert [card.queue for card in moved] == ["blocked", "planner-review"]
    assert desk.card("REQ.S1").note == "not now"


def test_a_lease_is_held_while_the_loop_waits_for_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board line 29: nothing is recorded of a run that waits, for hours where its agent's limit says so."""
    monkeypatch.setattr("santiago.app.board.ticket_context.EVERY_MS", 1)
    (tmp_path / "agent.sh").write_text(LIMITED.format(tmp_path / "refused"))
    desk = Desk(tmp_path, settings=f"[board]\ndeveloper = 'sh {tmp_path}/agent.sh'\n").routed()
    happened: list[str] = []

    def follow(request: Request) -> None:
        request.listeners.append(lambda events, _: happened.extend(one.event for one in events))

    with desk.opened() as opened:
        card = opened.board.claim("developer-todo", "developer@loop", "planner").card
        assert card
        monkeypatch.setattr(opened.board, "renew", lambda *_: happened.append("renewed"))
        work_on(TicketContext(opened=opened, consents=CONSENTS, follow=follow), [card])
    began, ended = happened.index(EventKind.WAIT_STARTED), happened.index(EventKind.WAIT_ENDED)
    assert "renewed" in happened[began:ended]
