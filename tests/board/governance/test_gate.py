"""The governance part of the done gate: all that is missing at once, tied to this ticket and this range."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.board.board_place import find
from santiago.board.governance import (
    governance_gate,
    impact,
    scenario_run,
    scenarios,
    truth_validation,
)
from santiago.board.governance.governance_gate import Change
from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.scenario_results import digest_of, state_file
from santiago.board.governance.starters import seed
from santiago.process.fence import Sandbox
from santiago.process.server import ProcessServer
from tests.board.governance.product import BYE, commit, override, write, write_scenario
from tests.util.restored import restored
from tests.workspace.conftest import git

ROOT = ".sigee/.runtime"


pytestmark = pytest.mark.xdist_group("board-gate")


def changed(project: Path) -> Change:
    """Change a scenario's file in a project where the core layer may be changed."""
    override(project, "2999-01-01T00:00:00Z")
    base = commit(project)
    write_scenario(project, BYE, title="The shop says goodbye")
    return Change(ticket="T-1", base=base, head=commit(project), evidence=())


@pytest.fixture(scope="module")
def run_once(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Change]:
    """A changed project, all of whose scenarios ran for T-1."""
    project = shutil.copytree(shop, tmp_path_factory.mktemp("ran") / "shop", symlinks=True)
    change, server = changed(project), ProcessServer()
    with scenario_run.in_place(project, server, Sandbox(), dict(os.environ), 60_000) as bench:
        found = scenarios.read(project).scenarios
        scenario_run.run(bench, find(project, {}), found, scenario_run.Request(ticket="T-1"))
    server.close()
    return project, change


@pytest.fixture
def ran(run_once: tuple[Path, Change]) -> tuple[Path, Change]:
    return restored(run_once, run_once[0].parent)


def told(project: Path, change: Change) -> list[str]:
    found = governance_gate.missing(project, project / ROOT, change)
    assert all(one.remedy for one in found)
    return [one.what for one in found]


def attach(project: Path, change: Change, base: str | None = None) -> Change:
    """Hand in the impact result of the change, or of one from another base."""
    assert change.base
    assert change.head
    data = impact.of_range(project, base or change.base, change.head, enforce=True).to_data()
    write(project, f"{ROOT}/impact.json", json.dumps(data))
    return Change(ticket=change.ticket, base=change.base, head=change.head, evidence=(Path(f"{ROOT}/impact.json"),))


def test_nothing_is_missing_without_governance_and_starters_close_the_gate_by_file_and_line(tmp_path: Path) -> None:
    """Board lines 12 and 61: without a product truth the gate asks for nothing; then each starter that is left."""
    assert not truth_validation.is_on(tmp_path)
    assert told(tmp_path, Change(ticket="T", base=None, head=None, evidence=())) == []
    seed(tmp_path)
    found = told(tmp_path, Change(ticket="T-1", base=None, head=None, evidence=()))
    assert f"{TRUTH}/vision.yaml:7: the starter VIS-BOOT-1 is still there" in found


def test_a_change_with_its_results_lacks_nothing_if_the_board_recorded_its_run(ran: tuple[Path, Change]) -> None:
    """Board lines 54 and 57 to 62: what is complete passes; a file that anybody may have written does not count."""
    project, change = ran
    assert told(project, attach(project, change)) == []
    attached = attach(project, change)
    digest = digest_of(state_file(project / ROOT, change.ticket))
    assert told(project, replace(attached, recorded_runs=frozenset({digest}))) == []
    (lack,) = told(project, replace(attached, recorded_runs=frozenset()))
    assert "the board has no record of this run" in lack


def test_everything_that_is_missing_is_told_at_once(project: Path) -> None:
    """Board lines 57, 59, 60, 62: faults, impact result, tests and the layer guard together."""
    base = commit(project)
    write_scenario(project, BYE, layer="experimental")
    head = commit(project)
    found = told(project, Change(ticket="T-1", base=base, head=head, evidence=()))
    assert [line[:40] for line in found] == [
        ".sigee/dag/scenarios/bye.scenario.yml:6:",
        "the core layer is concerned, and no over",
        "product truth or scenarios changed, and ",
        "no scenarios were run for T-1, and its c",
    ]


def test_an_impact_result_of_another_range_or_ticket_or_that_says_less_is_refused(ran: tuple[Path, Change]) -> None:
    """Board line 59: the gate compares it with what the range has; `truth impact --ticket` hands it in."""
    project, change = ran
    (found,) = told(project, attach(project, change, base=f"{change.base}^"))
    assert "no impact result is for" in found
    assert f"{ROOT}/impact.json is for" in found
    handed_in = attach(project, change)
    data = json.loads((project / ROOT / "impact.json").read_text())
    data["impacted"]["scenarios"] = []
    write(project, f"{ROOT}/impact.json", json.dumps(data))
    assert len(told(project, handed_in)) == 1
    assert change.base
    assert change.head
    kept = impact.of_range(project, change.base, change.head, enforce=False)
    impact.keep(project / ROOT, "T-2", kept)
    assert len(told(project, change)) == 1
    impact.keep(project / ROOT, "T-1", kept)
    assert told(project, change) == []


