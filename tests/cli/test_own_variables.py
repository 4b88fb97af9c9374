"""Checks know whose they are, and what they show for one story says nothing about another (promise 2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.greeter import committed, out_dir, place
from tests.cli.santiago import santiago

PRD = """\
# PRD: Notes

### R1: The first note

**Files:** `S1.txt`

- [ ] there is a first note

### R2: The second note

**Files:** `S2.txt`

- [x] there is a second note
"""
AGENT = 'echo note > "$SANTIAGO_STORY.txt"\n'
SCRIPT = 'test -e "$SANTIAGO_STORY.txt"\n'
TEST = """\
import os, pathlib, unittest

class Note(unittest.TestCase):
    def test_the_note_is_there(self):
        self.assertTrue(pathlib.Path(os.environ["SANTIAGO_STORY"] + ".txt").exists())
"""


def make(folder: Path, **files: str) -> Path:
    named = {name.replace("__", "."): text for name, text in files.items()}
    repo = committed(folder, {"prd.md": PRD, **named})
    (folder.parent / "agent.sh").write_text(AGENT)
    return repo


@pytest.mark.parametrize(
    ("check", "files"),
    [
        ('test -e "$SANTIAGO_STORY.txt"', {}),
        ("sh check.sh", {"check__sh": SCRIPT}),
        ("python3 -m unittest -q test_note.py", {"test_note__py": TEST}),
    ],
)
def test_a_claim_is_judged_by_its_own_run_of_the_checks(tmp_path: Path, check: str, files: dict[str, str]) -> None:
    repo = make(tmp_path / "repo", **files)
    agent = f"sh {tmp_path / 'agent.sh'}"
    done = santiago("run", "prd.md", "--agent", agent, "--verify", check, "--sandbox", "off", cwd=repo, env=place(repo))
    assert done.returncode == 0, done.stderr
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert [(story["id"], story["attempts"], story["proof"]) for story in result["stories"]] == [
        ("S1", 1, "proved"),
        ("S2", 1, "proved"),
    ]


def test_a_check_gets_the_variables_that_its_agent_got(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo")
    seen = tmp_path / "seen"
    check = f'env | grep ^SANTIAGO_ | sort >> {seen}; test -e "$SANTIAGO_STORY.txt"'
    agent = f"sh -c 'env | grep ^SANTIAGO_ | sort > {tmp_path}/told; sh {tmp_path}/agent.sh'"
    arguments = ("run", "prd.md", "--agent", agent, "--verify", check, "--sandbox", "off", "--only", "S1")
    assert santiago(*arguments, cwd=repo, env=place(repo)).returncode == 0
    told = {
        line
        for line in (tmp_path / "told").read_text().splitlines()
        if not line.startswith(("SANTIAGO_RUN_DIR", "SANTIAGO_EVIDENCE"))
    }
    assert {line.partition("=")[0] for line in told} >= {
        "SANTIAGO_RUN", "SANTIAGO_STORY", "SANTIAGO_ATTEMPT", "SANTIAGO_PLAN_DIR", "SANTIAGO_PROMPT_FILE"
    }  # fmt: skip
    assert told <= set(seen.read_text().splitlines())
