"""A start that is refused leaves no run behind, and a plan that was never begun is called just that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    from pathlib import Path

BARE = "# PRD\n\n### R1: Something\n\n- [ ] it is there\n\n### R2: More\n\n- [ ] it is there, too\n"


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A repository with a plan that nothing checks, and a start of it that was refused."""
    repo = greeter.committed(tmp_path / "repo", {"prd.md": BARE})
    assert santiago("plan", "prd.md", cwd=repo, env=greeter.place(repo)).returncode == 0
    folder = greeter.out_dir(repo)
    began = ("--input", folder / "run-input.json", "--plan", folder / "plan.json", "--out-dir", folder)
    refused = santiago("execute", *began, "--sandbox", "off", cwd=repo, env=greeter.place(repo))
    assert (refused.returncode, "nothing checks S1" in refused.stderr) == (30, True)
    return repo


@pytest.mark.parametrize("empty", [False, True])
def test_a_plan_whose_start_was_refused_is_planned_and_not_begun(planned: Path, empty: bool) -> None:
    """Also where an older santiago left an empty log."""
    folder, env = greeter.out_dir(planned), greeter.place(planned)
    assert not (folder / "progress.ndjson").exists()
    if empty:
        (folder / "progress.ndjson").touch()
    shown = santiago("status", folder, cwd=planned, env=env)
    assert (shown.returncode, "   planned   resumable: yes" in shown.stdout) == (0, True)
    told = json.loads(santiago("status", folder, "--json", cwd=planned, env=env).stdout)
    assert (told["state"], told["needs"], told["last_event"]) == ("planned", [], None)
    audited = santiago("audit", folder, cwd=planned, env=env)
    assert (audited.returncode, "has not begun" in audited.stderr) == (30, True)
    logged = santiago("log", folder, cwd=planned, env=env)
    assert (logged.returncode, logged.stdout, "has not begun" in logged.stderr) == (0, "", True)


@pytest.mark.parametrize("words", [("--agent", "no-such-agent arg"), ("--agent", "sh -c true", "--no-input")])
def test_a_run_that_could_not_begin_is_none(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Neither for want of an agent nor for want of approval of the document's commands."""
    repo = greeter.make(tmp_path / "repo")
    refused = santiago("run", "prd.md", *words, cwd=repo, env=greeter.place(repo))
    assert refused.returncode in (10, 20), refused.stderr
    told = santiago("status", cwd=repo, env=greeter.place(repo))
    assert (told.returncode, "no run yet" in told.stderr) == (2, True)
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


def test_a_result_whose_log_was_emptied_is_damage_and_no_plan(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    assert greeter.carry_out(repo).returncode == 0
    (greeter.out_dir(repo) / "progress.ndjson").write_bytes(b"")
    audited = santiago("audit", cwd=repo, env=greeter.place(repo))
    assert (audited.returncode, "log_cut" in audited.stdout) == (30, True)


def test_a_plan_that_was_edited_does_not_begin_and_can_be_planned_as_it_is_now(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    env = greeter.place(repo)
    assert inside("plan", "prd.md", cwd=repo, env=env).returncode == 0
    folder = greeter.out_dir(repo)
    plan = folder / "plan.json"
    plan.write_text(plan.read_text().replace("Say hello", "Say hi"))
    began = ("--input", folder / "run-input.json", "--plan", plan, "--out-dir", tmp_path / "other")
    for words in (("execute", *began), ("execute", *began, "--dry-run"), ("resume",), ("skip", "S1", "--why", "no")):
        told = inside(*words, cwd=repo, env=env)
        assert (told.returncode, "edited after it was written" in told.stderr) == (30, True), told.stderr
    assert not (folder / "progress.ndjson").exists()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["result.json"]
    assert inside("plan", "prd.md", "--check", cwd=repo, env=env).returncode == 3
    *_, hint = told.stderr.split("fix: ")
    _, as_edited, _, anew, _ = hint.split("`")
    assert inside(*as_edited.split()[1:], cwd=repo, env=env).returncode == 0
    (other,) = {*folder.parent.iterdir()} - {folder}
    assert json.loads((other / "plan.json").read_bytes())["stories"][0]["title"] == "Say hi"
    assert inside("resume", other, "--dry-run", cwd=repo, env=env).returncode == 0
    assert inside(*anew.split()[1:], cwd=repo, env=env).returncode == 0
    assert inside("resume", folder, "--dry-run", cwd=repo, env=env).returncode == 0


def test_a_playbook_that_cannot_be_played_begins_no_run(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo", "stories: {R1: {write: {a: 5}}}\n")
    refused = greeter.carry_out(repo)
    assert (refused.returncode, "playbook.yaml" in refused.stderr) == (30, True), refused.stderr
    assert "R1, attempt 1: write must be" in refused.stderr
    (repo / "santiago.toml").unlink()
    refused = santiago("run", "prd.md", "--agent", "scripted", "--trust-commands", cwd=repo, env=greeter.place(repo))
    assert (refused.returncode, "--playbook FILE" in refused.stderr) == (2, True), refused.stderr
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))
