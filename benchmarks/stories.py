"""Runs of so many trivial stories, as santiago carries them out and as a bare shell loop would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from santiago.contract import codec
from santiago.contract.codec import sealed
from santiago.contract.plan import Chunk, Origin, Plan, Source, Story

GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@example.org", "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@example.org",
}  # fmt: skip
AGENT = 'echo "$SANTIAGO_STORY" >work/story.txt\n'
CHECK = "test -e work/first.txt && ! grep -rq wrong work\n"
REAL_AGENT = (
    f"""exec {sys.executable} -S -c 'import os; open("work/story.txt", "w").write(os.environ["SANTIAGO_STORY"])'\n"""
)
REAL_CHECK = f"exec {sys.executable} -S -m unittest -q tests/test_work.py\n"
REAL_TEST = """import pathlib
import unittest


class Work(unittest.TestCase):
    def test_work_is_there(self) -> None:
        self.assertTrue(pathlib.Path("work/first.txt").read_text())
"""
"""The smallest agent and the smallest test that anybody would call by these names."""
LOOP = """
set -eu
n=$1 top=$2
cd "$top/repo"
head=$(git rev-parse HEAD)
i=1
while [ $i -le $n ]; do
  git worktree add -q --detach "$top/wt" "$head"
  (cd "$top/wt" && SANTIAGO_STORY=S$i sh "$top/agent.sh" </dev/null >"$top/agent.log" 2>&1)
  git -C "$top/wt" add -A
  git -C "$top/wt" commit -q -m "S$i"
  new=$(git -C "$top/wt" rev-parse HEAD)
  git worktree add -q --detach "$top/clean" "$new"
  (cd "$top/clean" && sh -c 'sh check.sh' >"$top/check.log" 2>&1)
  git update-ref refs/heads/loop "$new"
  git worktree remove --force "$top/clean"
  git worktree remove --force "$top/wt"
  head=$new
  i=$((i + 1))
done
"""
"""What anybody would write: a fresh worktree for the agent, a commit, a clean checkout for the check, a branch."""
FILES = 20
"""Files of the repository beside the one that every story writes: it does not grow, so only santiago's own cost could."""


def make(top: Path, stories: int, *, real: bool = False) -> list[str]:
    """Make a repository and a plan; return the command line that executes it.

    Agent and check are trivial, or, where they are to be real, two small Python programs.
    """
    repo = top / "repo"
    (repo / "work").mkdir(parents=True)
    (repo / "work" / "first.txt").write_text("first\n", encoding="utf-8")
    (repo / "check.sh").write_text(REAL_CHECK if real else CHECK, encoding="utf-8")
    (repo / "tests").mkdir()
    (repo / "tests" / "test_work.py").write_text(REAL_TEST, encoding="utf-8")
    for number in range(FILES):
        (repo / f"file{number}.txt").write_text(f"{number}\n" * 50, encoding="utf-8")
    (repo / "prd.md").write_text("# PRD\n", encoding="utf-8")
    (top / "agent.sh").write_text(REAL_AGENT if real else AGENT, encoding="utf-8")
    (top / "loop.sh").write_text(LOOP, encoding="utf-8")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run(["git", *arguments], cwd=repo, env=GIT, check=True)
    (top / "plan.json").write_bytes(codec.canonical(_plan(stories)))
    settings: dict[str, Any] = {
        "contract_version": 1, "repo_path": "repo", "prd_path": "prd.md", "run_id": "bench",
        "agent": {"command": ["sh", str(top / "agent.sh")]}, "policy": {"sandbox": "off", "unproven": "accept"},
        "verification": {"story_commands": ["sh check.sh"]}, "limits": {"run_max_attempts": 100_000, "run_timeout_minutes": 10_000},
    }  # fmt: skip
    (top / "in.json").write_text(json.dumps(settings), encoding="utf-8")
    return ["execute", "--input", str(top / "in.json"), "--plan", str(top / "plan.json"), "--out-dir", str(top / "out")]


def _plan(stories: int) -> Plan:
    made = [_story(number) for number in range(1, stories + 1)]
    plan = Plan(
        contract_version=1, title="Bench", source=Source(path="prd.md", sha256=sha256(b"# PRD\n").hexdigest(), format="prd", evidence=()),
        digest="", requirements=(), stories=tuple(made),
        chunks=(Chunk(label="C01", stories=tuple(story.id for story in made)),), run_verify=(), findings=(),
    )  # fmt: skip
    return sealed(plan)


def _story(number: int) -> Story:
    return Story(
        id=f"S{number}", title=f"Story {number}", description="", requirements=(), criteria=(), depends_on=(),
        external_depends_on=(), chunk="C01", role="developer", profile=None, files=("work/story.txt",), verify=(),
        priority=None, claimed_done=False, origin=Origin(id=None, line=1), provenance=(),
    )  # fmt: skip
