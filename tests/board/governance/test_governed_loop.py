"""The loop on a governed project: work reaches done with what governance asks of it, and not without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.board.desk import REQUEST, Desk
from tests.board.governance.product import commit, govern, write_scenario

if TYPE_CHECKING:
    from pathlib import Path

BOTH = {"id": "both", "capability": "CAP-BYE", "layer": "system"}


def desk_of(folder: Path, **changes: str) -> Desk:
    desk = Desk(folder)
    govern(desk.repo, BOTH)
    write_scenario(desk.repo, BOTH, linked_nodes="", **changes)
    commit(desk.repo)
    desk.ok(*REQUEST)
    return desk


def test_a_governed_request_reaches_the_archive_by_the_loop_alone(tmp_path: Path) -> None:
    """Board lines 57 to 60: scenarios that a ticket's change concerns are run on its commit, and nothing else is asked."""
    desk = desk_of(tmp_path)
    ran = desk.loop()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    states = desk.repo / ".sigee/.runtime/dag/state"
    assert sorted(path.parent.name for path in states.rglob("last-run.json")) == ["REQ", "REQ.S3"]
    assert desk.card("REQ").queue == "done"


def test_a_ticket_whose_scenario_fails_is_sent_back(tmp_path: Path) -> None:
    """Board line 60: the test contract is met by results, or the ticket does not reach done."""
    desk = desk_of(tmp_path, unit_failure_tests="grep -q neither both.txt|||grep -q both both.txt")
    ran = desk.loop()
    assert ran.returncode != 0
    assert "AUTOLOOP_REVIEW_REQUEUE:REQ.S3" in ran.stdout
    assert desk.card("REQ.S2").queue == "done"
    assert desk.card("REQ.S3").queue != "done"
