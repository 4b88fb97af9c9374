"""The loop carries requests from the inbox to the archive, and every way in which it stops has a name."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.app.board import planner_review
from santiago.app.board.queue_loop import Loop
from santiago.app.board.ticket_context import TicketContext
from santiago.app.board.working import leave_out
from santiago.board.done_gate import Missing
from santiago.contract.board import BoardEvent, Card
from santiago.contract.events import EventKind
from santiago.contract.phases import StoryPhase
from santiago.contract.reasons import Reason
from tests.board.desk import CONSENTS, HELLO, ONE, Desk
from tests.cli import greeter
from tests.util.restored import restored

pytestmark = pytest.mark.xdist_group("board-loop")  # its worlds are made once
MORE = """\
# More
### R4: Say more
- [ ] more.txt says more

**Verification:** `grep more more.txt`
"""
WAITS = (
    ONE
    + """
### R2: Say goodbye
Depends on: R1

**Files:** `bye.txt`

**Verification:** `grep goodbye bye.txt`
"""
)
GOODBYE = '  R2:\n    - write: {bye.txt: "goodbye\\n"}\n'
AT_LAST = 'stories:\n  R1: [{}, {}, {write: {hello.txt: "hello\\n"}}]\n'
PLAN = """\
# PlanSpec v2
id: greetings
owner: ann
risk: low
mode: strict
## Delivery Waves
- [ ] Say hello
  - Targets: hello.txt
  - Expected behavior: hello.txt says hello
  - Execute: echo hello > hello.txt
  - Verification: grep hello hello.txt
"""
NEW_BOX = """\
- [ ] Say goodbye
  - Targets: bye.txt
  - Expected behavior: bye.txt says goodbye
  - Verification: grep goodbye bye.txt
"""
PLAYED = """\
stories:
  S1:
    - write: {hello.txt: "hello\\n"}
