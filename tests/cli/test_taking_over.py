"""Taking a run's work over: a pull request with its evidence, and knowing what was merged."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.greeter import git
from tests.cli.iterating import PLAY, make, newest, run, write
from tests.cli.santiago import santiago


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make(tmp_path, monkeypatch)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on the path, without gh and glab of this machine."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("git", "grep", "sh", "python3"):
        (folder / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def with_remote(repo: Path) -> Path:
    remote = repo.parent / "remote.git"
    git(repo, "init", "-q", "--bare", str(remote))
    git(repo, "remote", "add", "origin", str(remote))
    git(repo, "push", "-q", "origin", "main")
    return remote


def test_pr_pushes_and_opens_with_the_program_that_is_there(repo: Path, programs: Path) -> None:
    (programs / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\necho https://example.org/pull/1\n')
    (programs / "gh").chmod(0o755)
    run(repo)
    branch, remote = f"santiago/{newest(repo).name}", with_remote(repo)
    waits = santiago("pr", cwd=repo)
    assert (waits.returncode, "Nothing was pushed" in waits.stdout) == (10, True)
    assert git(remote, "branch", "--list", branch) == ""
    done = santiago("pr", "--yes", cwd=repo, env={"HOME": str(repo.parent)})
    assert (done.returncode, "https://example.org/pull/1" in done.stdout) == (0, True), done.stderr
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    asked = (repo.parent / "asked").read_text().splitlines()
    assert asked[:8] == ["pr", "create", "--head", branch, "--base", "main", "--title", "PRD: Greeter"]
    body = Path(asked[-1]).read_text()
    assert re.search(r"\*\*S1 Say hello\*\* \(1 attempt, proved, [0-9a-f]{12}\)", body), body
    assert "- proved: a test that was there before failed without the work, and passes with it.\n" in body
    assert "own_tests" not in body, "only the words that stand in it are explained"
    assert "hello.txt says hello: `grep hello hello.txt` (failed before, passed now)" in body
    assert "- `grep hello hello.txt`" in body
    assert santiago("audit", cwd=repo).stdout.startswith("clean")


def test_pr_tells_programs_what_it_would_do_and_what_it_did(repo: Path, programs: Path) -> None:
    """Without --yes nothing is pushed, and nobody is asked."""
    run(repo)
    branch = f"santiago/{newest(repo).name}"
    alone = json.loads(santiago("pr", "--json", cwd=repo).stdout)
    assert (alone["branch"], alone["remote"], alone["push"], alone["opened"]) == (branch, None, None, None)
    remote = with_remote(repo)
    (programs / "gh").write_text("#!/bin/sh\necho https://example.org/pull/1\n")
    (programs / "gh").chmod(0o755)
    looked = santiago("pr", "--json", cwd=repo)
    told = json.loads(looked.stdout)
    assert (looked.returncode, told["opened"], told["request"][:3]) == (10, None, ["gh", "pr", "create"])
    assert told["push"] == ["git", "push", "origin", f"refs/heads/{branch}:refs/heads/{branch}"]
    assert "Say hello" in Path(told["body"]).read_text()
    assert git(remote, "branch", "--list", branch) == ""
    done = santiago("pr", "--json", "--yes", cwd=repo)
    assert (done.returncode, json.loads(done.stdout)["opened"]) == (0, "https://example.org/pull/1")
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    git(repo, "merge", "-q", branch)
    assert json.loads(santiago("pr", "--json", cwd=repo).stdout) == {"run_id": newest(repo).name, "taken_over": True}


def test_pr_says_what_to_do_where_no_program_or_no_remote_is_there(repo: Path, programs: Path) -> None:
    assert "no story" in santiago("pr", cwd=_planned(repo)).stderr
    run(repo)
    assert "next: git remote add origin URL" in santiago("pr", "--yes", cwd=repo).stdout
    remote, branch = with_remote(repo), f"santiago/{newest(repo).name}"
    shown = santiago("pr", "--yes", cwd=repo).stdout
    assert f"next: git push origin {branch}\n" in shown, shown
    assert git(remote, "branch", "--list", branch) == ""


def _planned(repo: Path) -> Path:
    assert santiago("plan", "prd.md", cwd=repo).returncode == 0
    return repo


@pytest.mark.parametrize("later", ["", "prd.md", "hello.txt", "long.txt"])
def test_status_knows_a_squash_merge_whatever_came_before_and_after_it(repo: Path, later: str) -> None:
    lines = [f"{number}\n" for number in range(30)]
    longer = json.dumps("".join(["first\n", *lines]))
    write(repo, long_txt="".join(lines), play_yaml=PLAY.replace("{hello.txt:", f"{{long.txt: {longer}, hello.txt:"))
    run(repo)
    branch = f"santiago/{newest(repo).name}"
    assert "git merge" in santiago("status", cwd=repo).stdout
    if later == "long.txt":  # others have changed the same file elsewhere in the meantime
        write(repo, long_txt="".join([*lines, "last\n"]))
    git(repo, "merge", "-q", "--squash", branch)
    git(repo, "commit", "-q", "-m", "The greeter (#1)")
    if later:
        write(repo, **{later.replace(".", "_"): f"{(repo / later).read_text()}\nmore\n"})
    shown = santiago("status", cwd=repo).stdout
    assert "its work is merged" in shown, shown
    assert "is already merged" in santiago("pr", cwd=repo).stdout
