"""What a person says about a ticket's work counts, by whichever command they say it."""

from pathlib import Path

import pytest

from tests.board.desk import RESEARCH, SCIENCE, Desk

pytestmark = pytest.mark.xdist_group("board-science")


@pytest.mark.parametrize("resumed", [False, True], ids=["the loop takes the answer up", "resume takes it up"])
def test_work_that_a_person_accepted_by_an_answer_is_done(studied: Desk, resumed: bool) -> None:
    """Board lines 43 and 76: nobody does it again because its table has no PASS from before the person's word."""
    (question,) = studied.run("REQ").state.open_questions()
    studied.ok("answer", "REQ", question.id, "accept", "--text", "I read it", "--actor", "ann")
    if resumed:
        assert "`santiago loop` goes on with its tickets" in studied.type("resume", "REQ", "--trust-commands").stderr
    studied.looped()
    card = studied.card("REQ.S1")
    assert (card.queue, card.attempt_count) == ("done", 1)
    assert "verification-results-attested.tsv" in card.evidence_links


def test_a_person_who_accepted_the_work_can_take_the_ticket_to_done(studied: Desk) -> None:
    """Board lines 52 and 76: the same without the loop."""
    (question,) = studied.run("REQ").state.open_questions()
    studied.ok("answer", "REQ", question.id, "accept", "--actor", "ann")
    studied.type("resume", "REQ", "--trust-commands")
    studied.ok("queue", "move", "--id", "REQ.S1", "--to", "done", "--actor", "planner")
    assert studied.card("REQ.S1").queue == "done"


def test_a_request_of_nothing_but_a_package_comes_to_its_end(tmp_path: Path) -> None:
    """Board line 76: where no check can judge the whole either, the person's word on its parts is all there is."""
    package = RESEARCH.partition("### R2")[0]
    desk = Desk(tmp_path, SCIENCE, '[board]\nscientist = "scripted"\n', prd=package).requested()
    desk.loop()
    said = desk.ok("status")
    assert "santiago loop" in said
    assert "santiago resume " not in said
    desk.ok("queue", "verify", "REQ.S1", "--attest", "I read it", "--actor", "ann")
    desk.looped()
    assert desk.card("REQ").queue == "done"


def test_no_secret_of_this_machine_comes_onto_the_board(tmp_path: Path) -> None:
    """Board line 69: what is on the board is shown to others, and kept."""
    desk, secret = Desk(tmp_path), "sk-9f8e7d6c5b4a3210ffee"
    words = ("queue", "add", "--queue", "planner-inbox", "--id", "T", "--title", "Use it", "--note", f"with {secret}")
    assert "holds the value of the variable API_TOKEN" in desk.refused(30, *words, API_TOKEN=secret)
    desk.ok(*words)
    move = ("queue", "move", "--id", "T", "--to", "blocked", "--note", secret)
    assert "API_TOKEN" in desk.refused(30, *move, API_TOKEN=secret)
