"""Taking a run's work over: a pull request with its evidence, and knowing what was merged."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, looks
from tests.cli.iterating import PLAY, make, newest, run, write

LINES = [f"{number}\n" for number in range(30)]


pytestmark = pytest.mark.xdist_group("iterating")


@pytest.fixture
def repo(first_version: Path) -> Path:
    return greeter.restored(first_version)


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


def gh(programs: Path) -> None:
    """Install a program of GitHub that writes down what it is asked, and says where the request is."""
    (programs / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\necho https://example.org/pull/1\n')
    (programs / "gh").chmod(0o755)


def test_pr_pushes_and_opens_with_the_program_that_is_there(repo: Path, programs: Path) -> None:
    gh(programs)
    branch, remote = f"santiago/{newest(repo).name}", with_remote(repo)
    waits = looks(repo, "pr")
    assert (waits.returncode, "Nothing was pushed" in waits.stdout) == (10, True)
    assert git(remote, "branch", "--list", branch) == ""
    done = looks(repo, "pr", "--yes")
    assert (done.returncode, "https://example.org/pull/1" in done.stdout) == (0, True), done.stderr
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    asked = (repo / "asked").read_text().splitlines()
    assert asked[:8] == ["pr", "create", "--head", branch, "--base", "main", "--title", "PRD: Greeter"]
    body = Path(asked[-1]).read_text()
    assert re.search(r"\*\*S1 Say hello\*\* \(1 attempt, proved, [0-9a-f]{12}\)", body), body
    assert "- proved: a test that was there before failed without the work, and passes with it.\n" in body
    assert "own_tests" not in body, "only the words that stand in it are explained"
    assert "hello.txt says hello: `grep hello hello.txt` (failed before, passed now)" in body
    assert "- `grep hello hello.txt`" in body
    assert looks(repo, "audit").stdout.startswith("clean")


def test_pr_tells_programs_what_it_would_do_and_what_it_did(repo: Path, programs: Path) -> None:
    """Without --yes nothing is pushed, and nobody is asked."""
    branch = f"santiago/{newest(repo).name}"
    alone = json.loads(looks(repo, "pr", "--json").stdout)
    assert (alone["branch"], alone["remote"], alone["push"], alone["opened"]) == (branch, None, None, None)
    remote = with_remote(repo)
    gh(programs)
    looked = looks(repo, "pr", "--json")
    told = json.loads(looked.stdout)
    assert (looked.returncode, told["opened"], told["request"][:3]) == (10, None, ["gh", "pr", "create"])
    assert told["push"] == ["git", "push", "origin", f"refs/heads/{branch}:refs/heads/{branch}"]
    assert "Say hello" in Path(told["body"]).read_text()
    assert git(remote, "branch", "--list", branch) == ""
    done = looks(repo, "pr", "--json", "--yes")
    assert (done.returncode, json.loads(done.stdout)["opened"]) == (0, "https://example.org/pull/1")
    assert git(remote, "rev-parse", branch) == git(repo, "rev-parse", branch)
    git(repo, "merge", "-q", branch)
    assert json.loads(looks(repo, "pr", "--json").stdout) == {"run_id": newest(repo).name, "taken_over": True}


def test_pr_says_what_to_do_where_no_program_or_no_remote_is_there(repo: Path, programs: Path, tmp_path: Path) -> None:
    planned = make(tmp_path)
    assert looks(planned, "plan", "prd.md").returncode == 0
    assert "no story" in looks(planned, "pr").stderr
    assert "next: git remote add origin URL" in looks(repo, "pr", "--yes").stdout
    remote, branch = with_remote(repo), f"santiago/{newest(repo).name}"
    shown = looks(repo, "pr", "--yes").stdout
    assert f"next: git push origin {branch}\n" in shown, shown
    assert git(remote, "branch", "--list", branch) == ""


@pytest.fixture(scope="module")
def with_a_longer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a finished run that has put a line before all others of a file."""
    repo = make(tmp_path_factory.mktemp("longer"))
    longer = json.dumps("".join(["first\n", *LINES]))
    write(repo, long_txt="".join(LINES), play_yaml=PLAY.replace("{hello.txt:", f"{{long.txt: {longer}, hello.txt:"))
    run(repo)
    assert "git merge" in looks(repo, "status").stdout
    return repo


@pytest.mark.parametrize("later", ["", "prd.md", "hello.txt", "long.txt"])
def test_status_knows_a_squash_merge_whatever_came_before_and_after_it(with_a_longer_file: Path, later: str) -> None:
    repo = greeter.restored(with_a_longer_file)
    if later == "long.txt":  # others have changed the same file elsewhere in the meantime
        write(repo, long_txt="".join([*LINES, "last\n"]))
    git(repo, "merge", "-q", "--squash", f"santiago/{newest(repo).name}")
    git(repo, "commit", "-q", "-m", "The greeter (#1)")
    if later:
        write(repo, **{later.replace(".", "_"): f"{(repo / later).read_text()}\nmore\n"})
    shown = looks(repo, "status").stdout
    assert "its work is merged" in shown, shown
    assert "is already merged" in looks(repo, "pr").stdout
