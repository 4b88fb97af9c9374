"""Runs of so many trivial stories, as santiago carries them out and as a bare shell loop would."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from santiago.contract import codec
from santiago.contract.plan import Chunk, Origin, Plan, Source, Story
from santiago.planner.compile import plan_digest

GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@example.org", "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@example.org",
}  # fmt: skip
AGENT = 'echo "$SANTIAGO_STORY" >"work/$SANTIAGO_STORY.txt"\n'
CHECK = "test -e work/first.txt && ! grep -rq wrong work\n"
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
"""Files of the repository beside those that the stories add."""


def make(top: Path, stories: int) -> list[str]:
    """Make a repository and a plan; return the command line that executes it."""
    repo = top / "repo"
    (repo / "work").mkdir(parents=True)
    (repo / "work" / "first.txt").write_text("first\n", encoding="utf-8")
    (repo / "check.sh").write_text(CHECK, encoding="utf-8")
    for number in range(FILES):
        (repo / f"file{number}.txt").write_text(f"{number}\n" * 50, encoding="utf-8")
    (repo / "prd.md").write_text("# PRD\n", encoding="utf-8")
    (top / "agent.sh").write_text(AGENT, encoding="utf-8")
    (top / "loop.sh").write_text(LOOP, encoding="utf-8")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run(["git", *arguments], cwd=repo, env=GIT, check=True)
    (top / "plan.json").write_bytes(codec.canonical(_plan(stories)))
    settings: dict[str, Any] = {
        "contract_version": 1, "repo_path": "repo", "prd_path": "prd.md", "run_id": "bench",
        "agent": {"command": ["sh", str(top / "agent.sh")]}, "policy": {"sandbox": "off"},
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
    return replace(plan, digest=plan_digest(plan))


def _story(number: int) -> Story:
    return Story(
        id=f"S{number}", title=f"Story {number}", description="", requirements=(), criteria=(), depends_on=(),
        external_depends_on=(), chunk="C01", role="developer", profile=None, files=(f"work/S{number}.txt",), verify=(),
        priority=None, claimed_done=False, origin=Origin(id=None, line=1), provenance=(),
    )  # fmt: skip
