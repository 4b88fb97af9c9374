"""What a change concerns: by files, by what the product truth says, and by what scenarios rest on."""

from pathlib import Path

import pytest

from santiago.board.governance import impact
from santiago.board.governance.hierarchy import TRUTH
from santiago.board.governance.scenarios import CATALOGUE
from santiago.contract.errors import SantiagoError
from tests.board.governance.product import BYE, HELLO, commit, override, write, write_scenario, write_truth
from tests.workspace.conftest import git


def apart(project: Path) -> str:
    """Make the two scenarios independent, with a third that bye works with, and return the commit."""
    third = {"id": "third", "capability": "CAP-BYE", "layer": "system"}
    write_scenario(project, HELLO, linked_nodes="hello")
    write_scenario(project, BYE, linked_nodes="third")
    write_scenario(project, third, linked_nodes="bye")
    return commit(project)


def test_a_file_concerns_the_scenarios_that_name_it(project: Path) -> None:
    """Board line 59: changed_paths, and the closure over links; what stands above them is named."""
    base = apart(project)
    write(project, "bye.txt", "bye bye\n")
    head = commit(project)
    found = impact.of_range(project, base, head, enforce=False)
    assert found.impacted["scenarios"] == ("bye", "third")
    assert found.impacted["capabilities"] == ("CAP-BYE",)
    assert found.impacted["visions"] == ("VIS-SHOP",)
    assert found.layer_counts == {"core": 0, "system": 2, "experimental": 0}
    assert not found.touches_truth
    data = found.to_data()
    assert (data["base"], data["head"], data["changed_files"]) == (base, head, ["bye.txt"])
    assert data["layer_guard"] == {"enforced": False, "pass": True, "reason": ""}
    assert data["required_verification"][0] == "santiago truth validate --strict"
    assert impact.of_files(project, ["notes.md"], enforce=False).required == ()


@pytest.mark.parametrize("glob", ["src/**", "src/*", "src/**/*.py", "src", "src/", "**/deep.py", "src/a/deep.py"])
def test_globs_mean_what_people_write(project: Path, glob: str) -> None:
    """Board line 59: globs reach into folders."""
    write_scenario(project, HELLO, changed_paths=f"other.txt,{glob}")
    assert "hello" in impact.of_files(project, ["src/a/deep.py"], enforce=False).impacted["scenarios"]


def test_a_change_of_truth_or_a_scenario_concerns_what_is_below_it_without_an_id_everything(project: Path) -> None:
    """Board line 59: an id of the product truth is walked down to its scenarios, also as it was before; all, where no id is found."""
    base = apart(project)
    write_truth(
        project, "vision.yaml", 'visions:\n  - id: "VIS-SHOP"\n    statement: "Customers feel welcome."\n', revision=5
    )
    head = commit(project)
    assert impact.of_range(project, base, head, enforce=False).impacted["scenarios"] == ("bye", "hello", "third")
    by_file = impact.of_files(project, [f"{TRUTH}/pillars.yaml"], enforce=False)
    assert by_file.impacted["scenarios"] == ("bye", "hello", "third")
    base = apart(project)
    text = (
        (project / TRUTH / "capabilities.yaml").read_text().replace('"CAP-HELLO"', '"CAP-HELLO"\n    notes: "louder"')
    )
    write(project, f"{TRUTH}/capabilities.yaml", text)
    found = impact.of_range(project, base, commit(project), enforce=False)
    assert found.impacted["scenarios"] == ("hello",)
    assert found.core == ("hello",)
    assert found.touches_truth
    base = apart(project)
    write_scenario(project, HELLO, linked_nodes="bye")
    found = impact.of_range(project, base, commit(project), enforce=False)
    assert f"{CATALOGUE}/hello.scenario.yml" in found.changed_files
    assert "hello" in found.impacted["scenarios"]
    assert found.touches_truth
    base = apart(project)
    text = (project / TRUTH / "traceability.yaml").read_text()
    write(project, f"{TRUTH}/traceability.yaml", text[: text.index('  - scenario_id: "bye"')])
    found = impact.of_range(project, base, commit(project), enforce=False)
    assert found.impacted["scenarios"] == ("bye", "third")


def test_a_range_is_judged_by_its_own_commits(project: Path) -> None:
    """Board line 59: what stands in the working tree changes nothing, so that the gate finds the same again."""
    base = apart(project)
    write(project, "bye.txt", "bye bye\n")
    head = commit(project)
    before = impact.of_range(project, base, head, enforce=True)
    for path in (project / CATALOGUE).iterdir():
        path.unlink()
    override(project, "2999-01-01T00:00:00Z")
    assert impact.of_range(project, base, head, enforce=True) == before


def test_what_is_no_file_in_a_commit_is_left_out(project: Path) -> None:
    """Board lines 59 and 60: a submodule or a link among the scenarios is none of them; none impacted, none asked."""
    base = commit(project)
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{CATALOGUE}/sub.scenario.yml")
    (project / CATALOGUE / "link.scenario.yml").symlink_to("hello.scenario.yml")
    git(project, "add", f"{CATALOGUE}/link.scenario.yml")
    git(project, "commit", "-qm", "odd")
    found = impact.of_range(project, base, "HEAD", enforce=True)
    assert (found.impacted["scenarios"], found.guard.passes) == ((), True)


def test_only_the_core_layer_needs_an_override(project: Path) -> None:
    """Board line 62: an expired override fails a change of the core layer, and no other."""
    override(project, "2026-02-01T00:00:00Z")
    apart(project)
    system = impact.of_files(project, ["bye.txt"], enforce=True)
    assert system.guard.passes
    core = impact.of_files(project, ["hello.txt"], enforce=True)
    assert not core.guard.passes
    assert "OVR-1 expired on 2026-02-01T00:00:00Z" in core.guard.reason
    override(project, "2999-01-01T00:00:00Z")
    assert impact.of_files(project, ["hello.txt"], enforce=True).guard.passes


@pytest.mark.parametrize("ref", ["nowhere", "--help", "HEAD:hello.txt", ""])
def test_a_name_that_is_no_commit_is_refused(project: Path, ref: str) -> None:
    """Board line 59: a range lies between two commits."""
    with pytest.raises(SantiagoError, match="there is no commit"):
        impact.of_range(project, ref, "HEAD", enforce=False)
