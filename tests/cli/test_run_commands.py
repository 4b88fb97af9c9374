"""Runs through the real program: real git, real checks, the scripted agent."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, looks, out_dir, says
from tests.cli.santiago import trusted

PRD = greeter.PRD.replace("grep both both.txt", "cat hello.txt bye.txt | diff - both.txt")
"""The last story builds on what the others did, not only on their being done."""

GOOD = """\
stories:
  R1: [{write: {hello.txt: "hello\\n"}, tokens: 5}]
  R2: [{write: {bye.txt: "godbye\\n"}, tokens: 5}, {write: {bye.txt: "goodbye\\n"}, tokens: 7}]
  R3: [{write: {both.txt: "hello\\ngoodbye\\n"}, tokens: 5}]
"""

BAD = GOOD.replace("goodbye\\n", "bad\\n").replace(
    "tokens: 7}", "tokens: 7}, {write: {bye.txt: x}}, {write: {bye.txt: y}}"
)

SCRIPTED = ("run", "prd.md", "--agent", "scripted", "--playbook", "play.yaml")

pytestmark = pytest.mark.xdist_group("run_commands")


def make(folder: Path, play: str = GOOD, prd: str = PRD) -> Path:
    return greeter.committed(folder / "repo", {"prd.md": prd, "play.yaml": play})


def run(repo: Path, *more: str | Path, code: int = 0) -> str:
    done = says(repo, *SCRIPTED, "--trust-commands", *more)
    assert done.returncode == code, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = make(tmp_path_factory.mktemp("built"))
    shown = run(repo, "--jobs", "1")
    assert f"git merge santiago/{out_dir(repo).name}" in shown
    return repo


@pytest.fixture(scope="module")
def exhausted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = make(tmp_path_factory.mktemp("exhausted"), BAD)
    run(repo, code=30)
    return repo


def result(repo: Path) -> Any:
    return json.loads((out_dir(repo) / "result.json").read_bytes())


def events(repo: Path) -> list[dict[str, Any]]:
    lines = (out_dir(repo) / "progress.ndjson").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def story_events(repo: Path, phase: str) -> list[object]:
    return [event["story_id"] for event in events(repo) if event["phase"] == phase and event["story_id"]]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_run_builds_the_branch_story_by_story(built: Path, tmp_path: Path, jobs: int) -> None:
    repo = built
    if jobs == 3:
        repo = make(tmp_path)
        run(repo, "--jobs", "3")
    branch = f"santiago/{out_dir(repo).name}"
    told = git(repo, "log", "--format=%s", f"main..{branch}").splitlines()
    assert told == ["S3: Both", "S2: Say goodbye", "S1: Say hello"]
    assert git(repo, "show", f"{branch}:both.txt") == "hello\ngoodbye"
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert sorted(map(str, story_events(repo, "running"))) == ["S1", "S2", "S2", "S3"]
    assert not (repo / "hello.txt").exists(), "the user's own tree is never touched"


def test_the_result_says_what_it_cost_a_critique_is_quoted_and_going_on_changes_nothing(built: Path) -> None:
    told = result(built)
    assert (told["status"], told["reason"], told["next_action"]) == ("success", None, "open_pr")
    stories = [(story["id"], story["status"], story["attempts"]) for story in told["stories"]]
    assert stories == [("S1", "done", 1), ("S2", "done", 2), ("S3", "done", 1)]
    summary = {name: number for name, number in told["summary"].items() if number}
    assert summary == {"completed": 3, "shown": 3, "criteria": 3, "criteria_shown": 3}
    assert told["usage"]["tokens"] == 22
    assert told["head"]["seq"] == events(built)[-1]["seq"]
    before = (out_dir(built) / "progress.ndjson").read_bytes()
    assert says(built, "resume", out_dir(built)).returncode == 0
    assert (out_dir(built) / "progress.ndjson").read_bytes() == before
    attempts = out_dir(built) / "attempts" / "S2"
    assert "grep goodbye bye.txt" in (attempts / "1" / "critique.md").read_text()
    assert "exit code 1" in (attempts / "2" / "prompt.md").read_text()
    assert (attempts / "2" / "critique.md").read_text() == ""
    assert git(built, "rev-parse", f"refs/santiago/{out_dir(built).name}/S2/1"), "the failed attempt's work is kept"


def test_an_exhausted_story_fails_the_run_and_more_attempts_reopen_it(exhausted: Path, tmp_path: Path) -> None:
    repo = greeter.copied(exhausted, tmp_path)
    told = result(repo)
    assert (told["reason"], told["next_action"], told["summary"]["failed"]) == (
        "attempt_budget_exhausted", "raise_budget", 1,
    )  # fmt: skip
    refused = says(repo, "resume")
    assert (refused.returncode, "--add-attempts" in refused.stderr) == (30, True)
    (repo / "play.yaml").write_text(GOOD)
    says(repo, "resume", "--add-attempts", "2", "--hint", "S2", "spell it right", code=0)
    assert "spell it right" in (out_dir(repo) / "attempts" / "S2" / "5" / "prompt.md").read_text()
    assert [e["context"]["amount"] for e in events(repo) if e["event"] == "budget_raised"] == [2, 2]
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert result(repo)["status"] == "success"


def by_hand(repo: Path, branch: str, text: str) -> None:
    """Put a person's own work on a branch that begins where the run's stands."""
    git(repo, "checkout", "-q", "-b", branch, f"santiago/{out_dir(repo).name}")
    (repo / "bye.txt").write_text(text)
    git(repo, "add", "bye.txt")
    git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "checkout", "-q", "main")


def test_own_work_that_fails_starts_no_agent_although_attempts_are_left(tmp_path: Path) -> None:
    repo = make(tmp_path)
    run(repo, "--only", "S1")
    by_hand(repo, "mine", "gudbye\n")
    says(repo, "verify", "S2", "--from", "mine", code=30)
    assert story_events(repo, "running").count("S2") == 1


def test_a_tick_in_the_document_is_a_claim_that_its_checks_decide(tmp_path: Path) -> None:
    """Proof, not promise: claimed work that is there costs no attempt, claimed work that is not is an ordinary story."""
    claims = {"prd.md": PRD.replace("- [ ]", "- [x]"), "play.yaml": GOOD, "hello.txt": "hello\n"}
    repo = greeter.committed(tmp_path / "repo", claims)
    run(repo)
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert [name for name in ("S1", "S2", "S3") if name in story_events(repo, "running")] == ["S2", "S3"]


def test_interrupted_twice_it_stops_at_once_and_resume_ends_like_an_uninterrupted_run(tmp_path: Path) -> None:
    repo = make(tmp_path, GOOD.replace("R3: [{", "R3: [{seconds: 60, "))
    command = [sys.executable, "-m", "santiago", *trusted(*SCRIPTED, "--trust-commands", "--json")]
    env = {**os.environ, **greeter.place(repo)}
    with subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        told = map(json.loads, process.stdout)
        assert any(one.get("event") == "attempt_started" and one["story_id"] == "S3" for one in told)
        process.send_signal(signal.SIGINT)
        assert any(one.get("event") == "stop_requested" for one in told)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    (repo / "play.yaml").write_text(GOOD)
    assert says(repo, "resume").returncode == 0
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert git(repo, "show", f"santiago/{out_dir(repo).name}:both.txt") == "hello\ngoodbye"


def test_chunks_run_alone_and_the_rest_later_and_a_dry_run_runs_nothing(tmp_path: Path) -> None:
    repo = make(tmp_path)
    dry = looks(repo, *SCRIPTED, "--dry-run")
    assert (dry.returncode, "$ grep hello hello.txt" in dry.stdout) == (0, True)
    assert not list((repo / ".santiago").glob("runs/*/progress.ndjson"))
    run(repo, "--chunks", "1")
    assert story_events(repo, "done") == ["S1", "S2"]
    scope = json.loads((out_dir(repo) / "tasks" / "plan.json").read_bytes())["execution_scope"]
    assert scope["chunk"] == "Phase 1: Words"
    assert says(repo, "resume").returncode == 0
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
