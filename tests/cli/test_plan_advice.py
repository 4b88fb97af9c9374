"""What `plan` and the demo say last is a command that works where the person stands."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.inside import inside

ROOT = Path(__file__).parents[2]
PRD = "# PRD: Notes\n\n### R1: One\n\n- [ ] there is one\n\n### R2: Two\n\n- [ ] there are two\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    settings = (
        '[verification]\nstory_commands = ["test -f one.txt"]\n[agent]\nmode = "scripted"\nplaybook = "play.yaml"\n'
    )
    files = {"prd.md": PRD, "play.yaml": 'stories: {R1: [{write: {one.txt: "x"}}]}\n', "santiago.toml": settings}
    return greeter.committed(tmp_path / "repo", files)


def last(shown: str) -> list[str]:
    line = shown.splitlines()[-1]
    assert line.startswith("next: santiago "), shown
    return shlex.split(line.removeprefix("next: santiago "))


@pytest.mark.parametrize(("place", "stand"), [(None, "."), (None, "docs"), ("my plan", "."), ("../out", "docs")])
def test_the_last_line_of_a_plan_is_a_command_that_begins_it(place: str | None, stand: str, repo: Path) -> None:
    (repo / "docs").mkdir()
    here = repo / stand
    more = ("--out-dir", place) if place else ()
    command = last(inside("plan", repo / "prd.md", *more, cwd=here).stdout)
    assert command[0] == ("resume" if place else "run")
    done = inside(*command, "--dry-run", "--sandbox", "off", cwd=here)
    assert (done.returncode, "would run 2 stories" in done.stdout) == (0, True), done.stderr


def test_a_plan_without_a_check_begins_anew_with_one(repo: Path) -> None:
    settings = (repo / "santiago.toml").read_text()
    (repo / "santiago.toml").write_text(settings.partition("[agent]")[1] + settings.partition("[agent]")[2])
    inside("plan", "prd.md", cwd=repo)
    shown = inside("status", cwd=repo).stdout
    assert shown.endswith('next: santiago run prd.md --verify "CMD"   # begin anew with a check; this plan has none\n')
    (repo / "santiago.toml").write_text(settings)  # comes too late for this plan
    refused = inside("resume", cwd=repo)
    assert (refused.returncode, 'start anew: `santiago run prd.md --verify "CMD"`.' in refused.stderr) == (30, True)


def test_a_plan_in_a_folder_of_its_own_is_no_run_of_the_repository(repo: Path) -> None:
    inside("plan", "prd.md", "--out-dir", "docs/plan", cwd=repo)
    assert inside("status", cwd=repo).returncode == 2


def test_a_program_is_told_to_execute_its_own_run_input(repo: Path, tmp_path: Path) -> None:
    data = {"contract_version": 1, "repo_path": "repo", "prd_path": "prd.md", "agent": {"mode": "scripted"}}
    check = {"verification": {"story_commands": ["test -f one.txt"]}}
    (tmp_path / "in.json").write_text(
        json.dumps({**data, **check, "agent": {"mode": "scripted", "playbook": "play.yaml"}})
    )
    command = last(inside("plan", "--input", "in.json", "--out-dir", "out", cwd=tmp_path).stdout)
    assert command == ["execute", "--input", "in.json", "--plan", "out/plan.json", "--out-dir", "out"]
    assert inside(*command, "--dry-run", cwd=tmp_path).returncode == 0


def test_check_without_a_plan_says_that_there_is_none_and_with_a_kept_one_compares(repo: Path) -> None:
    done = inside("plan", "prd.md", "--check", cwd=repo)
    assert (done.returncode, "there is no plan to compare with" in done.stdout) == (3, True)
    kept = ("--out-dir", "docs/plan")
    command = last(inside("plan", "prd.md", *kept, "--check", cwd=repo).stdout)
    assert inside(*command, cwd=repo).returncode == 0
    (repo / "docs" / "plan" / "run-input.json").unlink()  # it is not kept in git
    assert inside("plan", "prd.md", *kept, "--check", cwd=repo).returncode == 0
    (repo / "prd.md").write_text(PRD.replace("two", "2"))
    changed = inside("plan", "prd.md", *kept, "--check", cwd=repo)
    assert (changed.returncode, "docs/plan/plan.json would change" in changed.stdout) == (3, True)


def test_the_demo_ends_with_a_command_that_can_be_pasted(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".venv" / "bin").mkdir(parents=True)
    shutil.copytree(ROOT / "examples", clone / "examples")
    program = clone / ".venv" / "bin" / "santiago"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m santiago "$@"\n')
    program.chmod(0o755)
    env = {**greeter.place(tmp_path / "x"), "HOME": str(tmp_path), "SANTIAGO_DEMO_DIR": str(tmp_path / "a demo")}
    ran = subprocess.run(
        ["sh", "examples/demo.sh"], cwd=clone, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    command = ran.stderr.splitlines()[-1].removeprefix("next: ")
    subprocess.run(["sh", "-c", command], cwd="/", env=env, capture_output=True, check=True)
    assert (tmp_path / "a demo" / "ledger" / "money.py").is_file()


def test_the_picture_of_a_plan_shows_what_the_program_says(tmp_path: Path) -> None:
    """Where this fails, `docs/images/make.py` draws it again."""
    files = ROOT / "examples" / "ledger"
    repo = greeter.committed(tmp_path / "repo", {"prd.md": (files / "prd.md").read_text()})
    shutil.copytree(files / "tests", repo / "tests")
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", (ROOT / "docs" / "images" / "plan.svg").read_text())
    shown = inside("plan", "prd.md", cwd=repo, env={"COLUMNS": "100"}).stdout
    assert words_of("".join(html.unescape(text) for text in drawn[1:])) == words_of(f"$ santiago plan prd.md {shown}")


def words_of(text: str) -> str:
    return re.sub(r"r_[0-9]{8}_[0-9]{6}", "RUN", "".join(text.split()))