"""
TWO = """\
# Two
### R1: Say hello
- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`
### R2: Say goodbye
- [ ] bye.txt says goodbye

**Verification:** `grep goodbye bye.txt`
"""
"""Neither story names its files, so R2 must not overtake R1; but it does not depend on it."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A request that went from the inbox to the archive; its first story was repaired."""
    desk = Desk(tmp_path_factory.mktemp("finished"), greeter.GOOD, prd=greeter.PRD).requested()
    ran = desk.loop()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (desk.repo.parent / "said.txt").write_text(ran.stdout)
    (desk.repo.parent / "told.txt").write_text(ran.stderr)
    return desk


def test_a_request_goes_from_the_inbox_to_the_archive_where_the_planner_validates_before(finished: Desk) -> None:
    """Board lines 3, 22, 37, 39, 43, 45, 55, 63: each step is said, the run keeps its own log and knows who accepted; it ends by itself."""
    said = (finished.repo.parent / "said.txt").read_text().splitlines()
    assert said[:2] == ["AUTOLOOP_CYCLE:1", "AUTOLOOP_ROUTED:REQ:REQ"]
    assert "AUTOLOOP_EXECUTE_FAIL:REQ.S1:REQ" in said
    assert "AUTOLOOP_EXECUTE_PASS:REQ.S1:REQ" in said
    assert said.index("AUTOLOOP_REVIEW_PASS:REQ.S3") < said.index("AUTOLOOP_REVIEW_PASS:REQ")
    assert "AUTOLOOP_TERMINAL_STATUS:STOP_DONE" in said
    assert finished.json("queue", "stats")["archived"] == 4
    kinds = [one.event for one in finished.events("REQ.S2")][-2:]
    assert kinds == [BoardEvent.TICKET_VERIFIED, BoardEvent.TICKET_DONE]
    assert (finished.card("REQ.S2").archived_by, finished.card("REQ.S2").queue) == ("planner", "done")
    answered = [one for one in finished.run("REQ").state.questions.values() if one.kind == "result"]
    assert {(one.answer, one.actor) for one in answered} == {("validate", "planner")}
    first = (finished.run("REQ").out_dir / "progress.ndjson").read_text().splitlines()[0]
    assert json.loads(first)["event"] == EventKind.RUN_CREATED
    assert (finished.card("REQ.S1").run, finished.card("REQ.S1").story) == ("REQ", "S1")


def test_the_end_says_on_which_branch_the_work_is_and_what_no_test_proves(finished: Desk, tmp_path: Path) -> None:
    told = (finished.repo.parent / "told.txt").read_text()
    assert "the accepted work is on the branch santiago/REQ\n  next: git merge santiago/REQ\n" in told
    assert "not proven" not in told
    desk = Desk(tmp_path, 'stories:\n  R1:\n    - write: {other.txt: "x\\n"}\n', prd=TWO.partition("### R2")[0])
    desk.commit(hello_txt="hello\n")
    desk.requested()
    ran = desk.loop("--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "not proven: REQ.S1  (no test fails without their work)" in ran.stderr
    said = json.loads(ran.stdout)
    assert (said["not_proven"], said["branches"]) == (["REQ.S1"], ["santiago/REQ"])


def test_one_claim_is_one_attempt_with_its_evidence_and_the_second_knows_the_firsts_mistake(finished: Desk) -> None:
    """Board lines 4, 7 and 42: count and budget are the story's; the critique is carried over, in short in the note, in full in the prompt."""
    run = finished.run("REQ")
    begun = [one for one in finished.events("REQ.S1") if one.event is BoardEvent.TICKET_CLAIMED]
    running = [
        line
        for line in (run.out_dir / "progress.ndjson").read_text().splitlines()
        if json.loads(line)["phase"] == StoryPhase.RUNNING and json.loads(line)["story_id"] == "S1"
    ]
    assert finished.card("REQ.S1").attempt_count == len(begun) == len(running) == 2
    assert run.run_input.limits.story_max_attempts == finished.card("REQ.S1").retry_budget == 3
    prompt = finished.run("REQ").out_dir / "attempts" / "S1" / "2" / "prompt.md"
    assert "grep hello hello.txt" in prompt.read_text()
    given_back = [one for one in finished.events("REQ.S1") if one.changes.get("error_class") == "soft_fail"]
    assert "story_verification_failed" in str(given_back[0].changes["note"])
    assert len(str(given_back[0].changes["note"])) <= 300
    assert (finished.card("REQ.S1").queue, finished.card("REQ.S1").note) == ("done", "passed on attempt 2")
    tables = [finished.root / "evidence" / "REQ.S1" / str(number) / "verification-results.tsv" for number in (1, 2)]
    words = [[line.split("\t")[3] for line in table.read_text().splitlines()[1:]] for table in tables]
    assert words == [["FAIL"], ["PASS"]]


def test_a_later_request_begins_on_the_finished_one_that_is_not_merged(finished: Desk) -> None:
    """Board line 39: requests contain each other's work."""
    head = greeter.git(finished.repo, "rev-parse", "santiago/REQ")
    (finished.repo / "more.md").write_text(MORE)
    (finished.repo / "playbook.yaml").write_text(greeter.GOOD + '  R4:\n    - write: {more.txt: "more\\n"}\n')
    finished.ok(
        "queue", "add", "--queue", "planner-inbox", "--id", "NEXT", "--title", "More", "--source", "doc:more.md"
    )
    finished.looped()
    assert finished.run("NEXT").state.base == head
    assert greeter.git(finished.repo, "show", "santiago/NEXT:both.txt") == "both"


def test_what_waits_for_a_person_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    """Board lines 37, 39, 41, 46, 47: a sentence without a planner, science without an agent, work that somebody does by hand."""
    desk = Desk(tmp_path)
    desk.ok("queue", "add", "--queue", "planner-inbox", "--id", "IDEA", "--title", "Make it nicer")
    desk.add("STUDY", "scientist-todo")
    desk.add("BY-HAND")
    desk.claim("ada")
    desk.requested()
    ran = desk.loop()
    assert ran.returncode == 10
    assert "AUTOLOOP_TERMINAL_STATUS:STOP_USER_CONFIRMATION" in ran.stdout
    (named,) = [line for line in ran.stdout.splitlines() if line.startswith("LOOP_USER_CONFIRMATION_IDS:")]
    assert sorted(named.partition(":")[2].split(",")) == ["IDEA", "STUDY"]
    assert desk.card("REQ").queue == "done"
    assert "needs_user_confirmation" in desk.card("IDEA").note
    assert "no agent is set for scientists" in desk.card("STUDY").note
    assert desk.card("BY-HAND").holder == "ada"


def test_a_document_without_a_check_says_where_to_write_one(tmp_path: Path) -> None:
    """Board line 39: the advice names nothing that the board's commands do not have."""
    desk = Desk(tmp_path, prd="# One\n\n### R1: Say hello\n\n- [ ] hello.txt says hello\n").requested()
    ran = desk.loop()
    assert ran.returncode == 10
    assert "Name a command that tests the work: `Verification:` in the document" in ran.stderr
    assert "--verify" not in ran.stderr


@pytest.fixture(scope="module")
def spent_once(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A story that used its two attempts, after which the loop stopped, and one that waits for it."""
    folder = tmp_path_factory.mktemp("exhausted")
    playbook = 'stories:\n  R1:\n    - write: {hello.txt: "helo\\n"}\n' + GOODBYE
    desk = Desk(folder, playbook, "[board]\nexhausted_limit = 1\n", prd=WAITS).requested("--retry-budget", "2")
    ran = desk.loop()
    assert (ran.returncode, "AUTOLOOP_TERMINAL_STATUS:STOP_EXHAUSTED" in ran.stdout) == (10, True), ran
    return desk


@pytest.fixture
def exhausted(spent_once: Desk) -> Desk:
    return restored(spent_once, spent_once.repo.parent)


def test_used_up_attempts_stop_the_loop_when_they_pile_up(exhausted: Desk) -> None:
    """Board lines 27, 47, 48, 28: the planner replans with a larger budget, and the story goes on where it was."""
    card = exhausted.card("REQ.S1")
    assert (card.queue, card.attempt_count, card.spent) == ("blocked", 2, True)
    exhausted.refused(10, "queue", "decide", "REQ.S1", "replan", "--budget", "3", "--actor", "ada")
    exhausted.ok("queue", "decide", "REQ.S1", "replan", "--budget", "3", "--actor", "planner")
    (exhausted.repo / "playbook.yaml").write_text(AT_LAST + GOODBYE)
    exhausted.looped()
    assert exhausted.card("REQ.S1").attempt_count == 3


def test_what_waits_for_a_bypassed_ticket_goes_on_without_it(exhausted: Desk) -> None:
    """Board line 28: bypass frees the dependents, and is recorded; the run leaves the story out."""
    exhausted.ok("queue", "decide", "REQ.S1", "bypass", "--actor", "planner", "--why", "not needed")
    exhausted.looped()
    assert exhausted.card("REQ.S2").queue == "done"
    assert exhausted.run("REQ").state.stories["S1"].skipped


def test_a_stopped_ticket_closes_what_waits_for_it(exhausted: Desk) -> None:
    """Board line 28: stop is final, and nothing that depends on it is counted as work any longer."""
    exhausted.ok("queue", "decide", "REQ.S1", "stop", "--actor", "planner")
    exhausted.looped()
    assert [exhausted.card(name).decided for name in ("REQ.S1", "REQ.S2", "REQ")] == ["stop"] * 3


def test_a_ticket_that_is_no_longer_wanted_is_dropped_with_attempts_left(tmp_path: Path) -> None:
    """Board line 28: by a planner, wherever it stands; it ends with what waits for it, and the rest goes on."""
    desk = Desk(tmp_path, greeter.GOOD, prd=greeter.PRD).routed()
    drop = ("queue", "decide", "REQ.S1", "drop", "--why", "nobody greets", "--actor")
    assert "decide REQ.S1 drop` closes it" in desk.refused(30, *drop[:3], "stop", "--actor", "planner")
    desk.refused(10, *drop, "ada")
    desk.ok(*drop, "planner")
    desk.refused(30, *drop, "planner")
    assert desk.card("REQ.S1").note == "nobody greets"
    desk.looped()
    assert desk.card("REQ.S2").queue == "done"
    assert [desk.card(name).decided for name in ("REQ.S1", "REQ.S3", "REQ")] == ["stop"] * 3


