"""The commands of governance, as a person types them: what they print, and how they end."""

import json
from pathlib import Path

import pytest

from santiago.board.governance.hierarchy import TRUTH
from tests.board.governance.product import BYE, HELLO, commit, write, write_scenario
from tests.cli.inside import inside

OVERRIDE = """\
version: 1
revision: 4
updated_at: "2026-01-31T12:00:00Z"
owner: ann
overrides:
  - {id: OVR-1, layer: core, approved_by: ann, reason: why not, created_at: 2026-01-01T00:00:00Z, expires_at: 2999-01-01T00:00:00Z}
"""
RUN = ("scenario", "run", "--sandbox", "off")


def test_truth_validate_tells_all_faults_with_their_remedies_or_how_to_begin(project: Path, tmp_path: Path) -> None:
    """Board lines 12 and 57: exit 0 where all is well, 30 with file, line and remedy otherwise, and where governance is off."""
    done = inside("truth", "validate", "--strict", cwd=project)
    assert (done.returncode, done.stdout) == (0, "valid   revision 4, strict\n")
    write(project, f"{TRUTH}/vision.yaml", "version: 1\nrevision: 4\nowner: ann\nupdated_at: now\nvisions: []\n")
    done = inside("truth", "validate", "--strict", cwd=project)
    assert done.returncode == 30
    assert f"error: {TRUTH}/vision.yaml:4: updated_at is not a time in UTC\n  fix: Write" in done.stdout
    data = json.loads(inside("truth", "validate", "--strict", "--json", cwd=project).stdout)
    assert data["status"] == "FAIL"
    assert [one["line"] for one in data["faults"] if one["file"] == f"{TRUTH}/vision.yaml"] == [None, 4]
    done = inside("truth", "validate", cwd=tmp_path)
    assert done.returncode == 30
    assert "queue init --governance" in done.stderr


def test_truth_impact_prints_what_the_gate_asks_for_core_impact_without_override_is_for_a_person(project: Path) -> None:
    """Board lines 59 and 62: base and head are commits, whatever they were called; exit 10, and the reason is told."""
    base = commit(project)
    write(project, "bye.txt", "bye\n" * 6)
    head = commit(project)
    done = inside("truth", "impact", "--base", "HEAD~1", "--head", "main", "--json", cwd=project)
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert (data["kind"], data["base"], data["head"]) == ("change_impact", base, head)
    assert set(data["impacted"]) == {"visions", "pillars", "objectives", "outcomes", "capabilities", "scenarios"}
    assert json.loads(inside("truth", "impact", "--json", cwd=project).stdout) == data, "by default the last commit"
    words = ("truth", "impact", "--changed-file", "hello.txt")
    assert inside(*words, cwd=project).returncode == 0
    done = inside(*words, "--enforce-layer-guard", cwd=project)
    assert done.returncode == 10
    assert "refused: the core layer is concerned, and no override is active" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("truth", "impact", "--base", "HEAD", "--changed-file", "a"),
        ("scenario", "run", "--base", "HEAD"),
        ("scenario", "run", "--only", "nowhere", "--dry-run"),
        ("scenario", "run", "--ticket", "../x", "--dry-run"),
        ("scenario", "run", "--timeout", "0"),
        ("truth",),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(project: Path, words: tuple[str, ...]) -> None:
    """Board lines 59, 72: exit 2."""
    assert inside(*words, cwd=project).returncode == 2


def test_compile_and_check_only_below_the_root_that_the_variable_names(project: Path) -> None:
    """Board line 72: exit 30 where a copy is out of date or edited."""
    assert inside("scenario", "compile", "--check-only", cwd=project).returncode == 30
    assert "in order: 2 scenarios" in inside("scenario", "compile", cwd=project).stdout
    assert inside("scenario", "compile", "--check-only", cwd=project).returncode == 0
    copy = project / ".sigee/.runtime/dag/scenarios/hello.scenario.yml"
    copy.write_text("id: hello\n")
    done = inside(*RUN, "--trust-commands", cwd=project)
    assert done.returncode == 30
    assert "this copy was edited" in done.stdout
    assert "1 fault; nothing was run" in done.stdout
    assert inside("scenario", "compile", cwd=project, env={"SIGEE_RUNTIME_ROOT": "run/time"}).returncode == 0
    assert (project / "run/time/dag/scenarios/hello.scenario.yml").is_file()


