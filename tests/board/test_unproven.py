"""Work that passes its checks and that no test shows: it comes onto the branch, holds nobody up, and waits for a person's word."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from santiago.app.board import by_hand, settling
from santiago.contract.board import BoardEvent
from santiago.contract.events import EventKind
from santiago.contract.outcomes import Proof
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason
from tests.board import cards
from tests.board.desk import Desk
from tests.board.screens import Person, look
from tests.cli import greeter
from tests.contract.histories import Journal, plan_of
from tests.tui.driving import program
from tests.util.restored import restored

pytestmark = pytest.mark.xdist_group("board-unproven")  # its worlds are made once
STORY = "### {id}: Give {name}\n{more}\n**Files:** `{name}.py`\n\n**Verification:** `python3 -m unittest -q`\n\n"
TEST = "import unittest\\nclass Shows(unittest.TestCase):\\n    def test_it(self):\\n        import {name}\\n"


def _document(*stories: tuple[str, str, str]) -> str:
    return "# Numbers\n\n" + "".join(STORY.format(id=name, name=gives, more=more) for name, gives, more in stories)


def _work(story: str, name: str, *later: str) -> str:
    """Return the part of a playbook in which a story's work comes first, and then what later attempts bring."""
    return f'  {story}:\n    - write: {{{name}.py: "x = 1\\n"}}\n' + "".join(f"    - {one}\n" for one in later)


def _test(name: str) -> str:
    return f'write: {{test_{name}.py: "{TEST.format(name=name)}"}}'


def _desk(folder: Path, playbook: str, prd: str, *words: str) -> Desk:
    desk = Desk(folder, playbook, prd=prd)
    desk.env["SANTIAGO_POLICY_UNPROVEN"] = "ask"
    desk.commit(
        next_md=_document(("R4", "four", "")), base_py="x = 1\n", old=TEST.format(name="base").replace("\\n", "\n")
    )
    (desk.repo / "old").rename(desk.repo / "test_old.py")
    desk.commit()
    return desk.requested(*words)


