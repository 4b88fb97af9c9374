"""What the scripts of the queue protocol's origin hold themselves to, by santiago's commands, in a project of theirs.

Three things are different on purpose, because the origin's way is a defect: a table of results that somebody wrote by hand
opens no gate, evidence that is not there is refused, and the loop's work is judged in a clean checkout.
"""

from pathlib import Path

import pytest

from tests.board.desk import Desk
from tests.cli import greeter

PLANNER = ("--actor", "tech-planner")
MARKER = """\
# A plan

## PlanSpec v2
id: autoloop-test
owner: qa
risk: low
mode: strict
verify_commands:
  - test -f marker.txt

## Delivery Waves
### Wave 1 - Unblockers
- [ ] 1. Create the marker
  - Targets: marker.txt
  - Expected behavior: the marker is there.
  - Execute: `printf "ok" > marker.txt`
  - Verification: `test -f marker.txt`
"""


class Origin(Desk):
    @property
    def root(self) -> Path:
        return self.repo / ".sigee" / ".runtime"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Origin:
    desk = Origin(tmp_path_factory.mktemp("origin"))
    (desk.repo / ".sigee").mkdir()
    desk.ok("queue", "init")
    return desk


def test_1_evidence_of_all_separators_is_read_and_a_table_written_by_hand_opens_no_gate(desk: Origin) -> None:
    """Board lines 24, 54, 73; the origin accepts the table: a defect."""
    table = desk.root / "evidence" / "regression" / "verification-results.tsv"
    table.parent.mkdir(parents=True)
    table.write_text("suite\tcase\tstage\tresult\nqueue\tmixed\tverify\tPASS\n")
    desk.add("DELIM", "planner-review", "--phase", "evidence_collected", "--attempt-count", "1")
    mixed = f"nowhere.txt,.sigee/gone.tsv|{table.relative_to(desk.repo)};ignored"
    said = desk.refused(
        30, "queue", "move", "--id", "DELIM", "--from", "planner-review", "--to", "done", "--status", "done", *PLANNER,
        "--evidence", mixed,
    )  # fmt: skip
    for word in ("nowhere.txt does not exist", ".sigee/gone.tsv does not exist", "is not a record that santiago made"):
        assert word in said


def test_2_and_3_what_has_no_attempt_left_is_escalated_by_a_claim_and_reconciled(desk: Origin) -> None:
    """Board lines 27, 31, 73."""
    desk.add("AUTO", "developer-todo", "--attempt-count", "3")
    said = desk.ok("queue", "claim", "--queue", "developer-todo", "--worker", "tech-developer")
    assert "AUTO_ESCALATED_RETRY_EXHAUSTED:developer-todo:1" in said
    assert "AUTO_ESCALATED_NEXT_ACTION:The planner decides" in said
    rows = [line.split("\t") for line in (desk.root / "orchestration/queues/blocked.tsv").read_text().splitlines()]
    (row,) = [row for row in rows if row[0] == "AUTO"]
    assert (row[1], row[11]) == ("blocked", "dependency_blocked")
    assert row[8].startswith("released:")
    desk.add("RECON", "scientist-todo", "--attempt-count", "2", "--retry-budget", "2")
    assert "RECONCILED_TOTAL:1" in desk.ok("queue", "reconcile-exhausted", "--all", *PLANNER)
    assert desk.card("RECON").queue == "blocked"


def test_4_and_5_blocked_tickets_are_listed_by_priority_and_age_and_the_week_is_summed_up(desk: Origin) -> None:
    """Board lines 65, 66 and 73."""
    for name, kind in (("OLDER", "soft_fail"), ("NEWER", "soft_fail"), ("HARD", "hard_fail")):
        desk.add(name, "blocked", "--error-class", kind, "--attempt-count", "1")
    header, *rows = desk.ok("queue", "triage-blocked", "--limit", "20").splitlines()
    assert header.startswith("priority\tage_days\tid")
    names = [row.split("\t")[2] for row in rows]
    assert names.index("HARD") < names.index("OLDER") < names.index("NEWER")
    said = desk.ok("queue", "weekly-retry-summary", "--weeks", "1")
    text = (desk.repo / said.strip().removeprefix("WEEKLY_SUMMARY_FILE:")).read_text()
    assert "retry_budget_exhausted_events" in text
    assert "open_blocked_exhausted_count" in text


