"""Single entry: with a board nothing starts unrouted; without one nobody meets it."""

from pathlib import Path

from santiago.contract.board import BoardEvent
from tests.board.desk import Desk
from tests.cli import greeter

RUN = ("run", "prd.md", "--trust-commands", "--trust-project")


def test_an_unrouted_run_is_blocked_and_can_be_handed_to_the_planner(tmp_path: Path) -> None:
    """Board lines 5, 11, 34: looking at the board binds nobody; the first ticket does."""
    desk = Desk(tmp_path)
    desk.ok("queue", "stats")
    desk.ok(*RUN)
    desk.add("FIRST", "planner-inbox")
    said = desk.refused(10, *RUN)
    assert "No planner has routed this" in said
    assert "--enqueue" in said
    assert desk.ok("run", "prd.md", "--enqueue") == "ADDED:REQ-1:planner-inbox\n"
    assert desk.card("REQ-1").source == "doc:prd.md"
    told = desk.ok("explain", "needs_routing")
    assert "No planner has routed this" in told
    assert "queue add --queue planner-inbox --id ID --title TITLE --source doc:DOC" in " ".join(told.split())


def test_a_run_that_began_before_the_board_goes_on(tmp_path: Path) -> None:
    """Board line 34."""
    desk = Desk(tmp_path, "stories: {R1: [{}]}\n", "[limits]\nstory_max_attempts = 1\n")
    desk.refused(30, *RUN)
    desk.add("FIRST", "planner-inbox")
    said = desk.refused(30, "resume", "--add-attempts", "1", "--trust-project")
    assert "routed" not in said


def test_the_single_entry_can_be_left_by_a_setting(tmp_path: Path) -> None:
    """Board line 34."""
    desk = Desk(tmp_path, settings="[board]\nsingle_entry = false\n")
    desk.add("FIRST", "planner-inbox")
    desk.ok(*RUN)


def test_only_the_word_itself_goes_past_the_entry_and_is_recorded(tmp_path: Path) -> None:
    """Board line 35."""
    desk = Desk(tmp_path)
    desk.add("FIRST", "planner-inbox")
    for word in ("true", "0", "yes"):
        desk.refused(10, *RUN, SIGEE_ALLOW_DIRECT_ENTRY=word)
    desk.ok(*RUN, SIGEE_ALLOW_DIRECT_ENTRY="1")
    with desk.opened() as opened, opened.store.reading() as at:
        (passed,) = at.events(event=BoardEvent.ENTRY_BYPASSED)
    assert passed.actor == "user"
    assert "bypasses=1" in desk.ok("queue", "loop-status")


def test_other_programs_ask_the_guard(tmp_path: Path) -> None:
    """Board line 34: the words and codes that they know."""
    desk = Desk(tmp_path)
    desk.ok("queue", "init")
    guard = ("queue", "guard", "--worker", "tech-developer")
    assert "ENTRY_GUARD_BLOCKED" in desk.refused(2, *guard)
    desk.add("WORK", "developer-todo", "--source", "plan:greet")
    assert desk.ok(*guard) == "ENTRY_GUARD_PASS\n"
    assert desk.ok(*guard, "--plan", "greet") == "ENTRY_GUARD_PASS\n"
    assert "ENTRY_GUARD_BLOCKED" in desk.refused(2, *guard, "--plan", "other")
    assert "ENTRY_GUARD_BLOCKED" in desk.refused(2, "queue", "guard", "--worker", "scientist")
    assert "ENTRY_GUARD_BYPASS" in desk.ok("queue", "guard", "--worker", "scientist", SIGEE_ALLOW_DIRECT_ENTRY="1")


def test_a_routed_run_begins_only_what_was_claimed(tmp_path: Path) -> None:
    """Board lines 4 and 34: a person who claimed a ticket may have the agent do it, and nothing else."""
    desk = Desk(tmp_path, greeter.GOOD, prd=greeter.PRD).routed()
    desk.ok("queue", "claim", "--queue", "developer-todo", "--worker", "ada", "--id", "REQ.S2")
    desk.type("resume", "REQ", "--trust-project")
    stories = desk.run("REQ").state.stories
    assert (stories["S1"].attempts, stories["S2"].attempts) == (0, 1)


def test_a_plain_repository_never_meets_the_board(tmp_path: Path) -> None:
    """Board line 36: a run makes nothing of it and asks nothing about it."""
    desk = Desk(tmp_path)
    said = desk.type(*RUN)
    assert said.returncode == 0
    assert not (desk.repo / ".santiago" / ".runtime").exists()
    assert not (desk.repo / ".git" / "santiago" / "board.json").exists()
    assert "board" not in said.stdout + said.stderr


def test_the_single_entry_holds_in_every_worktree_and_under_every_root(tmp_path: Path) -> None:
    """Board lines 10 and 34: the repository knows of its board, wherever that lies and whatever the environment says later."""
    desk = Desk(tmp_path)
    desk.ok("queue", "add", "--queue", "planner-inbox", "--id", "A", "--title", "x", SIGEE_RUNTIME_ROOT="state/board")
    desk.refused(10, *RUN)
    greeter.git(desk.repo, "worktree", "add", "-q", str(tmp_path / "other"))
    desk.repo = tmp_path / "other"
    assert "No planner has routed this" in desk.refused(10, *RUN)