def test_commands_of_scenarios_run_only_after_a_persons_word(project: Path) -> None:
    """Board line 71: untrusted like a document's commands; approved by digest, and asked again when one changes."""
    marked = {"impl_run": "touch ran.txt"}
    write_scenario(project, HELLO, **marked)
    done = inside(*RUN, cwd=project)
    assert done.returncode == 10
    assert "commands of the scenario catalogue wait for approval" in done.stderr
    assert "--trust-commands" in done.stderr
    assert not (project / "ran.txt").exists()
    assert inside(*RUN, "--trust-commands", cwd=project).returncode == 0
    assert (project / "ran.txt").exists()
    assert inside(*RUN, cwd=project).returncode == 0, "what was approved is not asked for again"
    write_scenario(project, HELLO, impl_run="touch other.txt")
    assert inside(*RUN, cwd=project).returncode == 10
    assert not (project / "other.txt").exists()


def test_a_run_prints_each_step_and_its_end(project: Path) -> None:
    """Board lines 71, 72: what proves nothing is said; a failure ends with 30."""
    write_scenario(project, HELLO, red_run="test -f hello.txt")
    done = inside(*RUN, "--trust-commands", "--ticket", "T-1", cwd=project)
    assert done.returncode == 0
    assert "hello_red proves nothing: it already passes before the work" in done.stdout
    assert "PASS   31 of 31 steps; evidence in .sigee/.runtime/evidence/dag/" in done.stdout
    write(project, "bye.txt", "so long\n")
    done = inside(*RUN, "--ticket", "T-1", "--json", cwd=project)
    data = json.loads(done.stdout)
    assert (done.returncode, data["status"], data["failed_node"]) == (30, "FAIL", "bye_unit_normal_1")
    assert data["file"].endswith("dag/state/T-1/last-run.json")


def test_a_run_of_what_changed_and_none_of_a_catalogue_with_faults(project: Path) -> None:
    """Board line 72: `--changed-only`, `--changed-file`; the path of a cycle is printed, exit 30."""
    write_scenario(project, HELLO, linked_nodes="bye", changed_paths="src/**")
    commit(project)
    assert "nothing to run" in inside(*RUN, "--changed-file", "notes.md", cwd=project).stdout
    done = inside(*RUN, "--changed-file", "bye.txt", "--dry-run", cwd=project)
    assert "bye_red" in done.stdout
    done = inside(*RUN, "--changed-only", "--dry-run", cwd=project)
    assert "hello_red" in done.stdout
    assert "nothing was run" in done.stdout
    write_scenario(project, HELLO, depends_on="bye")
    write_scenario(project, BYE, depends_on="hello")
    done = inside(*RUN, "--trust-commands", cwd=project)
    assert done.returncode == 30
    assert "bye -> hello -> bye" in done.stdout


def test_steps_run_in_the_sandbox(project: Path) -> None:
    """Board line 71: a command writes to the project and nowhere else, where a fence works here."""
    from santiago.process.sandbox import detect

    if detect("auto").kind == "none":
        pytest.skip("no sandbox works on this machine")
    outside = project.parent / "outside.txt"
    write_scenario(project, HELLO, impl_run=f"touch {outside}; touch inside.txt")
    done = inside("scenario", "run", "--trust-commands", "--only", "hello_impl", cwd=project)
    assert (project / "inside.txt").exists(), done.stdout + done.stderr
    assert not outside.exists()


def test_a_run_on_a_commit_stands_in_its_own_checkout(project: Path) -> None:
    """Board lines 54, 60: what would be accepted is a commit, whatever stands in the working tree; its results open the gate."""
    from santiago.board.governance.governance_gate import Change, missing

    write(project, f"{TRUTH}/core-overrides.yaml", OVERRIDE)
    base = commit(project)
    write(project, "bye.txt", "bye\n" * 6)
    head = commit(project)
    write(project, "bye.txt", "so long\n")
    done = inside(*RUN, "--trust-commands", "--trust-project", "--ticket", "T-1", "--at", head, "--json", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(done.stdout)
    assert (data["status"], data["commit"], data["clean"]) == ("PASS", head, True)
    assert missing(project, project / ".sigee/.runtime", Change(ticket="T-1", base=base, head=head, evidence=())) == ()
    assert (project / "bye.txt").read_text() == "so long\n"


def test_a_commit_whose_steps_change_its_files_is_no_clean_one(project: Path) -> None:
    """Board line 60: tests of files that a step wrote are not tests of the commit."""
    write_scenario(project, HELLO, impl_run="echo more >> hello.txt")
    head = commit(project)
    done = inside(*RUN, "--trust-commands", "--trust-project", "--at", head, "--json", cwd=project)
    assert json.loads(done.stdout)["clean"] is False
