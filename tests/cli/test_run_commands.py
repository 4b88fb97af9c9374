"""Runs through the real program: real git, real checks, the scripted agent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, out_dir
from tests.cli.santiago import santiago, trusted

PRD = greeter.PRD.replace("grep both both.txt", "cat hello.txt bye.txt | diff - both.txt")
"""The last story builds on what the others did, not only on their being done."""

GOOD = """\
stories:
  R1: [{write: {hello.txt: "hello\\n"}, tokens: 5}]
  R2: [{write: {bye.txt: "godbye\\n"}, tokens: 5}, {write: {bye.txt: "goodbye\\n"}, tokens: 7}]
  R3: [{write: {both.txt: "hello\\ngoodbye\\n"}, tokens: 5}]
"""

BAD = GOOD.replace("goodbye\\n", "bad\\n")

SCRIPTED = ("run", "prd.md", "--agent", "scripted", "--playbook", "play.yaml")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return greeter.committed(tmp_path / "repo", {"prd.md": PRD, "play.yaml": GOOD})


def run(repo: Path, *more: str | Path, code: int = 0) -> str:
    done = santiago(*SCRIPTED, "--trust-commands", *more, cwd=repo)
    assert done.returncode == code, done.stderr
    return done.stderr


def events(repo: Path) -> list[dict[str, object]]:
    lines = (out_dir(repo) / "progress.ndjson").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def story_events(repo: Path, phase: str) -> list[object]:
    return [event["story_id"] for event in events(repo) if event["phase"] == phase and event["story_id"]]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_run_builds_the_branch_story_by_story_and_says_how_to_merge_it(repo: Path, jobs: str) -> None:
    shown = run(repo, "--jobs", jobs)
    branch = f"santiago/{out_dir(repo).name}"
    assert f"git merge {branch}" in shown
    assert git(repo, "log", "--format=%s", f"main..{branch}").splitlines() == [
        "S3: Both",
        "S2: Say goodbye",
        "S1: Say hello",
    ]
    assert git(repo, "show", f"{branch}:both.txt") == "hello\ngoodbye"
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert sorted(map(str, story_events(repo, "running"))) == ["S1", "S2", "S2", "S3"]
    assert not (repo / "hello.txt").exists(), "the user's own tree is never touched"


def test_the_result_says_what_came_of_it_and_what_it_cost(repo: Path) -> None:
    run(repo)
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (result["status"], result["reason"], result["next_action"]) == ("success", None, "open_pr")
    assert [(story["id"], story["status"], story["attempts"]) for story in result["stories"]] == [
        ("S1", "done", 1),
        ("S2", "done", 2),
        ("S3", "done", 1),
    ]
    assert result["summary"] == {"completed": 3, "failed": 0, "blocked": 0, "skipped": 0}
    assert result["usage"]["tokens"] == 22
    assert result["head"]["seq"] == events(repo)[-1]["seq"]


def test_a_failed_attempt_leaves_a_critique_that_the_next_prompt_quotes(repo: Path) -> None:
    run(repo)
    attempts = out_dir(repo) / "attempts" / "S2"
    assert "grep goodbye bye.txt" in (attempts / "1" / "critique.md").read_text()
    assert "exit code 1" in (attempts / "2" / "prompt.md").read_text()
    assert (attempts / "2" / "critique.md").read_text() == ""
    assert git(repo, "rev-parse", f"refs/santiago/{out_dir(repo).name}/S2/1"), "the failed attempt's work is kept"


def test_an_exhausted_story_fails_the_run_and_more_attempts_reopen_it(repo: Path) -> None:
    (repo / "play.yaml").write_text(
        BAD.replace(
            "tokens: 7}", 'tokens: 7}, {write: {bye.txt: x}}, {write: {bye.txt: y}}, {write: {bye.txt: "goodbye\\n"}}'
        )
    )
    shown = run(repo, code=30)
    assert "attempt_budget_exhausted" in shown
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (result["next_action"], result["summary"]["failed"]) == ("raise_budget", 1)
    refused = santiago("resume", cwd=repo)
    assert refused.returncode == 30
    assert "--add-attempts" in refused.stderr
    (repo / "play.yaml").write_text(GOOD)
    again = santiago("resume", "--add-attempts", "2", "--hint", "S2", "spell it right", cwd=repo)
    assert again.returncode == 0, again.stderr
    assert "spell it right" in (out_dir(repo) / "attempts" / "S2" / "5" / "prompt.md").read_text()
    assert [e["context"]["amount"] for e in events(repo) if e["event"] == "budget_raised"] == [2, 2]  # type: ignore[index]
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert (out_dir(repo) / "result.json").exists()


def test_resuming_a_finished_run_is_a_clear_no_op(repo: Path) -> None:
    run(repo)
    before = (out_dir(repo) / "progress.ndjson").read_bytes()
    done = santiago("resume", out_dir(repo), cwd=repo)
    assert done.returncode == 0
    assert (out_dir(repo) / "progress.ndjson").read_bytes() == before


def test_a_skipped_story_is_left_out_and_the_run_goes_on(repo: Path) -> None:
    (repo / "play.yaml").write_text(BAD)
    run(repo, code=30)
    left_out = santiago("skip", "S2", "--why", "not needed", cwd=repo)
    assert left_out.returncode == 0
    assert re.search(r"left out S2 [^:]+: not needed\n", left_out.stderr)
    assert "santiago explain S2" not in left_out.stderr, "nobody waits for it"
    done = santiago("resume", "--hint", "S3", "without a goodbye", cwd=repo)
    assert story_events(repo, "done")[:1] == ["S1"], done.stderr
    assert "S3" in story_events(repo, "running"), "its dependent is no longer held up"
    assert "S2" not in story_events(repo, "done")


def test_a_person_s_own_work_is_judged_like_any_other_and_integrated(repo: Path) -> None:
    (repo / "play.yaml").write_text(BAD)
    run(repo, code=30)
    git(repo, "checkout", "-q", "-b", "mine", f"santiago/{out_dir(repo).name}")
    for name, text in (("wrong", "gudbye\n"), ("right", "goodbye\n")):
        (repo / "bye.txt").write_text(text)
        git(repo, "add", "bye.txt")
        git(repo, "commit", "-q", "-m", "By hand")
        git(repo, "branch", name)
    git(repo, "checkout", "-q", "main")
    assert santiago("verify", "S2", "--from", "nowhere", cwd=repo).returncode == 2
    santiago("verify", "S2", "--from", "wrong", cwd=repo)
    assert "S2" not in story_events(repo, "done")
    done = santiago("verify", "S2", "--from", "right", cwd=repo)
    assert "S2" in story_events(repo, "done"), done.stderr
    assert git(repo, "show", f"santiago/{out_dir(repo).name}:bye.txt") == "goodbye"


def test_own_work_that_fails_starts_no_agent_although_attempts_are_left(repo: Path) -> None:
    run(repo, "--only", "S1")
    git(repo, "checkout", "-q", "-b", "mine", f"santiago/{out_dir(repo).name}")
    (repo / "bye.txt").write_text("gudbye\n")
    git(repo, "add", "bye.txt")
    git(repo, "commit", "-q", "-m", "By hand")
    git(repo, "checkout", "-q", "main")
    judged = santiago("verify", "S2", "--from", "mine", cwd=repo)
    assert judged.returncode == 30, judged.stderr
    assert story_events(repo, "running").count("S2") == 1


def test_a_tick_in_the_document_is_a_claim_that_its_checks_decide(repo: Path) -> None:
    """Proof, not promise: claimed work that is there costs no attempt, claimed work that is not is an ordinary story."""
    (repo / "prd.md").write_text(PRD.replace("- [ ]", "- [x]"))
    (repo / "hello.txt").write_text("hello\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "The first story is there, the document claims all")
    run(repo)
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert [name for name in ("S1", "S2", "S3") if name in story_events(repo, "running")] == ["S2", "S3"]


def test_commands_of_the_document_wait_for_approval(repo: Path) -> None:
    done = santiago(*SCRIPTED, cwd=repo)
    assert done.returncode == 10
    assert "--trust-commands" in done.stderr


def test_a_story_without_any_check_is_refused_before_the_first_attempt(repo: Path) -> None:
    (repo / "prd.md").write_text("# PRD\n\n### R1: Something\n\n- [ ] it is there\n")
    done = santiago(*SCRIPTED, cwd=repo)
    assert done.returncode == 30
    assert "nothing checks S1" in done.stderr


def test_interrupted_twice_it_stops_at_once_and_resume_ends_like_an_uninterrupted_run(repo: Path) -> None:
    (repo / "play.yaml").write_text(GOOD.replace("R3: [{", "R3: [{seconds: 60, "))
    command = [sys.executable, "-m", "santiago", *trusted(*SCRIPTED, "--trust-commands", "--json")]
    with subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event.get("event") == "attempt_started" and event["story_id"] == "S3":
                break
        process.send_signal(signal.SIGINT)
        for line in process.stdout:
            if json.loads(line).get("event") == "stop_requested":
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    (repo / "play.yaml").write_text(GOOD)
    assert santiago("resume", cwd=repo).returncode == 0
    assert story_events(repo, "done") == ["S1", "S2", "S3"]
    assert git(repo, "show", f"santiago/{out_dir(repo).name}:both.txt") == "hello\ngoodbye"


def test_chunks_run_alone_and_the_rest_later(repo: Path) -> None:
    run(repo, "--chunks", "1")
    assert story_events(repo, "done") == ["S1", "S2"]
    scope = json.loads((out_dir(repo) / "tasks" / "plan.json").read_bytes())["execution_scope"]
    assert scope["chunk"] == "Phase 1: Words"
    assert santiago("resume", cwd=repo).returncode == 0
    assert story_events(repo, "done") == ["S1", "S2", "S3"]


def test_a_question_stays_open_until_it_is_answered_and_the_answer_reaches_the_agent(repo: Path) -> None:
    (repo / "play.yaml").write_text(GOOD.replace("R1: [{write", 'R1: [{ask: "Loud or quiet?"}, {write'))
    shown = run(repo, code=10)
    assert "Loud or quiet?" in shown
    assert santiago("answer", "S1-1", "Quiet, please", cwd=repo).returncode == 0
    second = santiago("answer", "S1-1", "Loud!", cwd=repo)
    assert second.returncode == 30
    assert "first answer counts" in second.stderr
    assert santiago("resume", cwd=repo).returncode == 0
    prompt = (out_dir(repo) / "attempts" / "S1" / "2" / "prompt.md").read_text()
    assert "Quiet, please" in prompt
    assert "Loud!" not in prompt


def test_a_dry_run_shows_every_story_with_its_checks_and_runs_nothing(repo: Path) -> None:
    done = santiago(*SCRIPTED, "--dry-run", cwd=repo)
    assert done.returncode == 0
    assert "$ grep hello hello.txt" in done.stdout
    assert not list((repo / ".santiago").glob("runs/*/progress.ndjson"))
