"""One person with plain commands: no agent is there, checks fail, a ticket lacks something; each says how to go on."""

import shutil
from pathlib import Path

from tests.board.desk import Desk
from tests.cli import greeter

CHECK = ("--verify", "grep hello hello.txt")


def alone(folder: Path) -> Desk:
    """A repository whose settings name no agent, on a machine that has none."""
    desk = Desk(folder)
    desk.commit(santiago_toml='[policy]\nsandbox = "off"\n')
    (folder / "bin").mkdir()
    for name in ("git", "grep", "sh"):
        (folder / "bin" / name).symlink_to(shutil.which(name) or name)
    desk.env["PATH"] = str(folder / "bin")
    return desk


def test_a_document_without_an_agent_says_what_its_work_needs(tmp_path: Path) -> None:
    """Board lines 17 and 47: an agent is named in the settings, since no command of the board takes one."""
    desk = alone(tmp_path)
    desk.requested()
    ran = desk.loop()
    assert ran.returncode == 10
    assert "REQ: its work needs an agent: no agent is named, and none is installed" in ran.stderr
    assert "developer under [board]" in ran.stderr
    assert "--agent" not in ran.stderr, "the loop has no such option"
    assert "`santiago queue add --queue developer-todo` makes a ticket for them" in ran.stderr
    back = "queue move --id REQ --from blocked --to planner-inbox"
    assert f"santiago {back}" in ran.stderr
    (desk.repo / "santiago.toml").write_text("[board]\ndeveloper = 'sh -c true'\n")
    desk.ok(*back.split())
    assert "AUTOLOOP_ROUTED:REQ:REQ" in desk.loop().stdout


def test_a_person_needs_no_agent_and_is_told_why_work_did_not_pass_and_how_to_go_on(tmp_path: Path) -> None:
    """Board line 17: which check failed, where all of it stands, what to type next; then it is judged and integrated."""
    desk = alone(tmp_path)
    desk.add("FIX", "developer-todo", *CHECK)
    desk.claim("ada")
    desk.commit(hello_txt="helo\n")
    said = desk.refused(30, "queue", "verify", "FIX", "--trust-commands")
    assert "FAIL:FIX:developer-todo" in said
    assert "FIX did not pass: story_verification_failed" in said
    assert "look: .santiago/.runtime/evidence/FIX/1/verification-results.tsv" in said
    again = "queue claim --queue developer-todo --worker ada --id FIX"
    assert f"santiago {again}" in said
    desk.ok(*again.split())
    desk.commit(hello_txt="hello\n")
    assert desk.ok("queue", "verify", "FIX", "--trust-commands") == "PASS:FIX:planner-review\n"
    desk.ok("queue", "move", "--id", "FIX", "--to", "done", "--actor", "planner")
    assert desk.card("FIX").queue == "done"


def test_work_that_is_not_new_is_refused_and_uses_no_attempt(tmp_path: Path) -> None:
    """Board line 17: nothing committed, nothing changed, or the same as before; also when the ticket has failed before."""
    desk = alone(tmp_path)
    desk.add("FIX", "developer-todo", *CHECK)
    desk.claim("ada")
    (desk.repo / "hello.txt").write_text("hello\n")
    said = desk.refused(30, "queue", "verify", "FIX", "--trust-commands")
    assert "your changes are not committed, such as hello.txt" in said
    assert (desk.card("FIX").attempt_count, desk.card("FIX").holder) == (1, "ada")
    (desk.repo / "hello.txt").unlink()
    assert "has no work on FIX" in desk.refused(30, "queue", "verify", "FIX")
    desk.commit(hello_txt="helo\n")
    desk.refused(30, "queue", "verify", "FIX", "--trust-commands")
    desk.claim("ada")
    said = desk.refused(30, "queue", "verify", "FIX")
    assert "the same work that did not pass as attempt 1" in said
    assert "did not pass:" not in said, "the note of an earlier attempt is no reason"
    greeter.git(desk.repo, "commit", "-q", "--allow-empty", "-m", "Nothing")
    assert "the same work" in desk.refused(30, "queue", "verify", "FIX")
    (desk.repo / "hello.txt").write_text("hello\n")
    assert "your changes are not committed" in desk.refused(30, "queue", "verify", "FIX")
    assert (desk.card("FIX").attempt_count, desk.card("FIX").holder) == (2, "ada")
    desk.commit(hello_txt="hello\n")
    assert desk.ok("queue", "verify", "FIX") == "PASS:FIX:planner-review\n"


def test_a_ticket_without_a_check_stays_with_its_person_and_nobody_else_has_it_judged(tmp_path: Path) -> None:
    """Board lines 17 and 29: what is missing is named with its command; who says that they are another is refused."""
    desk = alone(tmp_path)
    desk.add("FIX")
    desk.claim("ada")
    desk.commit(hello_txt="hello\n")
    said = desk.refused(30, "queue", "verify", "FIX")
    assert "FIX has no check" in said
    assert "santiago queue verify FIX --check CMD" in said
    verify = ("queue", "verify", "FIX", "--check", "grep hello hello.txt", "--trust-commands", "--actor")
    assert "ada holds it now" in desk.refused(30, *verify, "ben")
    assert desk.card("FIX").holder == "ada"
    desk.ok(*verify, "ada")


def test_a_check_that_checks_nothing_is_said(tmp_path: Path) -> None:
    """Board lines 8 and 47: the run ends before the attempt; the ticket says why, instead of standing there held."""
    desk = Desk(tmp_path)
    desk.add("FIX", "developer-todo", "--verify", "echo hello")
    ran = desk.loop()
    assert ran.returncode == 10
    card = desk.card("FIX")
    assert (card.queue, card.held) == ("blocked", False)
    assert card.note.startswith("nothing_verified: nothing checks S1")
    assert "santiago queue move --id FIX --from blocked --to developer-todo" in card.next_action
    assert "FIX: nothing_verified" in ran.stderr
    assert f"  next: {card.next_action}" in ran.stderr


def test_what_is_blocked_is_claimed_after_it_was_put_back(tmp_path: Path) -> None:
    """Board line 21: who tries it before hears how."""
    desk = Desk(tmp_path)
    desk.add("FIX", "developer-todo", *CHECK)
    desk.ok("queue", "move", "--id", "FIX", "--to", "blocked", "--note", "the disk is gone")
    back = "queue move --id FIX --from blocked --to developer-todo"
    assert f"santiago {back}" in desk.refused(30, "queue", "verify", "FIX")
    claim = ("queue", "claim", "--queue", "developer-todo", "--worker", "ada", "--id", "FIX")
    assert f"santiago {back}" in desk.refused(10, *claim)
    desk.ok(*back.split())
    desk.ok(*claim)
