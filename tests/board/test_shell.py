"""One person, one shell, plain commands: a ticket from its queue to the archive, and what is refused on the way."""

from pathlib import Path

import pytest

from santiago.contract.board import BoardEvent
from tests.board.desk import Desk

CHECK = ("--verify", "grep hello hello.txt")
ADDING = {
    "done": (2, ("--queue", "done"), "a ticket cannot be added to done"),
    "review": (2, ("--queue", "planner-review", "--status", "pending"), "has the status review"),
    "blocked": (2, ("--queue", "blocked", "--status", "pending"), "has the status blocked"),
    "attempts": (2, ("--queue", "developer-todo", "--attempt-count", "4"), "more than the budget of 3"),
    "budget": (2, ("--queue", "developer-todo", "--retry-budget", "0"), "at least one attempt"),
    "control": (2, ("--queue", "developer-todo", "--note", "a\x07b"), "control character"),
    "id": (2, ("--queue", "developer-todo", "--id", "../x"), "not a valid ticket id"),
    "twice": (30, ("--queue", "developer-todo", "--id", "TWICE"), "there is a ticket TWICE already"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("shell"))


def test_a_person_takes_a_ticket_from_its_queue_to_the_archive(tmp_path: Path) -> None:
    """Board lines 17, 22, 23, 26, 31, 42, 52, 63, 64: nothing but queue commands; what does not pass goes back, and counts."""
    desk = Desk(tmp_path)
    desk.add("FIX", "developer-todo", "--next-action", "profile=backend", *CHECK)
    said = desk.ok("queue", "claim", "--queue", "developer-todo", "--worker", "ada")
    assert said.splitlines()[:2] == ["CLAIM_PROFILE_HINT:backend-api", "CLAIM_PROFILE_SOURCE:next_action"]
    assert desk.card("FIX").lease.startswith("held:ada:")
    assert "without evidence" in desk.refused(30, "queue", "move", "--id", "FIX", "--to", "planner-review")
    desk.commit(hello_txt="helo\n")
    assert "FAIL:FIX:developer-todo" in desk.refused(30, "queue", "verify", "FIX", "--trust-commands")
    assert (desk.card("FIX").error_class, desk.card("FIX").attempt_count) == ("soft_fail", 1)
    desk.claim("ada")
    desk.commit(hello_txt="hello\n")
    assert desk.ok("queue", "verify", "FIX", "--from", "HEAD", "--trust-commands") == "PASS:FIX:planner-review\n"
    assert desk.card("FIX").lease.startswith("released:")
    assert "not a planner" in desk.refused(10, "queue", "move", "--id", "FIX", "--to", "done", "--actor", "ada")
    said = desk.ok("queue", "move", "--id", "FIX", "--to", "done", SIGEE_QUEUE_ACTOR="planner")
    assert said.startswith("DONE:FIX:done\n")
    assert said.count("```") == 2
    (row,) = (desk.root / "orchestration" / "archive").glob("done-*.tsv")
    assert row.read_text().splitlines()[1].startswith("FIX\tdone\tada\t")
    assert (desk.root / "orchestration" / "queues" / "done.tsv").read_text().count("\n") == 1


def test_what_cannot_be_a_ticket_is_refused(desk: Desk) -> None:
    """Board lines 1, 16, 18."""
    desk.add("TWICE")
    for code, words, said in ADDING.values():
        assert said in desk.refused(code, "queue", "add", "--id", "NEW", "--title", "x", *words)


def test_fields_stand_in_their_order_and_line_ends_survive_in_the_store(desk: Desk) -> None:
    """Board lines 16 and 19."""
    desk.add("TABBED", "blocked", "--note", "a\tb\nc")
    assert desk.card("TABBED").note == "a\tb\nc"
    header, *rows = desk.ok("queue", "list", "--queue", "blocked").splitlines()
    assert header.split("\t")[:3] == ["id", "status", "worker"]
    assert len(header.split("\t")) == 14
    assert next(row for row in rows if row.startswith("TABBED")).split("\t")[6] == "a b c"
    (found,) = [one for one in desk.json("queue", "list", "--queue", "blocked")["blocked"] if one["id"] == "TABBED"]
    assert list(found)[:14] == header.split("\t")


def test_nothing_goes_to_done_past_the_review_and_a_refused_phase_names_those_that_are_allowed(desk: Desk) -> None:
    """Board lines 20, 21 and 22."""
    desk.add("EAGER")
    said = desk.refused(
        10, "queue", "move", "--id", "EAGER", "--from", "developer-todo", "--to", "done", "--actor", "planner"
    )
    assert "a ticket gets to done only through the planner's review" in said
    desk.add("PHASED", "developer-todo")
    said = desk.refused(30, "queue", "move", "--id", "PHASED", "--to", "developer-todo", "--phase", "running")
    assert "Allowed here: ready" in said
    said = desk.refused(30, "queue", "move", "--id", "PHASED", "--to", "blocked", "--phase", "verified", "--note", "x")
    assert "Allowed here: ready" in said
    assert "why it is blocked" in desk.refused(30, "queue", "move", "--id", "PHASED", "--to", "blocked")


def test_an_earlier_claim_moves_nothing_any_more(tmp_path: Path) -> None:
    """Board lines 29 and 30: the fence is the ticket's id and the number of its claim."""
    desk = Desk(tmp_path)
    desk.add("LATE")
    first = desk.claim("ada", "developer-todo", "--lease-minutes", "1")["lease"]
    with desk.opened() as opened, opened.board.transaction() as at:
        from santiago.board.board_commands import release_expired

        release_expired(at, 10**12)
    second = desk.claim("bob")
    assert second["ticket"]["attempt_count"] == 2
    said = desk.refused(
        30, "queue", "move", "--id", "LATE", "--to", "developer-todo", "--phase", "ready", "--lease", first
    )
    assert "bob holds it now" in said
    desk.refused(30, "queue", "renew", "LATE", "--lease", first)
    desk.ok("queue", "renew", "LATE", "--lease", second["lease"])
    assert desk.card("LATE").lease == second["ticket"]["lease"]


def test_a_spent_ticket_is_escalated_at_the_claim_and_decided_by_a_planner(desk: Desk) -> None:
    """Board lines 27, 28, 66: the last attempt under way is left alone; afterwards the planner decides."""
    desk.ok("queue", "add", "--queue", "scientist-todo", "--id", "SPENT", "--title", "x", "--retry-budget", "1")
    held = desk.claim("ada", "scientist-todo")
    assert desk.ok("queue", "claim", "--queue", "scientist-todo", "--worker", "bob") == "NO_PENDING:scientist-todo\n"
    desk.refused(30, "queue", "decide", "SPENT", "stop", "--actor", "planner")
    desk.ok("queue", "move", "--id", "SPENT", "--to", "scientist-todo", "--phase", "ready", "--lease", held["lease"])
    assert desk.ok("queue", "claim", "--queue", "scientist-todo", "--worker", "bob").endswith(
        "NO_RETRY_BUDGET:scientist-todo\n"
    )
    assert desk.card("SPENT").queue == "blocked"
    assert [one.event for one in desk.events("SPENT")][-1] is BoardEvent.TICKET_EXHAUSTED
    history = (desk.root / "orchestration" / "history" / "retry-events.tsv").read_text()
    assert "retry_budget_exhausted_auto_claim\tSPENT" in history
    assert "only a planner decides" in desk.refused(10, "queue", "decide", "SPENT", "stop", "--actor", "ada")
    desk.ok("queue", "decide", "SPENT", "replan", "--actor", "planner")
    assert desk.card("SPENT").decided == "superseded"
    desk.ok("queue", "add", "--queue", "planner-inbox", "--id", "USED", "--title", "x", "--attempt-count", "3")
    said = desk.ok("queue", "reconcile-exhausted", "--all").splitlines()
    assert said[-1] == "RECONCILED_TOTAL:1"
    assert "RECONCILED_QUEUE:planner-inbox:1" in said


def test_evidence_is_split_by_three_separators_looked_at_at_once_and_can_be_replaced(tmp_path: Path) -> None:
    """Board lines 23 and 24: what leads nowhere is named and nothing changes; what is lost later is replaced by other files."""
    desk = Desk(tmp_path)
    desk.add("LINKED")
    desk.claim()
    to_review = ("queue", "move", "--id", "LINKED", "--to", "planner-review")
    words = ("queue", "add", "--queue", "planner-review", "--id", "NEW", "--title", "x", "--evidence", "a.tsv")
    assert "a.tsv does not exist" in desk.refused(30, *words)
    said = desk.refused(30, *to_review, "--evidence", "a.tsv; ../b.tsv|https://x.org/c")
    assert "a.tsv does not exist; ../b.tsv is outside the project" in said
    assert (desk.card("LINKED").queue, desk.card("LINKED").evidence_links) == ("developer-todo", "none")
    for name in ("a.tsv", "b.tsv"):
        (desk.repo / name).touch()
    desk.ok(*to_review, "--evidence", "a.tsv; b.tsv|https://x.org/c")
    assert desk.card("LINKED").evidence_links == "a.tsv,b.tsv,https://x.org/c"
    (desk.repo / "a.tsv").unlink()
    done = ("queue", "move", "--id", "LINKED", "--to", "done", "--actor", "planner")
    said = desk.refused(30, *done)
    assert "a.tsv does not exist" in said
    assert "--to planner-review --evidence FILES" in said
    desk.refused(30, *done, "--evidence", "gone.tsv")
    assert desk.card("LINKED").evidence_links == "a.tsv,b.tsv,https://x.org/c", "what was refused changed nothing"
    desk.ok(*to_review, "--evidence", "b.tsv")
    assert desk.card("LINKED").evidence_links == "b.tsv"
