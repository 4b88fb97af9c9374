"""A ticket's change is given what governance asks of it, as the loop does it."""

from pathlib import Path

import pytest

from santiago.app.board.governed import run_scenarios
from santiago.app.config import run_input_defaults
from santiago.board.board_place import find
from santiago.board.governance.governance_gate import Change, missing
from santiago.contract.errors import Kind, SantiagoError
from tests.board.governance.product import BYE, commit, override, write, write_scenario


def refuse(commands: list[str]) -> None:
    raise SantiagoError(Kind.BLOCKED, f"{len(commands)} commands wait")


def test_what_is_collected_opens_the_gate(project: Path) -> None:
    """Board lines 59, 60: impact result and test results of this ticket and range, without a person at every ticket."""
    override(project, "2999-01-01T00:00:00Z")
    base = commit(project)
    write_scenario(project, BYE, title="The shop says goodbye")
    head = commit(project)
    write(project, "bye.txt", "not committed\n")
    place, change = find(project, {}), Change(ticket="T-1", base=base, head=head, evidence=())
    assert len(missing(project, place.root, change)) == 2
    asked: list[str] = []
    ended = run_scenarios(place, "T-1", base, head, run_input_defaults(project), asked.extend)
    assert ended is not None
    assert (ended.status, ended.summary["commit"]) == ("PASS", head)
    assert "test -s bye.txt" in asked
    assert missing(project, place.root, change) == ()
    assert run_scenarios(place, "T-2", base, head, run_input_defaults(project), refuse) is not None, "approved before"


def test_commands_that_the_work_changed_wait_for_a_person(project: Path) -> None:
    """Board line 71: whoever changes a scenario does not thereby get a command to run."""
    base = commit(project)
    write_scenario(project, BYE, green_run="touch /tmp/owned")
    with pytest.raises(SantiagoError, match="commands wait"):
        run_scenarios(find(project, {}), "T-1", base, commit(project), run_input_defaults(project), refuse)


def test_a_change_of_nothing_that_is_named_runs_nothing(project: Path) -> None:
    """Board line 60: none impacted, none asked."""
    base = commit(project)
    write(project, "notes.md", "later\n")
    assert run_scenarios(find(project, {}), "T-1", base, commit(project), run_input_defaults(project), refuse) is None
