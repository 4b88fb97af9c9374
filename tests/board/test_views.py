"""Board lines 44 to 46 and 65 to 68: the commands that tell of the board, as one calls them."""

import json

import click
import pytest

from santiago.app.board.asking_tickets import questions_of
from santiago.app.loading import load
from santiago.artifacts.registry import common_git_dir, register
from santiago.board import board_commands, board_telling, weekly
from santiago.cli.main import main
from santiago.cli.ticket_commands import archive as archive_command
from santiago.cli.ticket_commands import queue
from santiago.contract.board import BoardEvent, Card
from santiago.contract.errors import Kind, SantiagoError
from tests.board.boards import Desk, desk
from tests.board.cards import NOW, blocked, card, spent
from tests.tui.made import asking_run

__all__ = ["desk"]


def ran(command: click.Command, *words: str) -> int:
    code = command.main(list(words), standalone_mode=False)
    return code if isinstance(code, int) else 0


def test_triage_of_the_whole_board(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 65."""
    assert ran(queue.commands["triage-blocked"]) == 0
    assert capsys.readouterr().out == "NO_BLOCKED_TICKETS\n"
    desk.add(*(blocked(f"T{number}", note="why") for number in range(25)), blocked("T99", note="p0"))
    ran(queue.commands["triage-blocked"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 21
    assert lines[1].startswith("P0\t0\tT99\t")
    ran(queue.commands["triage-blocked"], "--limit", "2", "--json")
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["T99", "T0"]


def test_the_loops_status_is_its_exit_code_with_plans_taken_in(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board lines 44 to 46: plans that cannot be taken in are named, and keep the loop from being done."""
    assert ran(queue.commands["loop-status"]) == 0
    assert "LOOP_STATUS:STOP_DONE" in capsys.readouterr().out
    desk.add(card("T1"))
    assert ran(queue.commands["loop-status"]) == 0
    assert "LOOP_STATUS:CONTINUE" in capsys.readouterr().out
    desk.add(blocked("T2", next_action="needs_user_confirmation"))
    assert ran(queue.commands["loop-status"]) == 10
    assert "LOOP_USER_CONFIRMATION_IDS:T2" in capsys.readouterr().out
    (desk.place.plans / "one.md").write_text("# One\n\n- [ ] open\n", encoding="utf-8")
    assert ran(queue.commands["loop-status"]) == 10
    assert "LOOP_COUNTS:planner-inbox=1 " in capsys.readouterr().out
    for name in ("a", "b"):
        (desk.place.plans / f"{name}.md").write_text("id: same\n\n- [ ] open\n", encoding="utf-8")
    ran(queue.commands["next-prompt"])
    told = capsys.readouterr()
    assert "backlog=1" in told.out
    assert "two plans are called same" in told.err


def test_a_question_that_a_run_asks_stops_for_the_user(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 46: a ticket points at its run and story, and the run is asked."""
    run = asking_run(desk.place.project / ".santiago" / "runs" / "r1")
    name = load(run.out_dir).run_id
    common = common_git_dir(desk.place.project)
    assert common
    register(common, name, run.out_dir, NOW)
    desk.keep(
        blocked("T1", run=name, story="S3"),
        blocked("T2", run=name, story="S4"),
        blocked("T3", run="gone", story="S3"),
        card("T4", "planner-review", run=name, story="S3", evidence_links="x"),
    )
    assert ran(queue.commands["loop-status"]) == 10
    assert "LOOP_USER_CONFIRMATION_IDS:T1,T4\n" in capsys.readouterr().out
    (question,) = questions_of(name, "S3", desk.place.project)
    assert question.startswith("S3-agent-1: Should a second refund")
    assert question.endswith(f"(santiago answer {name} S3-agent-1)")


def test_the_next_prompt_for_programs_and_for_users(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 68: with the product's first statement; a starter that nobody replaced says nothing."""
    desk.add(card("auth.1", title="Sign in (auth.1)"))
    assert ran(queue.commands["next-prompt"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("LOOP_STATUS:CONTINUE\n")
    assert "\nNEXT_PROMPT_TARGET:tech-developer\nNEXT_PROMPT_QUEUE:developer-todo\nNEXT_PROMPT_REASON:" in out
    assert out.count("```") == 2
    ran(queue.commands["next-prompt"], "--user-facing")
    out = capsys.readouterr().out
    assert "Build “Sign in” so that" in out
    assert not any(word in out for word in ("LOOP_", "NEXT_PROMPT_", "developer-todo", "auth.1"))
    ran(queue.commands["next-prompt"], "--json")
    data = json.loads(capsys.readouterr().out)
    told = (data["status"], data["next"]["queue"], data["counts"]["developer-todo"])
    assert told == ("CONTINUE", "developer-todo", 1)
    truth = desk.place.project / ".sigee" / "product-truth" / "vision.yaml"
    truth.parent.mkdir(parents=True)
    truth.write_text(
        'visions:\n  - id: VIS-1\n    statement: "Nobody loses a file"\n  - statement: Second\n', encoding="utf-8"
    )
    ran(queue.commands["next-prompt"], "--user-facing")
    assert "Why this now: Nobody loses a file.\n" in capsys.readouterr().out
    truth.write_text("visions:\n  - id: VIS-BOOT-001\n    statement: Replace me\n", encoding="utf-8")
    assert board_telling.statement_of(desk.place.project) == ""


def test_a_request_whose_parts_are_done_is_not_planned_again_and_what_was_finished_last_is_named_first(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    """Board line 68: it waits for its acceptance, as long as no other request waits to be planned; a few of many are named."""
    routed = {"status": "in_progress", "phase": "running", "run": "R"}
    desk.keep(card("R", "planner-inbox", title="Print labels", **routed), card("R.S1", "done", request="R"))
    ran(queue.commands["next-prompt"])
    out = capsys.readouterr().out
    assert "NEXT_PROMPT_TARGET:tech-planner\nNEXT_PROMPT_QUEUE:planner-inbox\n" in out
    assert "NEXT_PROMPT_REASON:finished requests wait for acceptance\n" in out
    assert "Look at the finished work on “Print labels”" in out
    desk.add(card("Q", "planner-inbox", title="Print bills"))
    ran(queue.commands["next-prompt"])
    assert "Plan “Print bills”" in capsys.readouterr().out
    desk.keep(*(card(f"T-{number}", "done", title=f"Page {number}", arrival=number) for number in range(20)))
    ran(queue.commands["loop-status"], "--user-facing")
    out = capsys.readouterr().out
    assert "Finished last: “Page 19”, “Page 18”, “Page 17” (21 in all)." in out
    assert "It follows “Page 19”" in out


def test_exhaustion_is_summed_up_by_week(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 66: once per ISO week it is due; what was decided is left out."""
    desk.add(card("T1", title="Print | labels"), card("T2", "scientist-todo", title="p0 Measure"))
    desk.exhaust("T1")
    desk.exhaust("T2", "scientist-todo")
    with desk.store.reading() as at:
        now = next(at.events()).at
        assert weekly.due(at, now)
    ran(queue.commands["weekly-retry-summary"], "--weeks", "2", "--actor", "ann")
    told = capsys.readouterr().out.strip()
    name = f".santiago/.runtime/orchestration/history/weekly-retry-summary-{weekly.iso_week(now)}-last2w.md"
    assert told == f"WEEKLY_SUMMARY_FILE:{name}"
    text = (desk.place.project / name).read_text(encoding="utf-8")
    for line in (
        "- window_days: 14",
        "- retry_budget_exhausted_events: 2",
        "- affected_ticket_count: 2",
        "- open_blocked_exhausted_count: 2",
    ):
        assert f"{line}\n" in text
    assert "| developer-todo | 1 |" in text
    assert "| P0 | 1 |" in text
    assert "| P1 | 0 | T1 | Print \\| labels |" in text
    with desk.store.reading() as at:
        assert not weekly.due(at, now)
        assert weekly.due(at, "2031-01-01T00:00:00Z")
        assert weekly.summed(at, "2031-01-01T00:00:00Z")["retry_budget_exhausted_events"] == 0
        assert [one.actor for one in at.events(event=BoardEvent.SUMMARY_WRITTEN)] == ["ann"]
    desk.keep(spent("T4"), spent("T5", decided="stop"), blocked("T6"))
    with desk.store.reading() as at:
        assert sorted(one["id"] for one in weekly.summed(at, "2026-11-17T12:00:00Z")["oldest_open"]) == [
            "T1",
            "T2",
            "T4",
        ]


@pytest.mark.parametrize("weeks", ["0", "-1", "100000"])
def test_a_summary_of_no_weeks_is_refused(weeks: str, desk: Desk) -> None:
    """Board line 66."""
    with pytest.raises(SantiagoError) as refused:
        ran(queue.commands["weekly-retry-summary"], "--weeks", weeks)
    assert refused.value.kind is Kind.USAGE
    assert not list(desk.place.history.glob("weekly*"))


def archived(name: str, month: str) -> Card:
    return card(name, "done", archived_at=f"{month}-01T00:00:00Z", archived_by="planner")


def test_the_archive_by_month_and_flushing_what_an_import_left(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 67: on a board of santiago's own there is nothing to flush, and it says so."""
    ran(archive_command)
    assert "empty" in capsys.readouterr().out
    desk.keep(*(archived(f"T{number}", "2026-10") for number in range(2)), archived("T9", "2026-11"))
    ran(archive_command, "status")
    assert capsys.readouterr().out.splitlines() == ["2026-10  2 tickets", "2026-11  1 ticket", "total    3 tickets"]
    ran(archive_command, "status", "--json")
    assert json.loads(capsys.readouterr().out) == {"months": {"2026-10": 2, "2026-11": 1}, "total": 3}
    ran(archive_command, "flush")
    assert "nothing to flush" in capsys.readouterr().out
    desk.keep(card("T7", "done"), archived("T8", "2026-10"))
    ran(archive_command, "flush", "--actor", "ann")
    assert "archived 1 ticket" in capsys.readouterr().out
    with desk.store.reading() as at:
        first, second = at.card("T7"), at.card("T8")
        assert first
        assert second
        assert (first.archived_by, second.archived_at) == ("ann", "2026-10-01T00:00:00Z")


def test_a_person_empties_the_archive_and_that_is_recorded(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Board line 67: only with --yes; what is not archived stays."""
    desk.keep(archived("T1", "2026-10"), card("T2"))
    file = desk.place.archive / "done-2026-10.tsv"
    with pytest.raises(SantiagoError) as refused:
        ran(archive_command, "clear", "--actor", "ann")
    assert refused.value.kind is Kind.USAGE
    with desk.store.reading() as at:
        assert at.card("T1")
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2
    ran(archive_command, "clear", "--yes", "--actor", "ann")
    assert "removed 1 archived ticket" in capsys.readouterr().out
    with desk.store.reading() as at:
        assert at.counts() == {"developer-todo": 1}
        (event,) = at.events(event=BoardEvent.ARCHIVE_CLEARED)
        assert (event.actor, event.about) == ("ann", {"months": {"2026-10": 1}, "tickets": 1})
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1, "only the header is left"


@pytest.mark.parametrize("actor", ["worker-7", "Developer", "tech-planner-agent", "planner-agent", "claude"])
def test_no_worker_empties_the_archive(actor: str, desk: Desk) -> None:
    """Board line 67: exit 10, and nothing is gone."""
    desk.keep(archived("T1", "2026-10"))
    desk.add(card("T2"))
    desk.board.claim("developer-todo", "worker-7", "worker-7")
    with pytest.raises(SantiagoError) as refused:
        ran(archive_command, "clear", "--yes", "--actor", actor)
    assert refused.value.exit_code == 10
    with desk.store.reading() as at:
        assert board_commands.months(at) == {"2026-10": 1}


def test_status_has_the_board(desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The board in `status`: alone where there is no run yet, beside the run where there is one; an agent is told of its run alone."""
    assert main(["status"]) == 2, "nobody has used the board yet"
    desk.add(card("T1"))
    capsys.readouterr()
    assert main(["status"]) == 0
    assert "developer-todo: 1 ticket\n  T1, Title of T1, 0 min\n" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["board"]["counts"]["developer-todo"] == 1
    run = asking_run(desk.place.project / ".santiago" / "runs" / "r1").out_dir
    assert main(["status", str(run)]) == 0
    assert "board: OPEN, tickets are left to work on, developer-todo 1, 0 archived" in capsys.readouterr().out
    assert main(["status", str(run), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["board"]["verdict"]["status"], bool(data["run_id"])) == ("CONTINUE", True)
    monkeypatch.setenv("SANTIAGO_STORY", "S1")
    assert main(["status", str(run)]) == 0
    told = capsys.readouterr()
    assert "board" not in told.out
    assert told.err == ""
