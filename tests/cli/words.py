"""Three stories in two chunks, each a file of its own name, and runs of them with a shell script for an agent."""

import subprocess
from pathlib import Path

from tests.cli.greeter import committed, place
from tests.cli.santiago import santiago

PRD = """\
# PRD: Words

## Phase 1: Apart

### R1: One

**Files:** `S1.txt`

- [ ] one

### R2: Two

Depends on: R1

**Files:** `S2.txt`

- [ ] two

## Phase 2: Together

### R3: Three

**Files:** `S3.txt`

- [ ] three
"""
WRITES = 'echo x > "$SANTIAGO_STORY.txt"\n'
UNFENCED = '[policy]\nsandbox = "off"\n'
THERE = 'test -e "$SANTIAGO_STORY.txt"'


def make(folder: Path) -> Path:
    return committed(folder / "repo", {"prd.md": PRD, "santiago.toml": UNFENCED})


def run(repo: Path, agent: str, *more: str, limits: str = "", check: str = THERE) -> subprocess.CompletedProcess[str]:
    (repo.parent / "agent.sh").write_text(agent)
    if limits:
        (repo / "santiago.toml").write_text(f"{UNFENCED}[limits]\n{limits}\n")
    arguments = ("run", "prd.md", "--agent", f"sh {repo.parent / 'agent.sh'}", "--verify", check)
    return santiago(*arguments, *more, cwd=repo, env=place(repo))


def look(repo: Path, *words: str) -> str:
    return santiago(*words, cwd=repo, env=place(repo)).stdout
