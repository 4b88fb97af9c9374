"""Scenarios that santiago ran for a ticket are evidence of it, as far as they are about its own commit."""

import json
import shutil
from pathlib import Path

from tests.board.governance.product import commit, override, write
from tests.cli.inside import Told, inside

RUN = ("scenario", "run", "--sandbox", "off", "--trust-commands", "--json")
LAST = ".sigee/.runtime/dag/state/{}/last-run.json"


def typed(project: Path, *words: str, code: int = 0) -> Told:
    return inside(*words, cwd=project, code=code)


def claimed(project: Path, name: str) -> None:
    typed(project, "queue", "add", "--queue", "developer-todo", "--id", name, "--title", f"Do {name}")
    typed(project, "queue", "claim", "--queue", "developer-todo", "--worker", "ada", "--id", name)


def worked(project: Path, lines: int) -> str:
    write(project, "bye.txt", "bye\n" * lines)
    return commit(project)


def ran(project: Path, name: str) -> bool:
    return bool(json.loads(typed(project, *RUN, "--ticket", name).stdout)["evidence"])


def accept(project: Path, name: str, code: int) -> str:
    return typed(project, "queue", "move", "--id", name, "--to", "done", "--actor", "planner", code=code).stderr


def test_a_passed_run_of_this_ticket_and_commit_opens_the_gate_and_no_other_does(project: Path) -> None:
    """Board lines 24 and 54: of another commit, of files that are not committed, of another ticket, edited, or without its output."""
    typed(project, "queue", "init")
    override(project, "2999-01-01T00:00:00Z")
    commit(project)
    review = ("queue", "move", "--to", "planner-review", "--id")
    claimed(project, "OLD")
    ran(project, "OLD")
    worked(project, 6)
    typed(project, *review, "OLD")
    assert "but another commit is integrated" in accept(project, "OLD", 30)
    write(project, "bye.txt", "bye\n" * 7)
    assert not ran(project, "OLD"), "its files are not committed"
    assert "has a FAIL, or no PASS" in accept(project, "OLD", 30)
    commit(project)
    assert ran(project, "OLD")
    accept(project, "OLD", 0)
    assert not ran(project, "OLD"), "what is in the archive stays as it is"

    claimed(project, "NEW")
    worked(project, 8)
    assert "has no check" in typed(project, "queue", "verify", "NEW", code=30).stderr, "its scenarios can still show it"
    typed(project, *review, "NEW", "--evidence", LAST.format("OLD"))
    assert "is evidence of OLD" in accept(project, "NEW", 30)
    assert ran(project, "NEW")
    last = project / LAST.format("NEW")
    kept = last.read_text()
    last.write_text(kept.replace("PASS", "PASS "))
    assert "was changed since santiago wrote it" in accept(project, "NEW", 30)
    last.write_text(kept)
    output = project / json.loads(kept)["evidence_dir"]
    shutil.move(output, project / ".sigee/.runtime/elsewhere")
    assert "has lost the output of its commands" in accept(project, "NEW", 30)
    shutil.move(project / ".sigee/.runtime/elsewhere", output)
    accept(project, "NEW", 0)


def test_scenarios_of_no_ticket_and_of_a_dry_run_are_nobodys_evidence(project: Path) -> None:
    """Board line 54: nor is the run for a ticket that is on no board."""
    typed(project, "queue", "init")
    assert not ran(project, "NOBODY")
    claimed(project, "T")
    commit(project)
    typed(project, *RUN)
    typed(project, *RUN, "--ticket", "T", "--dry-run")
    typed(project, "queue", "move", "--id", "T", "--to", "planner-review", code=30)
    typed(
        project,
        "queue",
        "move",
        "--id",
        "T",
        "--to",
        "planner-review",
        "--evidence",
        ".sigee/.runtime/dag/state/last-run.json",
    )
    assert "is not a record that santiago made" in accept(project, "T", 30)
