"""The second iteration of a document: what is done stays done, and only what is new or changed goes to an agent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli import greeter
from tests.cli.greeter import git
from tests.cli.santiago import santiago

if TYPE_CHECKING:
    from pathlib import Path

FIRST = """\
# PRD: Greeter

### R1: Say hello

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`

### R2: Say goodbye

- [ ] bye.txt says goodbye

**Verification:** `grep goodbye bye.txt`
"""
SECOND = f"""\
{FIRST.replace("says goodbye", "says goodbye, and when").replace("grep goodbye", "grep -w tomorrow")}
### R3: Both

- [ ] both.txt says both

**Verification:** `grep both both.txt`
"""
PLAY = """\
stories:
  R1: [{write: {hello.txt: "hello\\n"}}]
  R2: [{write: {bye.txt: "goodbye\\n"}}]
"""
PLAY_ON = """\
stories:
  R1: [{write: {hello.txt: "hello again\\n"}}]
  R2: [{write: {bye.txt: "goodbye until tomorrow\\n"}}]
  R3: [{write: {both.txt: "both\\n"}}]
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in greeter.place(tmp_path / "repo").items():
        monkeypatch.setenv(name, value)
    settings = '[agent]\nmode = "scripted"\nplaybook = "play.yaml"\n[policy]\nsandbox = "off"\n'
    return greeter.committed(tmp_path / "repo", {"prd.md": FIRST, "play.yaml": PLAY, "santiago.toml": settings})


def run(repo: Path, *more: str, code: int = 0, word: str = "run") -> str:
    done = santiago(word, "prd.md", "--trust-commands", *more, cwd=repo)
    assert done.returncode == code, done.stderr
    return done.stderr


def newest(repo: Path) -> Path:
    return max((repo / ".santiago" / "runs").iterdir(), key=lambda one: one.stat().st_mtime_ns)


def write(repo: Path, **files: str) -> None:
    for name, text in files.items():
        (repo / name.replace("_", ".")).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Go on")


def begun(repo: Path) -> list[str]:
    """Return the stories of the newest run that went to an agent."""
    lines = (newest(repo) / "progress.ndjson").read_bytes().splitlines()
    return [one["story_id"] for one in map(json.loads, lines) if one["event"] == "attempt_started"]


@pytest.mark.parametrize("way", ["merge", "squash", "squash without a message"])
def test_only_what_was_added_or_changed_goes_to_the_agent(repo: Path, way: str) -> None:
    run(repo)
    branch = f"santiago/{newest(repo).name}"
    if way == "merge":
        git(repo, "merge", "-q", branch)
    else:
        git(repo, "merge", "-q", "--squash", branch)
        git(repo, "commit", "-q", *(["--no-edit"] if way == "squash" else ["-m", "The greeter (#1)"]))
        git(repo, "branch", "-q", "-D", branch)
    write(repo, prd_md=SECOND, play_yaml=PLAY_ON)
    shown = run(repo)
    assert begun(repo) == ["S2", "S3"]
    assert re.search(r"kept +S1 Say hello +\(done in r_\w+ already; its checks pass", shown), shown
    result = json.loads((newest(repo) / "result.json").read_bytes())
    assert [(one["id"], one["status"], one["attempts"]) for one in result["stories"]] == [
        ("S1", "done", 0),
        ("S2", "done", 1),
        ("S3", "done", 1),
    ]
    listed = santiago("status", "--stories", cwd=repo).stdout
    assert re.search(r"kept +S1 +Say hello", listed), listed
    assert santiago("audit", cwd=repo).returncode == 0


def test_a_clone_knows_by_the_messages_of_the_commits_alone(repo: Path, tmp_path: Path) -> None:
    run(repo)
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    git(tmp_path, "clone", "-q", str(repo), "clone")
    shown = run(tmp_path / "clone")
    assert "2 done of 2   0/20 attempts" in shown, shown


def test_work_that_is_not_on_the_branch_is_not_done(repo: Path) -> None:
    run(repo)
    run(repo)
    assert begun(repo) == ["S1", "S2"]


def test_work_that_was_reverted_is_done_again(repo: Path) -> None:
    run(repo)
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    git(repo, "revert", "--no-edit", git(repo, "log", "--format=%H", "--grep=Santiago-Story: S1"))
    run(repo)
    assert begun(repo) == ["S1"]


def test_a_kept_story_whose_checks_fail_on_the_base_is_an_ordinary_one(repo: Path) -> None:
    run(repo)
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    write(repo, hello_txt="moin\n")
    shown = run(repo)
    assert begun(repo) == ["S1"]
    assert "but its checks fail here: it is done again" in shown
    assert re.search(r"ok +S1 Say hello +\(1 attempt", shown), shown


def test_a_dry_run_tells_done_stories_from_those_that_it_would_run(repo: Path) -> None:
    run(repo)
    git(repo, "merge", "-q", f"santiago/{newest(repo).name}")
    write(repo, prd_md=SECOND)
    shown = santiago("run", "prd.md", "--trust-commands", "--dry-run", cwd=repo).stdout
    assert "would run 2 of 3 stories" in shown, shown
    assert "done already, so only their checks would run: S1" in shown
