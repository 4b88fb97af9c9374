"""What surrounds a command and must not harm it: terminals that are not UTF-8, search paths, work of any size, its own agents."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.santiago import santiago
from tests.util.each import each

ODD = "# Prüfung ✓\n\n## Ä1: Größe – 日本語\n\n- [ ] alpha «é» 🎉\n\n**Verification:** `grep ü x`\n"
COMMANDS = (
    (), ("--help",), ("plan", "prd.md"), ("plan", "prd.md", "--json"), ("plan", "nö🎉.md"), ("status",), ("status", "--json"), ("show", "Ä🎉"),
    ("explain", "Ä🎉"), ("nö🎉",), ("queue", "add", "--queue", "planner-inbox", "--id", "T", "--title", "日本語"), ("queue", "list"), ("log",),
    ("run", "prd.md", "--dry-run"), ("run", "prd.md", "--agent", "true", "--no-input", "--trust-commands"), ("config", "show"),
)  # fmt: skip


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf_8_gets_replacement_letters_and_no_bug(encoding: str, tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {"prd.md": ODD, "x": "x\n"})
    env = {**os.environ, **greeter.place(repo), "PYTHONIOENCODING": encoding}
    for words in COMMANDS:
        ran = subprocess.run(
            [sys.executable, "-m", "santiago", *words], cwd=repo, env=env, capture_output=True, check=False
        )
        assert ran.returncode not in (1, 70), (words, ran.stderr)
        assert ran.stderr.decode(encoding).count("Traceback") == 0
        if "--json" in words:
            assert json.loads(ran.stdout), "JSON is UTF-8 and loses nothing"
        elif words[:1] != ("queue",):
            ran.stdout.decode(encoding)


def test_an_error_that_nobody_is_left_to_read_ends_with_its_own_code(tmp_path: Path) -> None:
    """P8: where a terminal was closed, no word can be printed any more, and python alone would end with 1."""
    ours, theirs = os.openpty()
    os.close(ours)
    for words in (("plan", "none.md"), ("plan", "none.md", "--json")):
        ran = subprocess.run([sys.executable, "-m", "santiago", *words], cwd=tmp_path, stdout=theirs, stderr=theirs)
        assert ran.returncode == 30, words
    os.close(theirs)


@each("entry", ["", ".", "bin"])
def test_no_program_is_taken_from_a_relative_or_empty_entry_of_path(entry: str, tmp_path: Path) -> None:
    """P17: a repository, or an agent's work in it, would bring its own git."""
    repo = greeter.make(tmp_path / "repo")
    (repo / "bin").mkdir()
    for name in ("git", "bwrap", "gh", "glab", "claude", "codex"):
        for folder in (repo, repo / "bin"):
            (folder / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/taken\nexit 1\n")
            (folder / name).chmod(0o755)
    path = os.pathsep.join([entry, os.environ["PATH"], entry])
    for words in (
        ("plan", "prd.md"),
        ("doctor",),
        ("status",),
        ("run", "prd.md", "--agent", "claude", "--no-input"),
        ("pr",),
    ):
        santiago(*words, cwd=repo, env={**greeter.place(repo), "PATH": path})
    assert not (tmp_path / "taken").exists()


PRD = "# P\n\n- [ ] write a\n"
TESTS = """import unittest, m, os
class T(unittest.TestCase):
    def test_a(self): self.assertTrue(os.path.exists("a"))
    def test_m(self): self.assertEqual(m.f(), 1)
"""
GIT = """#!/bin/sh
for word; do [ "$word" = add ] && [ -e BROKEN ] && { echo "fatal: boom" >&2; exit 42; }; done
exec /usr/bin/git "$@"
"""
FILES = {"prd.md": PRD, "test_a.py": TESTS, "m.py": "def f(): return 1\n", ".gitignore": ".santiago\n"}
RUN = (
    "run",
    "prd.md",
    "--verify",
    f"{sys.executable} -m unittest -v",
    "--trust-commands",
    "--no-input",
    "--yes",
    "--agent",
)


def _ends(repo: Path) -> list[tuple[str, str]]:
    lines = (greeter.out_dir(repo) / "progress.ndjson").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [
        (one["event"], one["context"].get("reason", ""))
        for one in found
        if one["event"].startswith("attempt_") and one["phase"] != "running"
    ]


def test_an_attempt_that_leaves_a_huge_file_ends_with_a_reason_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """P8, people: `git add` would reach its time-out in every start, and the run would never go on."""
    repo = greeter.committed(tmp_path / "repo", FILES)
    agent = tmp_path / "agent.sh"
    agent.write_text('echo x >a; [ "$SANTIAGO_ATTEMPT" = 1 ] && truncate -s 60G big; true\n')
    greeter.says(repo, *RUN, f"sh {agent}", code=0)
    assert _ends(repo) == [("attempt_ended", "disk_limit"), ("attempt_ended", "")]
    assert "big (60.0 GiB)" in (greeter.out_dir(repo) / "attempts/S1/1/critique.md").read_text()


def test_a_step_that_fails_in_the_same_way_in_two_starts_ends_its_attempt_and_keeps_its_files(tmp_path: Path) -> None:
    """P3, P8: here `git add` itself is broken, until somebody mends it."""
    repo, fake = greeter.committed(tmp_path / "repo", FILES), tmp_path / "programs"
    fake.mkdir()
    (fake / "git").write_text(GIT.replace("BROKEN", str(tmp_path / "broken")))
    (fake / "git").chmod(0o755)
    (tmp_path / "broken").touch()
    env = {**greeter.place(repo), "PATH": f"{fake}:{os.environ['PATH']}"}
    (tmp_path / "agent.sh").write_text("echo x >a\n")
    santiago(*RUN, f"sh {tmp_path}/agent.sh", cwd=repo, env=env, code=20)
    assert _ends(repo) == []
    santiago("resume", "--no-input", cwd=repo, env=env, code=20)
    assert _ends(repo) == [("attempt_ended", "io_error")]
    (aside,) = (tmp_path / "cache").glob("santiago/*/*/aside/*/a")
    assert aside.read_text() == "x\n"
    (tmp_path / "broken").unlink()
    santiago("resume", "--no-input", cwd=repo, env=env, code=0)
    assert _ends(repo)[-1] == ("attempt_ended", "")
    greeter.looks(repo, "audit", code=0)


def test_a_program_of_a_run_cannot_say_a_persons_word_on_that_run(tmp_path: Path) -> None:
    """P2, against accidents: where the variable names another run, or none, nothing changes."""
    repo = greeter.make(tmp_path / "repo", greeter.BAD)
    greeter.carry_out(repo)
    run = greeter.out_dir(repo).name
    log = (greeter.out_dir(repo) / "progress.ndjson").read_bytes()
    words = (
        ("accept", "R1", "--why", "x"), ("hint", "R1", "--text", "x"), ("change", "R1", "--text", "x"),
        ("skip", "R1", "--why", "x"), ("resume", "--add-attempts", "1"), ("verify", "R1", "--from", "HEAD"),
    )  # fmt: skip
    for one in words:
        told = _refusal(repo, run, *one)
        assert told["reason"] == "needs_user_confirmation", one
        assert "SANTIAGO_RUN" in told["message"]
    assert (greeter.out_dir(repo) / "progress.ndjson").read_bytes() == log
    assert not list((greeter.out_dir(repo) / "inbox").glob("*.json"))
    santiago("status", "--json", cwd=repo, env={**greeter.place(repo), "SANTIAGO_RUN": run}, code=0)
    santiago("skip", "R1", "--why", "x", cwd=repo, env={**greeter.place(repo), "SANTIAGO_RUN": "another"}, code=0)


def _refusal(repo: Path, run: str, *words: str) -> dict[str, str]:
    """Say something as a program of the run; return the error."""
    told = santiago(*words, "--json", cwd=repo, env={**greeter.place(repo), "SANTIAGO_RUN": run}, code=10)
    found: dict[str, str] = json.loads(
        told.stdout.splitlines()[-1] if told.stdout.startswith('{"type') else told.stdout
    )["error"]
    return found
