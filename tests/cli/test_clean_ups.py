"""Nothing is lost: whole runs while somebody cleans up the repository, and what the next start does about a damaged one."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.greeter import git, out_dir
from tests.cli.santiago import santiago


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return greeter.make(tmp_path / "repo")


def test_a_run_while_the_repository_is_cleaned_up_all_the_time_ends_as_ever(repo: Path) -> None:
    done, troubles = threading.Event(), []

    def clean() -> None:
        while not done.is_set():
            cleaned = subprocess.run(
                ["git", "gc", "-q", "--prune=now"], cwd=repo, capture_output=True, text=True, check=False
            )
            troubles.append(cleaned.stderr)

    cleaner = threading.Thread(target=clean)
    cleaner.start()
    try:
        ran = greeter.carry_out(repo)
    finally:
        done.set()
        cleaner.join()
    assert ran.returncode == 0, ran.stderr
    # Git itself says, and leaves it at that, when a ref moved between its reading and its packing of it.
    words = [line for trouble in troubles for line in trouble.splitlines() if " but expected " not in line]
    assert words == [], "the user's own clean-up finds nothing wrong"
    assert git(repo, "fsck", "--full", "--strict", "--no-dangling") == ""
    assert santiago("audit", out_dir(repo), cwd=repo).returncode == 0


def test_a_ref_of_an_attempt_that_leads_nowhere_is_recorded_and_removed_by_the_next_start(repo: Path) -> None:
    ran = santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo)
    assert ran.returncode == 0, ran.stderr
    run = out_dir(repo).name
    ref = f"refs/santiago/{run}/S1/1"
    failed = git(repo, "rev-parse", ref)
    greeter.lose(repo, git(repo, "rev-parse", f"{ref}^{{tree}}"))
    resumed = santiago("resume", cwd=repo)
    assert resumed.returncode == 0, resumed.stderr
    lines = (out_dir(repo) / "progress.ndjson").read_bytes().splitlines()
    notes = [event["context"] for event in map(json.loads, lines) if event["event"] == "note"]
    assert [(note["ref"], note["commit"]) for note in notes] == [(ref, failed)]
    assert ref not in git(repo, "for-each-ref", "--format=%(refname)").split()
