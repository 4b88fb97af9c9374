"""Claude Code works a board off: one request of two stories, one of them a scientist's, from the inbox to the archive."""

from pathlib import Path

import pytest

from santiago.board.board_handle import open_board
from santiago.process import sandbox
from tests.agents.homes import KEY, home
from tests.agents.install import NO_NPM, PROGRAMS, chosen, have_npm, install
from tests.agents.model import Model
from tests.agents.running import SECONDS, surroundings
from tests.agents.script import Acts, Say, Shell
from tests.cli import greeter
from tests.cli.santiago import santiago

PRD = """\
# PRD: Greeter

### R1: Which greeting is polite everywhere

Role: scientist

**Files:** `study.md`

- [ ] study.md names one greeting

**Verification:** `grep Hello study.md`

### R2: Say hello

Depends on: R1

**Files:** `hello.txt`

- [ ] hello.txt says Hello

**Verification:** `grep Hello hello.txt`
"""
DOES = {
    "Which greeting": "echo Hello > study.md",
    "Say hello": "echo Hello > hello.txt",
}


def plays(prompt: str) -> Acts:
    """Do the story that the prompt is about: the one whose title stands first under its heading."""
    told = prompt.partition("## The story")[2]
    first = min((word for word in DOES if word in told), key=told.index)
    return [Shell(DOES[first]), Say("Done.")]


def test_a_request_with_a_scientists_ticket_before_a_developers_is_archived(tmp_path: Path) -> None:
    """Board lines 37 to 43 with a real program: the scientist goes first, everybody is judged, the planner accepts."""
    if not have_npm():
        pytest.skip(NO_NPM)
    if "claude" not in chosen():
        pytest.skip("Claude Code is not asked for")
    install(PROGRAMS["claude"])
    with Model(plays) as model, home("claude", model.url) as folders:
        env = surroundings("claude", folders, tmp_path / "cache")
        fence = "off" if sandbox.detect("auto", env).kind == "none" else "auto"
        settings = f'[policy]\nsandbox = "{fence}"\n[board]\ndeveloper = "claude"\nscientist = "claude"\n'
        repo = greeter.committed(tmp_path / "repo", {"prd.md": PRD, "santiago.toml": settings})
        added = santiago("run", "prd.md", "--enqueue", cwd=repo, env=env)
        assert added.returncode == 0, added.stderr
        worked = santiago("loop", "--trust-commands", "--trust-project", cwd=repo, env=env, seconds=SECONDS)
    assert worked.returncode == 0, worked.stdout + worked.stderr
    with open_board(repo, {}) as opened, opened.store.reading() as at:
        done = [(card.id, card.role, card.attempt_count) for card in at.cards("done")]
    assert done == [
        ("REQ-1.S1", "scientist", 1), ("REQ-1.S2", "developer", 1), ("REQ-1", "developer", 0),
    ]  # fmt: skip
    assert greeter.git(repo, "show", "santiago/REQ-1:hello.txt") == "Hello"
    assert not [
        path for path in (repo / ".santiago").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