def test_an_impact_result_of_the_same_files_in_another_range_is_refused(project: Path) -> None:
    """Board line 59: commits are compared, and not only what lies between them."""
    change = changed(project)
    later = Change(ticket="T-1", base=change.base, head=commit(project), evidence=())
    handed_in = attach(project, change)
    (found, _) = told(project, Change(ticket="T-1", base=later.base, head=later.head, evidence=handed_in.evidence))
    assert "no impact result is for" in found


def test_results_of_another_ticket_of_a_failed_run_or_without_logs_do_not_count(ran: tuple[Path, Change]) -> None:
    """Board line 60 (defects 2 and 5): a copy of another's file, a failure, a part, a dry run, uncommitted files, mere numbers."""
    project, change = ran
    state = project / ROOT / "dag/state"
    handed_in = replace(attach(project, change), ticket="T-2")
    (found,) = told(project, handed_in)
    assert found.startswith("no scenarios were run for T-2")
    shutil.copytree(state / "T-1", state / "T-2")
    (found,) = told(project, handed_in)
    assert found.endswith("it is a run for T-1")
    path, handed_in = project / ROOT / "dag/state/T-1/last-run.json", attach(project, change)
    data = json.loads(path.read_text())
    said = {"status": ("FAIL", "PARTIAL", "DRY_RUN"), "dry_run": (True,), "clean": (False,)}
    for key, value in [(key, value) for key, values in said.items() for value in values]:
        path.write_text(json.dumps({**data, key: value}))
        assert len(told(project, handed_in)) == 1, (key, value)
    path.write_text(json.dumps(data))
    log = project / data["evidence_dir"] / "bye_unit_normal_1-run.log"
    log.write_text("fine, I would say\n")
    assert told(project, handed_in) == ["bye: 1 of 2 unit_normal tests have a result that passed"]
    log.unlink()
    assert told(project, handed_in) == ["bye: 1 of 2 unit_normal tests have a result that passed"]
    path.write_text(json.dumps({**data, "results": []}))
    assert "hello: 0 of 5 boundary_smoke tests have a result that passed" in told(project, handed_in)


def test_the_tests_of_another_commit_do_not_count(ran: tuple[Path, Change]) -> None:
    """Board line 60: results are of the commit that would be accepted."""
    project, change = ran
    write(project, "bye.txt", "bye\n" * 9)
    later = Change(ticket="T-1", base=change.base, head=commit(project), evidence=())
    (found,) = told(project, attach(project, later))
    assert "it ran on" in found


def test_tests_that_the_scenario_no_longer_has_do_not_count(ran: tuple[Path, Change]) -> None:
    """Board line 60: the commands are those of the scenario as the commit has it."""
    project, change = ran
    write_scenario(project, BYE, unit_normal_tests="make a|||make b")
    later = Change(ticket="T-1", base=change.base, head=commit(project), evidence=())
    path = project / ROOT / "dag/state/T-1/last-run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "commit": later.head}))
    assert told(project, attach(project, later)) == ["bye: 0 of 2 unit_normal tests have a result that passed"]


def test_the_gate_looks_at_the_commit_and_not_at_what_stands_beside_it(project: Path) -> None:
    """Board line 57: a fault of the commit counts, and one of files that nobody would accept does not."""
    base = commit(project)
    write(project, f"{TRUTH}/vision.yaml", "visions: []\n")
    broken = commit(project)
    assert any("revision is not a whole" in line for line in told(project, _of(base, broken)))
    git(project, "checkout", "-q", base, "--", TRUTH)
    assert any("revision is not a whole" in line for line in told(project, _of(base, broken)))
    mended = commit(project)
    write(project, f"{TRUTH}/vision.yaml", "visions: []\n")
    assert told(project, _of(base, mended)) == []


def _of(base: str, head: str) -> Change:
    return Change(ticket="T-1", base=base, head=head, evidence=())


def test_an_expired_override_closes_the_gate_for_core_changes_only(project: Path) -> None:
    """Board lines 59, 60 and 62: code that no scenario names needs no override, no impact result and no tests."""
    write_scenario(project, BYE, linked_nodes="hello")
    override(project, "2026-02-01T00:00:00Z")
    base = commit(project)
    write(project, "notes.md", "later\n")
    other = commit(project)
    assert told(project, Change(ticket="T-1", base=base, head=other, evidence=())) == []
    write(project, "hello.txt", "hello\n" * 9)
    found = told(project, Change(ticket="T-1", base=other, head=commit(project), evidence=()))
    assert "OVR-1 expired on 2026-02-01T00:00:00Z" in found[0]


def test_a_range_that_git_does_not_know_and_a_truth_that_nobody_committed_are_told(project: Path) -> None:
    """Board lines 57 and 59: what cannot be compared is no pass, and the commit that would be accepted has to hold the truth."""
    (found,) = told(project, Change(ticket="T-1", base="f" * 40, head="e" * 40, evidence=()))
    assert found.startswith("the impact of the change cannot be computed")
    git(project, "rm", "-rq", "--cached", ".sigee")
    git(project, "commit", "-qm", "without")
    base = git(project, "rev-parse", "HEAD")
    (found,) = told(project, _of(base, base))
    assert found.startswith(f"{TRUTH} is not part of")