def test_a_request_is_dropped_with_all_its_tickets(tmp_path: Path) -> None:
    """Board lines 28 and 29: also with one that somebody works on, who learns it by their next move."""
    desk = Desk(tmp_path).routed()
    claimed = desk.claim("ada")
    desk.ok("queue", "decide", "REQ", "drop", "--actor", "planner")
    move = ("queue", "move", "--id", "REQ.S1", "--to", "developer-todo", "--phase", "ready")
    assert "no longer yours" in desk.refused(30, *move, "--lease", claimed["lease"])
    assert "AUTOLOOP_EXECUTE" not in desk.looped()
    assert all(story.skipped for story in desk.run("REQ").state.stories.values())


def test_work_that_is_on_the_branch_is_not_left_out(finished: Desk) -> None:
    """Board line 28: a ticket may be dropped while its accepted work waits to be archived."""
    with finished.opened() as opened:
        leave_out(TicketContext(opened=opened, consents=CONSENTS), [replace(finished.card("REQ.S1"), decided="stop")])
    assert not finished.run("REQ").state.stories["S1"].skipped


def test_the_loop_stops_at_its_limit_of_cycles_and_blocks_a_document_without_stories(tmp_path: Path) -> None:
    """Board lines 37, 39 and 47: no decision of a user helps, the document has to be mended."""
    desk = Desk(tmp_path)
    desk.refused(2, "loop", "--max-cycles", "0")
    desk.refused(2, "loop", "--no-progress-limit", "0")
    (desk.repo / "empty.md").write_text("# Nothing\n")
    desk.ok("queue", "add", "--queue", "planner-inbox", "--id", "BAD", "--title", "Bad", "--source", "doc:empty.md")
    ran = desk.loop("--max-cycles", "1", "--json")
    assert ran.returncode == 10
    assert json.loads(ran.stdout)["reason"] == "max_cycles"
    ran = desk.loop()
    assert ran.returncode == 10
    assert "STOP_NO_PROGRESS" in ran.stdout
    assert desk.card("BAD").error_class == "hard_fail"
    assert "empty.md gives no plan" in desk.card("BAD").note


