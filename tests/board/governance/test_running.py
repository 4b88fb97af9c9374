"""Running scenarios: in order, within time and output, kept for a ticket, and never a pass of what did not run."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from santiago.board.board_place import find
from santiago.board.governance import scenario_run, scenarios
from santiago.board.governance.scenario_results import Ended
from santiago.board.governance.scenario_run import Request
from santiago.contract.errors import SantiagoError
from santiago.process.fence import Sandbox
from santiago.process.server import ProcessServer
from tests.board.governance.product import HELLO, commit, write, write_scenario

Run = Callable[..., Ended]

ROOT = ".sigee/.runtime"


@pytest.fixture
def run(project: Path) -> Iterator[Run]:
    """Run the scenarios of the project, each command within the given milliseconds."""
    server = ProcessServer()

    def go(ms: int = 60_000, **wishes: object) -> Ended:
        found = scenarios.read(project)
        assert found.faults == ()
        request = Request(**wishes)  # type: ignore[arg-type]
        with scenario_run.in_place(project, server, Sandbox(), dict(os.environ), ms) as bench:
            return scenario_run.run(bench, find(project, {}), found.scenarios, request)

    yield go
    server.close()


def test_a_whole_run_keeps_everything_one_without_a_ticket_leaves_tickets_alone(project: Path, run: Run) -> None:
    """Board line 72: last-run.json per ticket, run-summary.json, trace.jsonl, dag.mmd."""
    from hashlib import sha256

    head = commit(project)
    ended = run(ticket="T-1")
    assert ended.status == "PASS"
    assert ended.file == project / ROOT / "dag/state/T-1/last-run.json"
    assert ended.digest == sha256(ended.file.read_bytes()).hexdigest()
    data = json.loads(ended.file.read_text())
    assert (data["ticket"], data["status"], data["dry_run"]) == ("T-1", "PASS", False)
    assert (data["commit"], data["clean"]) == (head, True)
    assert list(data["test_contract"]["hello"].values()) == [2, 2, 2, 5]
    folder = project / data["evidence_dir"]
    assert json.loads((folder / "run-summary.json").read_text()) == data
    assert "hello_green --> hello_smoke_boundary_1" in (folder / "dag.mmd").read_text()
    events = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    assert (events[0]["event"], events[-1]["result"]) == ("run_start", "PASS")
    assert list(events[1]) == ["ts", "event", "node", "stage", "result", "message"]
    other = run()
    assert other.file == project / ROOT / "dag/state/last-run.json"
    assert data["run_id"] != json.loads(other.file.read_text())["run_id"]


def test_neither_a_dry_run_nor_a_part_of_one_passes_and_an_unknown_step_is_refused(project: Path, run: Run) -> None:
    """Board line 72 (defect 2): one step, or nothing at all, is told as what it is."""
    ended = run(ticket="T-1", dry_run=True)
    assert ended.status == ended.summary["status"] == "DRY_RUN"
    assert "hello_red" in ended.summary["execution_order"]
    assert ended.file is None
    assert not (project / ROOT).exists()
    with pytest.raises(SantiagoError, match="there is no step 'hello'"):
        run(only="hello")
    assert run(only="hello_red").status == "PARTIAL"
    assert run(only="e2e_gate").status == "PARTIAL"
    assert run(concerned=()).status == "NOTHING"


def test_the_first_failure_ends_a_run(project: Path, run: Run) -> None:
    """Board lines 60 and 72: what waits for a failed step does not run; results on files that nobody committed say so."""
    write(project, "hello.txt", "good day\n")
    ended = run(ticket="T-1")
    data = ended.summary
    assert (ended.status, data["failed_node"], data["failed_stage"]) == ("FAIL", "hello_unit_normal_1", "run")
    assert "hello_green" in data["failed_deps"]
    assert "hello_green" not in data["execution_order"]
    assert (data["counts"]["failed"], data["clean"]) == (1, False)


def test_verify_follows_impl_and_green(project: Path, run: Run) -> None:
    """Board line 71: the declared verify command is run, and its failure counts."""
    write_scenario(project, HELLO, verify="test -e proof.txt")
    data = run().summary
    assert (data["failed_node"], data["failed_stage"]) == ("hello_impl", "verify")


def test_a_red_step_that_passes_before_the_work_or_cannot_run_proves_nothing(project: Path, run: Run) -> None:
    """Board line 71: it is reported."""
    write_scenario(project, HELLO, red_run="test -d .", impl_run="touch done.txt")
    ended = run()
    assert ended.summary["proves_nothing"] == ["hello_red"]
    (row,) = [row for row in ended.summary["results"] if row["node"] == "hello_red"]
    assert row["message"] == "it already passes before the work, so passing later proves nothing"
    (other,) = [row for row in ended.summary["results"] if row["node"] == "bye_red"]
    assert other["result"] == "red"
    write_scenario(project, HELLO, red_run="no-such-program-here")
    assert run().summary["proves_nothing"] == ["hello_red"]


def test_a_red_step_seen_to_fail_for_its_ticket_stays_proven(project: Path, run: Run) -> None:
    """Board line 71: run before the work it was red, so that it passes after the work means something; for this ticket only."""
    write_scenario(project, HELLO, red_run="test -e work.txt")
    run(ticket="T-1", only="hello_red")
    write(project, "work.txt", "done")
    assert run(ticket="T-1").summary["proves_nothing"] == []
    assert run(ticket="T-2").summary["proves_nothing"] == ["hello_red"]
    write_scenario(project, HELLO, red_run="test -s work.txt")
    assert run(ticket="T-1").summary["proves_nothing"] == ["hello_red"], "another command was never red"


def test_a_command_that_does_not_end_is_stopped(project: Path, run: Run) -> None:
    """Board line 71: every command has a time-out."""
    write_scenario(project, HELLO, green_run="sleep 600")
    ended = run(ms=1000)
    assert ended.status == "FAIL"
    assert ended.summary["results"][-1]["timed_out"] is True


def test_what_a_command_prints_is_kept_within_bounds(project: Path, run: Run) -> None:
    """Board line 71: the capture is bounded, and says what it lacks."""
    write_scenario(project, HELLO, green_run="head -c 40000000 /dev/zero | tr '\\\\0' x")
    data = run().summary
    log = project / data["evidence_dir"] / "hello_green-run.log"
    assert data["status"] == "PASS"
    assert log.stat().st_size < 20_000_000
    assert b"bytes dropped" in log.read_bytes()[-100_000:]


@pytest.mark.parametrize("ticket", ["", "..", "a/b", "/etc", "x" * 200])
def test_a_ticket_that_is_no_name_is_refused(run: Run, ticket: str) -> None:
    """Board line 72: the ticket names a folder, and no other place."""
    with pytest.raises(SantiagoError, match="cannot be the id"):
        run(ticket=ticket)


@pytest.mark.parametrize("name", ["dag/state", "evidence"])
def test_nothing_is_kept_through_a_link(project: Path, run: Run, name: str, tmp_path: Path) -> None:
    """Board line 72: paths stay inside the project, and nothing runs where its results could not be kept."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ROOT / name).parent.mkdir(parents=True, exist_ok=True)
    (project / ROOT / name).symlink_to(elsewhere)
    write_scenario(project, HELLO, impl_run="touch ran.txt")
    with pytest.raises(SantiagoError, match="symbolic link"):
        run(ticket="T-1")
    assert list(elsewhere.iterdir()) == []
    assert not (project / "ran.txt").exists()
