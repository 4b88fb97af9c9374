"""A run that rests says why, who asked for it, where to look and how to go on (promise 8)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from santiago.app.loading import load
from santiago.cli.view.table import Table
from tests.cli import words
from tests.cli.greeter import committed, out_dir, place
from tests.cli.santiago import santiago, trusted
from tests.cli.words import THERE, WRITES, look, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return words.make(tmp_path)


@pytest.mark.parametrize(
    ("flags", "because"),
    [
        (["--gate", "chunk"], "--gate chunk pauses after each chunk; Phase 2: Together is next"),
        (["--chunks", "1"], "the chunks that --chunks names are finished; Phase 2: Together is next"),
        (["--only", "S1"], "the stories that --only names are finished"),
        (["--only", "S2"], "S2 waits for S1"),
        (["--only", "S3"], "S3 waits for its chunk, and Phase 1: Apart comes before it"),
    ],
)
def test_a_start_that_was_to_do_less_says_why_it_rests(repo: Path, flags: list[str], because: str) -> None:
    ran = run(repo, WRITES, *flags)
    assert ran.returncode == 0
    assert f"\nbecause: {because}\n" in ran.stderr
    kept = " --gate chunk" if "--gate" in flags else ""
    assert ran.stderr.endswith(f"\nnext: santiago resume{kept}   # go on\n")


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_a_start_that_leaves_out_a_chunk_before_its_own_is_refused(repo: Path, dry: list[str]) -> None:
    refused = run(repo, WRITES, "--chunks", "2", *dry)
    assert refused.returncode == 2
    assert "Phase 2: Together cannot begin: S1, S2 of Phase 1: Apart must be done first" in refused.stderr
    assert "`--chunks 1..2`" in refused.stderr
    assert not list(repo.glob(".santiago/runs/*/progress.ndjson"))


def test_a_chunk_whose_turn_it_is_runs_alone(repo: Path) -> None:
    assert run(repo, WRITES, "--chunks", "1").returncode == 0
    resumed = santiago("resume", "--chunks", "2", cwd=repo, env=place(repo))
    assert (resumed.returncode, load(out_dir(repo)).state.phase) == (0, "success")


def test_going_on_is_suggested_with_as_many_jobs_as_before(repo: Path) -> None:
    assert "next: santiago resume --jobs 2   # go on\n" in run(repo, WRITES, "--only", "S1", "--jobs", "2").stderr


def test_going_on_is_suggested_with_the_flags_that_a_plain_resume_would_not_have(repo: Path) -> None:
    (repo / "santiago.toml").unlink()
    flags = ["--jobs", "2", "--gate", "chunk", "--keep-going", "--assume-external", "--sandbox", "off"]
    assert f"\nnext: santiago resume {' '.join(flags)}   # go on\n" in run(repo, WRITES, *flags).stderr


def test_going_on_is_suggested_with_the_agent_that_somebody_named_since(repo: Path) -> None:
    run(repo, WRITES, "--only", "S1")
    (repo.parent / "other.sh").write_text(WRITES)
    agent = f"sh {repo.parent / 'other.sh'}"
    said = santiago("resume", "--agent", agent, "--only", "S2", cwd=repo, env=place(repo)).stderr
    assert f"\nnext: santiago resume --agent '{agent}'   # go on\n" in said


@pytest.mark.parametrize("scope", ["--chunks 1", "--chunks 1..2", "--only S1"])
def test_a_start_that_failed_within_its_scope_is_suggested_with_that_scope(repo: Path, scope: str) -> None:
    said = run(repo, "exit 3\n", *scope.split(), limits="story_max_attempts = 1").stderr
    assert f" santiago resume --add-attempts 2 {scope}   # retry S1 " in said


def test_success_names_the_work_to_look_at_and_the_evidence(repo: Path) -> None:
    said = run(repo, WRITES).stderr
    evidence = f".santiago/runs/{out_dir(repo).name}"
    assert f"look: git diff HEAD...santiago/{out_dir(repo).name}   evidence in {evidence}\n" in said
    shown = subprocess.run(
        ["git", "diff", "--stat", f"HEAD...santiago/{out_dir(repo).name}"], cwd=repo, capture_output=True, text=True,
    )  # fmt: skip
    assert "3 files changed" in shown.stdout


class Stopped:
    """A run that somebody asks to stop while its first agent works; the agent goes on until `go` is there."""

    def __init__(self, repo: Path) -> None:
        self.repo, self.go = repo, repo.parent / "go"
        agent, begun = repo.parent / "agent.sh", repo.parent / "begun"
        os.mkfifo(begun)
        agent.write_text(f"echo > {begun}; until test -e {self.go}; do sleep 0.05; done; {WRITES}")
        arguments = ("run", "prd.md", "--agent", f"sh {agent}", "--verify", THERE, "--sandbox", "off")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "santiago", *trusted(*arguments)],
            cwd=repo, env={**os.environ, **place(repo)}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        begun.read_text()

    def asked(self, *words: str, actor: str) -> str:
        """Ask, let the agent end once that was heard, and return all that the run said from then on."""
        santiago("stop", *words, cwd=self.repo, env={**place(self.repo), "SANTIAGO_ACTOR": actor})
        with self.process as process:
            assert process.stderr is not None
            heard = next(line for line in process.stderr if " stopping " in line)
            self.go.touch()
            return heard + process.stderr.read()


def test_a_stop_says_who_asked_and_what_another_costs_and_that_the_work_is_kept(repo: Path) -> None:
    said = Stopped(repo).asked(actor="ann")
    assert "after the current step (S1, attempt 1), as ann asked; ctrl-c stops now, which costs an attempt" in said
    assert "because: ann asked it to stop\n" in said
    assert "work kept, judged on resume" in look(repo, "status", "--stories")
    assert "state      - stopped\n" in look(repo, "show", "S1")
    found = load(out_dir(repo))
    (row,) = Table(found.plan, found.run_input, found.out_dir, "sh", lambda: 0).rows(found.state, 100)
    assert row.split()[:2] == ["-", "S1"]
    assert row.endswith("stopped  work kept, judged on resume")


def test_a_stop_at_once_from_elsewhere_does_not_ask_for_a_second(repo: Path) -> None:
    said = Stopped(repo).asked("--now", actor="ann")
    assert "stopping now (S1, attempt 1), as ann asked, which costs an attempt; its work is kept\n" in said
    assert "ctrl-c" not in said


def test_what_came_while_a_run_rested_is_said_when_it_goes_on(repo: Path) -> None:
    run(repo, WRITES, "--only", "S1")
    folder = out_dir(repo)
    santiago("change", "S2", "--text", "in blue", cwd=repo, env=place(repo))
    (folder / "inbox/stop.json").write_text("{}")
    with (folder / "progress.ndjson").open("ab") as log:
        log.write(b'{"seq": 99')
    said = santiago("resume", "--sandbox", "off", cwd=repo, env=place(repo)).stderr
    assert "the last line of progress.ndjson was incomplete; it was moved to progress.torn.* beside the log\n" in said
    assert " change   S2: in blue\n" in said
    assert ' note     request put aside: inbox/stop.json: its "kind" is missing\n' in said
    assert " repaired the last line of the log was incomplete; its 10 bytes were moved to progress.torn." in look(
        repo, "log"
    )


APART = """\
# PRD: Apart

