"""The loop on a governed project: work reaches done with what governance asks of it, and not without."""

import json
from pathlib import Path

import pytest

from santiago.app.board.routing import route
from santiago.app.board.ticket_context import TicketContext
from santiago.app.board.working import work_on
from santiago.board.governance.scenarios import CATALOGUE, ENDING
from santiago.contract.board import BoardEvent
from tests.board.desk import CONSENTS, HELLO, ONE, Desk
from tests.board.governance.product import commit, govern, scenario, write_scenario

BOTH = {"id": "both", "capability": "CAP-BYE", "layer": "system"}


APART = (
    ONE.replace("# One", "# Two")
    + "\n### R2: Say both\n\n**Files:** `both.txt`\n\n**Verification:** `grep both both.txt`\n"
)
"""Only the second story concerns the scenario."""
PLAYED = HELLO + '  R2:\n    - write: {both.txt: "both\\n"}\n'
ALONE = "# One\n\n### R1: Say both\n\n**Files:** `both.txt`\n\n**Verification:** `grep both both.txt`\n"
BROKEN = scenario(**BOTH, linked_nodes="", unit_normal_tests="grep -q both both.txt")
WHOLE = scenario(**BOTH, linked_nodes="")


def desk_of(folder: Path, *, prd: str = APART, **changes: str) -> Desk:
    desk = Desk(folder, PLAYED, prd=prd)
    govern(desk.repo, BOTH)
    write_scenario(desk.repo, BOTH, linked_nodes="", **changes)
    commit(desk.repo)
    return desk.requested("--retry-budget", "1")


def test_a_governed_request_reaches_the_archive_by_the_loop_alone(tmp_path: Path) -> None:
    """Board lines 57 to 60: scenarios that a ticket's change concerns are run on its commit, and nothing else is asked."""
    desk = desk_of(tmp_path)
    desk.looped()
    states = desk.repo / ".sigee/.runtime/dag/state"
    assert sorted(path.parent.name for path in states.rglob("last-run.json")) == ["REQ", "REQ.S2"]
    assert desk.card("REQ").queue == "done"


def test_a_ticket_whose_scenario_fails_is_sent_back(tmp_path: Path) -> None:
    """Board line 60: the test contract is met by results, or the ticket does not reach done."""
    desk = desk_of(tmp_path, unit_failure_tests="grep -q neither both.txt|||grep -q both both.txt")
    ran = desk.loop()
    assert ran.returncode != 0
    assert "AUTOLOOP_REVIEW_REQUEUE:REQ.S2" in ran.stdout
    assert desk.card("REQ.S1").queue == "done"
    assert desk.card("REQ.S2").queue != "done"


def breaking(folder: Path, *attempts: str) -> Desk:
    """A request whose attempts write these catalogues."""
    moves = [{"write": {"both.txt": "both\n" * 5, f"{CATALOGUE}/both{ENDING}": one}} for one in attempts]
    desk = Desk(folder, json.dumps({"stories": {"R1": moves}}), prd=ALONE)
    govern(desk.repo, BOTH)
    write_scenario(desk.repo, BOTH, linked_nodes="")
    commit(desk.repo)
    return desk.requested("--retry-budget", str(len(attempts)))


def test_work_that_breaks_the_test_contract_stops_the_loop(tmp_path: Path) -> None:
    """Board lines 47 and 60: it is a stop of its own, with the ticket that broke it."""
    ran = breaking(tmp_path, BROKEN).loop("--json")
    assert ran.returncode == 10, ran.stdout + ran.stderr
    ended = json.loads(ran.stdout)
    assert (ended["status"], ended["reason"]) == ("STOP_TEST_CONTRACT", "test_contract_broken")
    assert ended["ids"] == ["REQ.S1"]
    assert "test contract: unit_normal_tests has 1 command and must have 2" in ran.stderr


def test_a_test_contract_that_was_mended_stops_nothing(tmp_path: Path) -> None:
    """Board line 47: what the next attempt put right is right."""
    ran = breaking(tmp_path, BROKEN, WHOLE).loop("--json")
    assert json.loads(ran.stdout)["status"] == "STOP_DONE", ran.stdout + ran.stderr


def test_a_test_contract_that_is_broken_from_the_beginning_stops_the_loop(tmp_path: Path) -> None:
    """Board lines 38 and 47: nothing is decomposed on it."""
    desk = desk_of(tmp_path, unit_normal_tests="grep -q both both.txt")
    ran = desk.loop("--json")
    assert (json.loads(ran.stdout)["status"], ran.returncode) == ("STOP_TEST_CONTRACT", 10)
    assert desk.card("REQ").queue == "blocked"


def test_a_lease_lasts_as_long_as_its_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Board lines 29 and 60: each command that ended is a sign of life."""
    monkeypatch.setattr("santiago.app.board.ticket_context.EVERY_MS", 0)
    desk = breaking(tmp_path, WHOLE)
    with desk.opened() as opened:
        route(opened, desk.card("REQ"), CONSENTS)
        claimed = opened.board.claim("developer-todo", "developer@loop", "planner").card
        assert claimed
        work_on(TicketContext(opened=opened, consents=CONSENTS), [claimed])
    kinds = [one.event for one in desk.events("REQ.S1")]
    recorded = kinds.index(BoardEvent.EVIDENCE_RECORDED)
    assert kinds[recorded:].count(BoardEvent.LEASE_RENEWED) >= 11
