"""A start that is refused leaves no run behind, and a plan that was never begun is called just that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.conftest import Done
from tests.cli.greeter import looks
from tests.cli.inside import inside

BARE = "# PRD\n\n### R1: Something\n\n- [ ] it is there\n\n### R2: More\n\n- [ ] it is there, too\n"


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A repository with a plan that nothing checks, and a start of it that was refused."""
    repo = greeter.committed(tmp_path / "repo", {"prd.md": BARE})
    assert looks(repo, "plan", "prd.md").returncode == 0
    folder = greeter.out_dir(repo)
    began = ("--input", folder / "run-input.json", "--plan", folder / "plan.json", "--out-dir", folder)
    refused = looks(repo, "execute", *began, "--sandbox", "off")
    assert (refused.returncode, "nothing checks S1" in refused.stderr) == (30, True)
    return repo


def test_a_plan_whose_start_was_refused_is_planned_and_not_begun(planned: Path) -> None:
    """Also where an older santiago left an empty log."""
    folder = greeter.out_dir(planned)
    assert not (folder / "progress.ndjson").exists()
    for _ in ("no log", "an empty one"):
        shown = looks(planned, "status", folder)
        assert (shown.returncode, "   planned   resumable: yes" in shown.stdout) == (0, True)
        told = json.loads(looks(planned, "status", folder, "--json").stdout)
        assert (told["state"], told["needs"], told["last_event"]) == ("planned", [], None)
        audited = looks(planned, "audit", folder)
        assert (audited.returncode, "has not begun" in audited.stderr) == (30, True)
        logged = looks(planned, "log", folder)
        assert (logged.returncode, logged.stdout, "has not begun" in logged.stderr) == (0, "", True)
        (folder / "progress.ndjson").touch()


def test_a_run_that_could_not_begin_is_none(tmp_path: Path) -> None:
    """Neither for want of an agent nor for want of approval of the document's commands."""
    repo = greeter.make(tmp_path / "repo")
    for words in (("--agent", "no-such-agent arg"), ("--agent", "sh -c true", "--no-input")):
        refused = looks(repo, "run", "prd.md", *words)
        assert refused.returncode in (10, 20), refused.stderr
        told = looks(repo, "status")
        assert (told.returncode, "no run yet" in told.stderr) == (2, True)
        assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


def test_a_result_whose_log_was_emptied_is_damage_and_no_plan(success: Done, tmp_path: Path) -> None:
    repo = greeter.copied(success.repo, tmp_path)
    (greeter.out_dir(repo) / "progress.ndjson").write_bytes(b"")
    audited = looks(repo, "audit")
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
    missing = looks(repo, "run", "prd.md", "--agent", "scripted", "--trust-commands")
    assert (missing.returncode, "--playbook FILE" in missing.stderr) == (2, True), missing.stderr
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))
