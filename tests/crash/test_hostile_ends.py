"""What an agent does to the log or to santiago itself buys it no attempt, no minute and no second go at what is done."""

import json
import signal
from pathlib import Path

from tests.cli.greeter import BAD, git, make, out_dir, place
from tests.cli.santiago import santiago

PARENT = """parent() { awk '{print $4}' "/proc/$1/stat"; }\n"""
KILL = PARENT + 'kill -9 "$(parent "$(parent "$PPID")")"\n'
"""What is started by a supervisor has the server for its grandparent, and santiago before that."""
KILL_FROM_CHECK = PARENT + 'kill -9 "$(parent "$(parent "$(parent "$PPID")")")"\n'
"""The same behind the shell that a check runs in."""
DOCUMENT = "# PRD: Words\n\n### R1: One\n\n**Files:** `one.txt`\n\n- [ ] there is one\n"


def events(repo: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out_dir(repo) / "progress.ndjson").read_bytes().splitlines()]


def cut(repo: Path, before: str, story: str) -> None:
    """Cut the log off before the first event of this kind."""
    log = out_dir(repo) / "progress.ndjson"
    lines = log.read_bytes().splitlines(keepends=True)
    at = next(i for i, e in enumerate(events(repo)) if e["event"] == before and e["story_id"] == story)
    log.write_bytes(b"".join(lines[:at]))


def test_a_log_whose_end_was_cut_off_is_refused_and_nothing_is_done_again(tmp_path: Path) -> None:
    """Nor is a branch that was deleted missing afterwards: a log in order puts it back where it says."""
    repo = make(tmp_path / "repo")
    arguments = ("run", "prd.md", "--trust-commands", "--chunks", "1")
    assert santiago(*arguments, cwd=repo, env=place(repo)).returncode == 0
    log = out_dir(repo) / "progress.ndjson"
    whole = log.read_bytes()
    for story in ("S2", "S1"):
        cut(repo, "attempt_started", story)
        kept = log.read_bytes()
        resumed = santiago("resume", cwd=repo, env=place(repo))
        assert (resumed.returncode, "ends" in resumed.stderr) == (10, True), story
        assert log.read_bytes() == kept
    log.write_bytes(whole)
    git(repo, "branch", "-D", f"santiago/{out_dir(repo).name}")
    assert santiago("resume", cwd=repo, env=place(repo)).returncode == 0
    assert git(repo, "show", f"santiago/{out_dir(repo).name}:hello.txt") == "hello"
    assert santiago("audit", cwd=repo, env=place(repo)).returncode == 0


def test_attempts_that_failed_do_not_come_back_with_a_shorter_log(tmp_path: Path) -> None:
    """Nothing of them is on the branch, so that only their files tell of them."""
    repo = make(tmp_path / "repo", BAD, limits="[limits]\nstory_max_attempts = 1\n")
    assert santiago("run", "prd.md", "--trust-commands", cwd=repo, env=place(repo)).returncode == 30
    (out_dir(repo) / "result.json").unlink()
    cut(repo, "attempt_started", "S1")
    resumed = santiago("resume", cwd=repo, env=place(repo))
    assert (resumed.returncode, "the log ends before attempt 1 of S1" in resumed.stderr) == (10, True)


def start_until_it_ends(repo: Path, *arguments: str, most: int) -> tuple[int, int]:
    """Start a run, and again after every death; return how many starts it took and how the last one ended."""
    for number in range(1, most + 1):
        words = arguments if number == 1 else ("resume",)
        code = santiago(*words, cwd=repo, env=place(repo)).returncode
        if code != -signal.SIGKILL:
            return number, code
    return most, -signal.SIGKILL


def test_work_whose_check_kills_santiago_is_not_taken_up_for_ever(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", limits="[limits]\nstory_max_attempts = 2\n")
    (repo / "one.md").write_text(DOCUMENT)
    agent = tmp_path / "agent.sh"
    agent.write_text("echo one > one.txt\n")
    (tmp_path / "check.sh").write_text(f"test -e one.txt || exit 1\n{KILL_FROM_CHECK}")
    arguments = ("run", "one.md", "--agent", f"sh {agent}", "--verify", f"sh {tmp_path}/check.sh")
    starts, code = start_until_it_ends(repo, *arguments, most=12)
    assert (starts <= 9, code) == (True, 30)
    begun = [event for event in events(repo) if event["event"] == "attempt_started"]
    assert len(begun) == 2


def test_the_minutes_of_attempts_that_killed_santiago_count(tmp_path: Path) -> None:
    repo = make(
        tmp_path / "repo",
        limits="[limits]\nstory_max_attempts = 1000\nrun_max_attempts = 1000\nstory_timeout_minutes = 0.03\n",
    )
    (repo / "one.md").write_text(DOCUMENT)
    agent = tmp_path / "agent.sh"
    agent.write_text(f"sleep 0.6\n{KILL}sleep 60\n")
    arguments = ("run", "one.md", "--agent", f"sh {agent}", "--verify", "test -e one.txt")
    starts, code = start_until_it_ends(repo, *arguments, most=12)
    assert (starts < 12, code) == (True, 30)