### R1: One

Depends on: EXT-7

**Files:** `S1.txt`

- [ ] one

### R2: Two

**Files:** `S2.txt`

- [ ] two
"""


def test_a_chosen_story_that_passed_says_for_whom_it_waits(tmp_path: Path) -> None:
    said = run(committed(tmp_path / "repo", {"prd.md": APART}), WRITES, "--only", "S2").stderr
    assert "because: S2 passed its checks and waits for S1 to go first\n" in said


def test_what_lies_outside_the_document_is_named_and_the_next_command_goes_on(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo", {"prd.md": APART})
    said = run(repo, WRITES).stderr
    assert (
        " blocked  S1 One: blocked_dependency: it depends on EXT-7. --assume-external assumes that it is there.\n"
        in said
    )
    assert "why        blocked_dependency: It depends on EXT-7, outside the document. (0 of 4 attempts)\n" in said
    assert "next: santiago resume --assume-external   # go on, and assume that EXT-7 is there\n" in said
    assert "needs you: S1 is blocked: it depends on EXT-7, outside the document.\n" in look(repo, "status")
    for command in ("show", "explain"):
        assert "It depends on EXT-7, outside the document.\n" in look(repo, command, "S1")
    going_on = ("resume", "--assume-external", "--sandbox", "off")
    assert santiago(*going_on, cwd=repo, env=place(repo)).returncode == 0


def test_a_story_is_chosen_and_hinted_at_by_either_of_its_ids_and_a_hint_that_nobody_would_hear_is_refused(
    repo: Path,
) -> None:
    assert "because: the stories that --only names are finished\n" in run(repo, WRITES, "--only", "R1").stderr
    late = santiago("resume", "--hint", "R1", "in blue", cwd=repo, env=place(repo))
    assert (late.returncode, "S1 is done, so no attempt will follow that could use the hint" in late.stderr) == (
        30,
        True,
    )
    hinted = ("resume", "--hint", "R2", "in blue", "--sandbox", "off")
    assert santiago(*hinted, cwd=repo, env=place(repo)).returncode == 0
    assert "in blue" in (out_dir(repo) / "attempts/S2/1/prompt.md").read_text()


@pytest.mark.parametrize("text", ["2-1", "1..2", '"Phase 1: Apart",#2'])
def test_line_66_the_command_line_takes_the_same_selections_as_the_browser(repo: Path, text: str) -> None:
    assert run(repo, WRITES, "--chunks", text).returncode == 0
    assert load(out_dir(repo)).state.phase == "success"