@pytest.mark.xdist_group("board-science")
def test_a_scientist_goes_first_and_only_a_person_takes_a_package(studied: Desk) -> None:
    """Board lines 40, 41, 76: the developer's story waits; a package without a check needs a person's word."""
    assert (studied.card("REQ.S1").role, studied.card("REQ.S1").queue) == ("scientist", "planner-review")
    assert studied.card("REQ.S2").error_class == "dependency_blocked"
    said = studied.refused(30, "queue", "move", "--id", "REQ.S1", "--to", "done", "--actor", "planner")
    assert "nothing shows that its checks passed" in said
    studied.ok("queue", "verify", "REQ.S1", "--attest", "I read it", "--actor", "ann")
    studied.looped()
    assert studied.card("REQ.S2").queue == "done"


def test_plans_with_open_boxes_become_requests_once_and_are_ticked(tmp_path: Path) -> None:
    """Board lines 8, 15, 44: seeded before every verdict, ticked when done, seeded again only for new boxes."""
    desk = Desk(tmp_path, PLAYED)
    desk.ok("queue", "stats")
    plan = desk.root / "plans" / "greet.md"
    plan.write_text(PLAN)
    assert "planner-inbox=1" in desk.ok("queue", "loop-status")
    desk.looped()
    assert "- [x] Say hello" in plan.read_text()
    assert desk.card("PLAN-greetings").source == "plan:greetings"
    assert "LOOP_STATUS:STOP_DONE" in desk.ok("queue", "loop-status")
    plan.write_text(plan.read_text() + NEW_BOX)
    assert "planner-inbox=1" in desk.ok("queue", "loop-status")
    assert desk.card("PLAN-greetings-2").queue == "planner-inbox"