def test_6_the_next_prompt_is_one_block_without_machinery(desk: Origin) -> None:
    """Board lines 68, 69, 73."""
    said = desk.ok("queue", "next-prompt")
    for word in ("NEXT_PROMPT_TARGET:", "NEXT_PROMPT_QUEUE:", "NEXT_PROMPT_REASON:"):
        assert word in said
    for text in (said, desk.ok("queue", "next-prompt", "--user-facing")):
        assert text.count("```md\n") == 1
        assert text.count("```") == 2
    shown = desk.ok("queue", "next-prompt", "--user-facing") + desk.ok("queue", "loop-status", "--user-facing")
    for word in ("planner-inbox", "developer-todo", "LOOP_", "RECON", ".sigee", "lease", "queue"):
        assert word not in shown


def test_7_a_claim_tells_the_profile(desk: Origin) -> None:
    """Board lines 9, 26, 73: the next action first, then the note, then the default."""
    desk.add(
        "HINT", "developer-todo", "--note", "profile=backend-api", "--next-action", "profile=refactoring-specialist now"
    )
    desk.add("PLAIN", "developer-todo")
    claim = ("queue", "claim", "--queue", "developer-todo", "--worker", "tech-developer")
    assert desk.ok(*claim).startswith("CLAIM_PROFILE_HINT:refactoring-specialist\nCLAIM_PROFILE_SOURCE:next_action\n")
    assert desk.ok(*claim).startswith("CLAIM_PROFILE_HINT:generalist\nCLAIM_PROFILE_SOURCE:default\n")


def test_8_a_plan_with_an_open_box_keeps_the_loop_going(tmp_path: Path) -> None:
    """Board lines 44, 45, 73."""
    desk = Origin(tmp_path)
    (desk.root / "plans").mkdir(parents=True)
    (desk.root / "plans" / "plan-sync-test.md").write_text("id: PLAN-SYNC-001\n\n## Delivery Waves\n- [ ] Build it\n")
    assert "LOOP_STATUS:CONTINUE" in desk.ok("queue", "loop-status")
    rows = (desk.root / "orchestration" / "queues" / "planner-inbox.tsv").read_text().splitlines()
    assert [row.split("\t")[4] for row in rows[1:]] == ["plan:PLAN-SYNC-001"]
    assert "NEXT_PROMPT_QUEUE:planner-inbox" in desk.ok("queue", "next-prompt")


def test_9_the_loop_takes_a_plan_to_the_archive(tmp_path: Path) -> None:
    """Board lines 8, 37, 73; the origin works in the user's own folder, which santiago leaves alone."""
    played = "stories:\n  S1:\n    - write: {marker.txt: ok}\n"
    desk = Origin(tmp_path, played)
    (desk.root / "plans").mkdir(parents=True)
    (desk.root / "plans" / "autoloop-test.md").write_text(MARKER)
    desk.add("LOOP-001", "planner-inbox", "--source", "plan:autoloop-test")
    ran = desk.loop("--max-cycles", "12")
    assert "AUTOLOOP_TERMINAL_STATUS:STOP_DONE" in ran.stdout, ran.stdout + ran.stderr
    (archive,) = (desk.root / "orchestration" / "archive").glob("done-*.tsv")
    assert "LOOP-001\tdone" in archive.read_text()
    for queue in ("planner-inbox", "developer-todo", "planner-review", "scientist-todo", "blocked"):
        assert (desk.root / "orchestration" / "queues" / f"{queue}.tsv").read_text().count("\n") == 1
    assert greeter.git(desk.repo, "show", "santiago/LOOP-001:marker.txt") == "ok"
    assert not (desk.repo / "marker.txt").exists()
