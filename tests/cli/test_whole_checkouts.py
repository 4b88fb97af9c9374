"""Runs in repositories that git alone does not check out as a whole, and while somebody cleans up."""

import json
import subprocess
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.fakes import PRD
from tests.cli.greeter import git, out_dir
from tests.cli.santiago import santiago

SETTINGS = '[agent]\nmode = "scripted"\nplaybook = "playbook.yaml"\n[policy]\nsandbox = "off"\n'
PLAYBOOK = 'stories: {R1: [{write: {hello.txt: "hello\\n"}}]}\n'
FILES = {"prd.md": PRD, "playbook.yaml": PLAYBOOK, "santiago.toml": SETTINGS}


def test_with_lfs_work_lands_as_a_pointer_and_what_is_not_here_is_said(tmp_path: Path) -> None:
    elsewhere = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12\n"
    rules = "*.txt filter=lfs diff=lfs merge=lfs -text\n"
    repo = greeter.committed(tmp_path / "repo", {**FILES, ".gitattributes": rules, "far.txt": elsewhere})
    done = greeter.carry_out(repo, code=0)
    assert "or too large to copy: far.txt; `git lfs pull`" in done.stderr
    oid = sha256(b"hello\n").hexdigest()
    branch = f"santiago/{greeter.out_dir(repo).name}"
    shown = greeter.git(repo, "show", f"{branch}:hello.txt")
    assert shown == f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 6"
    assert greeter.git(repo, "show", f"{branch}:far.txt") == elsewhere.strip()
    assert (repo / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid).read_bytes() == b"hello\n"
    assert greeter.looks(repo, "audit").returncode == 0


def test_with_a_submodule_its_folder_is_empty_and_said_and_its_commit_stays(tmp_path: Path) -> None:
    source = greeter.committed(tmp_path / "source", {"f": "f\n"})
    repo = greeter.committed(tmp_path / "repo", FILES)
    greeter.git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "sub")
    greeter.git(repo, "commit", "-q", "-m", "With a submodule")
    done = greeter.carry_out(repo, code=0)
    assert "submodules are empty folders in every checkout: sub; setup = " in done.stderr
    branch = f"santiago/{greeter.out_dir(repo).name}"
    assert greeter.git(repo, "rev-parse", f"{branch}:sub") == greeter.git(source, "rev-parse", "HEAD")
    (repo / "santiago.toml").write_text(f'{SETTINGS}[workspace]\nsetup = ["git submodule update --init"]\n')
    dry = greeter.looks(repo, "run", "prd.md", "--dry-run", "--trust-commands")
    assert (dry.returncode, "submodule" in dry.stderr) == (0, False), "who sees to them needs no word"


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
    santiago("run", "prd.md", "--only", "S1", "--trust-commands", cwd=repo, code=0)
    run = out_dir(repo).name
    ref = f"refs/santiago/{run}/S1/1"
    failed = git(repo, "rev-parse", ref)
    greeter.lose(repo, git(repo, "rev-parse", f"{ref}^{{tree}}"))
    santiago("resume", cwd=repo, code=0)
    lines = (out_dir(repo) / "progress.ndjson").read_bytes().splitlines()
    notes = [event["context"] for event in map(json.loads, lines) if event["event"] == "note"]
    assert [(note["ref"], note["commit"]) for note in notes] == [(ref, failed)]
    assert ref not in git(repo, "for-each-ref", "--format=%(refname)").split()