def test_two_plans_of_one_name_are_both_said_and_neither_is_seeded(tmp_path: Path) -> None:
    """Board line 44."""
    desk = Desk(tmp_path)
    desk.ok("queue", "stats")
    for name in ("one", "two"):
        (desk.root / "plans" / f"{name}.md").write_text(PLAN)
    said = desk.loop()
    assert "one.md and" in said.stdout
    assert said.returncode == 10
    assert desk.json("queue", "stats")["queues"]["planner-inbox"] == 0


def test_a_run_that_failed_its_own_verification_blocks_its_request(tmp_path: Path) -> None:
    """Board line 39: run verification is the gate of a request; mended by a person, it is repeated."""
    desk = Desk(tmp_path, settings='[verification]\nrun_commands = ["test ! -e hello.txt"]\n').requested()
    ran = desk.loop()
    assert ran.returncode == 10
    assert "run_verification_failed" in desk.card("REQ").note
    assert desk.card("REQ.S1").queue == "done"


def test_a_killed_claim_is_adopted_by_the_next_loop(tmp_path: Path) -> None:
    """Board line 50: the claim stands, no second one is made, and no attempt is counted twice."""
    desk = Desk(tmp_path).routed()
    with desk.opened() as opened:
        opened.board.claim("developer-todo", "developer@loop", "planner", name="REQ.S1")
    desk.looped()
    assert desk.card("REQ.S1").attempt_count == 1
    assert desk.run("REQ").state.stories["S1"].attempts == 1


def test_an_answer_puts_a_waiting_ticket_back(tmp_path: Path) -> None:
    """Board lines 42, 46: a question of the agent waits for a person; answered, the ticket is worked on again."""
    desk = Desk(tmp_path, HELLO.replace("    - write", "    - ask: Which language?\n    - write")).requested()
    ran = desk.loop()
    assert ran.returncode == 10, ran.stdout + ran.stderr
    assert "Which language?" in desk.card("REQ.S1").note
    (question,) = [one for one in desk.run("REQ").state.open_questions() if one.story == "S1" and one.kind == "agent"]
    desk.ok("answer", "REQ", question.id, "adjust", "--text", "English")
    desk.looped()


def test_a_ticket_put_into_a_workers_queue_is_one_story_whatever_its_source(tmp_path: Path) -> None:
    """Board line 37: its title and its check are all that there is of it."""
    desk = Desk(
        tmp_path, "stories:\n  S1:\n    - write: {hello.txt: hello}\n  US-1:\n    - write: {hello.txt: hello}\n"
    )
    desk.add("SMALL", "developer-todo", "--source", "plan:elsewhere", "--verify", "grep hello hello.txt")
    desk.looped()
    assert (desk.card("SMALL").queue, desk.card("SMALL").story) == ("done", "S1")


