"""A document of two stories and its next version, and runs of it with the scripted agent."""

import json
from pathlib import Path

from tests.cli import greeter
from tests.cli.greeter import git

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


def make(folder: Path) -> Path:
    settings = '[agent]\nmode = "scripted"\nplaybook = "play.yaml"\n[policy]\nsandbox = "off"\n'
    return greeter.committed(folder / "repo", {"prd.md": FIRST, "play.yaml": PLAY, "santiago.toml": settings})


def run(repo: Path, *more: str, code: int = 0) -> str:
    done = greeter.says(repo, "run", "prd.md", "--trust-commands", *more)
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


def runs(repo: Path) -> int:
    return len(list((repo / ".santiago" / "runs").iterdir()))