@pytest.fixture(scope="module")
def waiting_once(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One story that no test shows, one that depends on it, one of a later chunk, and a later request."""
    stories = ("R1", "one", "Chunk: A"), ("R2", "two", "Chunk: A\nDepends on: R1"), ("R3", "three", "Chunk: B")
    others = [_work(name, gives, _test(gives)) for name, gives in (("R2", "two"), ("R3", "three"), ("R4", "four"))]
    playbook = "stories:\n" + _work("R1", "one", "{}") + "".join(others)
    desk = _desk(tmp_path_factory.mktemp("unproven"), playbook, _document(*stories))
    desk.ok("queue", "add", "--queue", "planner-inbox", "--id", "NEXT", "--title", "Next", "--source", "doc:next.md")
    ran = desk.loop()
    assert ran.returncode == 10, ran.stdout + ran.stderr
    (desk.repo.parent / "said.txt").write_text(ran.stdout)
    return desk


@pytest.fixture
def waiting(waiting_once: Desk) -> Desk:
    return restored(waiting_once, waiting_once.repo.parent)


def test_what_depends_on_unproven_work_goes_on_and_only_then_a_person_is_asked(waiting: Desk) -> None:
    """Board lines 4, 39, 46: dependents, the next chunk and the next request build on it; the planner's review attests nothing."""
    card, story = waiting.card("REQ.S1"), waiting.run("REQ").state.stories["S1"]
    assert (card.queue, card.phase, card.error_class) == ("blocked", "verified", "none")
    assert "needs_user_confirmation: S1-unproven-2" in card.note
    assert "santiago accept REQ S1" in card.next_action
    assert (story.is_unproven, story.proof, card.attempt_count, story.attempts) == (True, Proof.REGRESSION, 2, 2)
    assert [waiting.card(f"REQ.{one}").queue for one in ("S2", "S3")] == ["done", "done"]
    assert [waiting.run("REQ").state.stories[one].proof for one in ("S2", "S3")] == [Proof.OWN_TESTS] * 2
    assert (waiting.card("REQ").status, waiting.card("NEXT").queue) == ("in_progress", "done")
    assert waiting.run("NEXT").state.base == greeter.git(waiting.repo, "rev-parse", "santiago/REQ")
    assert greeter.git(waiting.repo, "show", "santiago/NEXT:one.py") == "x = 1"
    said = (waiting.repo.parent / "said.txt").read_text()
    assert "AUTOLOOP_NO_PROGRESS_COUNT:0\nLOOP_USER_CONFIRMATION_IDS:REQ.S1\n" in said
    assert "Stuck" not in said
    for code, words in (
        (30, ("decide", "REQ.S1", "stop", "--actor", "planner")),
        (10, ("move", "--id", "REQ.S1", "--to", "developer-todo")),
    ):
        assert "`santiago accept REQ S1 --why WHY`" in waiting.refused(code, "queue", *words)
    before = len(waiting.events("REQ.S1"))
    assert waiting.loop().returncode == 10
    assert len(waiting.events("REQ.S1")) == before


def test_a_person_s_word_takes_the_ticket_through_the_review_to_done(waiting: Desk) -> None:
    """Board lines 21, 39, 54: its request is done with it, and what comes later builds on what was built meanwhile."""
    waiting.ok("accept", "REQ", "S1", "--why", "I looked", "--actor", "ann", "--trust-project")
    card = waiting.card("REQ.S1")
    assert (card.queue, card.note, waiting.card("REQ").queue) == ("done", "attested by ann", "done")
    assert waiting.run("REQ").state.stories["S1"].proof is Proof.ATTESTED
    moves = [one for one in waiting.events("REQ.S1") if "phase" in one.changes][-3:]
    assert [one.changes["phase"] for one in moves] == ["verified", "verified", "done"]
    assert [one.event for one in moves] == [BoardEvent.TICKET_MOVED, BoardEvent.TICKET_VERIFIED, BoardEvent.TICKET_DONE]
    assert card.evidence_links.endswith("2/verification-results-attested.tsv")
    assert "On a person's word alone: 1 of 6 that are finished." in waiting.ok("queue", "next-prompt", "--user-facing")
    waiting.commit(
        next_md=_document(("R5", "five", "")), playbook_yaml="stories:\n" + _work("R5", "five", _test("five"))
    )
    waiting.ok("queue", "add", "--queue", "planner-inbox", "--id", "LAST", "--title", "Last", "--source", "doc:next.md")
    waiting.looped()
    assert waiting.run("LAST").state.base == greeter.git(waiting.repo, "rev-parse", "santiago/NEXT")


def test_a_person_takes_it_by_key_too(waiting: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board in the TUI: a asks why, since no test says it."""
    monkeypatch.setattr(by_hand, "sys", SimpleNamespace(executable=program()))
    for name, value in waiting.env.items():
        monkeypatch.setenv(name, value)

    async def takes(person: Person) -> None:
        await person.press("a", "enter")
        assert "nothing is typed yet" in person.text()
        await person.press(*"seen", "enter")
        await person.until(lambda: person.said() == "REQ.S1 is done, and in the archive")

    with waiting.opened() as opened:
        look(opened, takes, actor="ann")
    assert waiting.card("REQ").queue == "done"


def test_unproven_work_goes_on_where_no_claim_is_left_and_an_answer_grants_one(tmp_path: Path) -> None:
    """Board lines 4, 21, 48: no claim is without an attempt, nothing counts as exhausted, and the test that comes then proves it."""
    playbook = "stories:\n" + _work("R1", "one", _test("one"))
    desk = _desk(tmp_path, playbook, _document(("R1", "one", "")), "--retry-budget", "1")
    ran = desk.loop("--json")
    assert (ran.returncode, json.loads(ran.stdout)["ids"]) == (10, ["REQ.S1"]), ran.stdout + ran.stderr
    assert "`santiago accept REQ S1 --why WHY` takes it" in ran.stderr
    card = desk.card("REQ.S1")
    assert (card.is_unproven, card.attempt_count, desk.run("REQ").state.stories["S1"].attempts) == (True, 1, 1)
    desk.ok("answer", "REQ", "S1-unproven-1", "retry")
    desk.looped()
    card, story = desk.card("REQ.S1"), desk.run("REQ").state.stories["S1"]
    assert (card.queue, card.attempt_count, card.retry_budget, story.attempts) == ("done", 2, 2, 2)
    assert (story.proof, desk.card("REQ").queue) == (Proof.OWN_TESTS, "done")


def test_a_kill_before_kept_work_went_on_costs_no_claim() -> None:
    """Board lines 4 and 50: the ticket stays claimed until the run says that the work goes on; otherwise its next claim asks for the test."""
    journal = Journal(plan_of(S1=""))
    journal.move("S1", StoryPhase.RUNNING)
    ended, why = EventKind.ATTEMPT_ENDED, Reason.UNPROVEN
    journal.add(ended, "S1", StoryPhase.READY, status="failed", reason=why, lacks="test", commit="c1")
    for budget, goes in ((3, "developer-todo"), (1, None)):
        ticket = cards.card(
            "T", status="in_progress", phase="running", attempt_count=1, retry_budget=budget, run="R", story="S1"
        )
        wish = settling.after_attempt(ticket, journal.state, why)
        assert (wish and (wish.to, wish.note)) == (goes and (goes, "unproven"))


def test_a_person_s_own_work_is_shown_by_a_test_or_attested_by_hand_too(tmp_path: Path) -> None:
    """Board lines 17, 52: no agent is asked for the test; a planner who accepts it attests nothing."""
    desk = _desk(tmp_path, "stories: {}\n", _document(("R1", "one", "")))
    desk.add("FIX", "developer-todo", "--verify", "python3 -m unittest -q")
    desk.claim("ada", "developer-todo", "--id", "FIX")
    desk.commit(one_py="x = 1\n")
    assert desk.ok("queue", "verify", "FIX", "--trust-commands") == "PASS:FIX:planner-review\n"
    said = desk.refused(10, "queue", "move", "--id", "FIX", "--to", "done", "--actor", "planner")
    assert "no test shows it: only a person's word makes it done" in said
    assert desk.card("FIX").is_unproven
    assert desk.ok("queue", "verify", "FIX", "--attest", "I tried it", "--actor", "bob") == "PASS:FIX:planner-review\n"
    desk.ok("queue", "move", "--id", "FIX", "--to", "done", "--actor", "planner")
    assert desk.card("FIX").note == "attested by bob: I tried it"


def test_a_story_that_is_there_already_holds_up_no_plan(tmp_path: Path) -> None:
    """Board line 44: a ticked box with a check of its own is believed, one without is asked about once, and the rest goes on."""
    ticked = "### {id}: Say {id}\n**Files:** `{id}.py`\n\n- [x] it is there\n\n**Verification:** `{check}`\n\n"
    prd = _document(("R1", "one", "")) + ticked.format(id="R2", check="grep x base.py")
    prd += ticked.format(id="R3", check="python3 -m unittest -q")
    playbook = "stories:\n" + _work("R1", "one", _test("one")) + "  R3:\n    - {}\n    - {}\n"
    desk = _desk(tmp_path, playbook, prd)
    assert desk.loop().returncode == 10
    assert [desk.card(f"REQ.{one}").queue for one in ("S1", "S2", "S3")] == ["done", "done", "planner-review"]
    assert desk.run("REQ").state.stories["S2"].proof is Proof.CLAIMED
    assert desk.card("REQ.S3").attempt_count == 2
    desk.ok("answer", "REQ", "S3-there-2", "accept")
    desk.looped()
    assert desk.run("REQ").state.stories["S3"].proof is Proof.ATTESTED