def test_a_request_that_lacks_something_is_blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board lines 39 and 43: its stories are done, so there is no work to send back."""
    desk = Desk(tmp_path).requested()
    for name, value in desk.env.items():
        monkeypatch.setenv(name, value)
    real = planner_review.all_missing

    def lacking(context: TicketContext, card: Card, actor: str) -> list[Missing]:
        return real(context, card, actor) if card.story else [Missing(what="the truth moved on", remedy="Look at it.")]

    monkeypatch.setattr(planner_review, "all_missing", lacking)
    with desk.opened() as opened:
        ended = Loop(TicketContext(opened=opened, consents=CONSENTS)).run()
    assert ended.reason is Reason.NO_PROGRESS
    card = desk.card("REQ")
    assert (card.queue, card.error_class, desk.card("REQ.S1").queue) == ("blocked", "hard_fail", "done")
    assert "the truth moved on" in card.note


def _two(tmp_path: Path) -> Desk:
    return Desk(tmp_path, greeter.BAD, prd=TWO)


def test_a_story_without_attempts_left_does_not_hold_up_one_that_does_not_depend_on_it(tmp_path: Path) -> None:
    """Board line 2: only declared dependencies outlast the work on a ticket; a replanned ticket is worked on later."""
    desk = _two(tmp_path).requested()
    ran = desk.loop()
    assert "AUTOLOOP_EXHAUSTED:REQ.S1" in ran.stdout
    assert "AUTOLOOP_REVIEW_PASS:REQ.S2" in ran.stdout, ran.stdout + ran.stderr
    assert (desk.card("REQ.S1").queue, desk.card("REQ.S2").attempt_count) == ("blocked", 1)
    desk.ok("queue", "decide", "REQ.S1", "replan", "--budget", "4", "--actor", "planner")
    (desk.repo / "playbook.yaml").write_text(AT_LAST.replace("{}, {}", "{}, {}, {}") + GOODBYE)
    desk.looped()
    assert greeter.git(desk.repo, "show", "santiago/REQ:hello.txt") == "hello"


def test_a_story_that_a_person_blocked_or_dropped_holds_up_only_what_depends_on_it(tmp_path: Path) -> None:
    desk = _two(tmp_path).routed()
    said = desk.refused(10, "queue", "claim", "--queue", "developer-todo", "--worker", "ada", "--id", "REQ.S2")
    assert "REQ.S2 waits for REQ.S1" in said
    desk.ok("queue", "move", "--id", "REQ.S1", "--from", "developer-todo", "--to", "blocked", "--note", "later")
    assert "AUTOLOOP_REVIEW_PASS:REQ.S2" in desk.loop().stdout
    desk.ok("queue", "decide", "REQ.S1", "drop", "--actor", "planner")
    assert desk.card("REQ.S2").queue == "done"


def test_dropping_a_story_does_not_close_one_that_does_not_depend_on_it(tmp_path: Path) -> None:
    desk = _two(tmp_path).routed()
    desk.ok("queue", "decide", "REQ.S1", "drop", "--actor", "planner")
    assert desk.card("REQ.S2").decided == ""
    assert "AUTOLOOP_REVIEW_PASS:REQ.S2" in desk.loop().stdout


def test_a_dropped_ticket_is_neither_open_nor_stuck(tmp_path: Path) -> None:
    """Board line 28: it is no longer actionable, so the loop does not name it and the board does not count it."""
    desk = Desk(tmp_path)
    for name in ("GONE", "BAD"):
        desk.ok("queue", "add", "--queue", "planner-inbox", "--id", name, "--title", name, "--source", "doc:empty.md")
    (desk.repo / "empty.md").write_text("# Nothing\n\nJust words.\n")
    desk.ok("queue", "decide", "GONE", "drop", "--actor", "planner")
    assert "AUTOLOOP_IDS:BAD\n" in desk.loop().stdout
    desk.ok("queue", "decide", "BAD", "drop", "--actor", "planner")
    first = desk.ok("board", "--plain").splitlines()[0]
    assert "no open ticket" in first
    assert "2 closed by decision" in first


def test_by_hand_too_a_story_without_attempts_left_does_not_hold_up_the_next(tmp_path: Path) -> None:
    """Board line 17: the same holds with plain commands, without a loop."""
    desk = _two(tmp_path).routed()
    for number in range(3):
        assert desk.claim()["ticket"]["id"] == "REQ.S1"
        desk.commit(hello_txt=f"helo {number}\n")
        desk.refused(30, "queue", "verify", "REQ.S1", "--trust-commands")
    assert desk.claim()["ticket"]["id"] == "REQ.S2"
    desk.commit(bye_txt="goodbye\n")
    assert desk.ok("queue", "verify", "REQ.S2", "--trust-commands") == "PASS:REQ.S2:planner-review\n"
