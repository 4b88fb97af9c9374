"""A small world to crash in: a repository, a plan, a run on it, and what can be read back from all of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import forked

ROOT = Path(__file__).parents[2]
RUN = "r1"
BRANCH = f"refs/heads/santiago/{RUN}"

GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@example.org", "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@example.org",
}  # fmt: skip


@dataclass(frozen=True)
class Story:
    """One story: the file that must be good in the end, what it waits for, and how often its agent fails first."""

    file: str
    chunk: str = "A"
    needs: str = ""
    failures: int = 0
    shares: str = ""
    """A file that several stories add a line to, so that their order shows."""
    check: str = ""
    """What shows that it is done, where it is not that its file is good."""
    parts: int = 0
    """Substeps of its detailed plan, where it gets one; each makes a file of its own good."""


SMALL = (Story("a", failures=1), Story("b"), Story("c", chunk="B", needs="R1"))
"""Three stories over two chunks, one of which is repaired: enough for every effect."""
WIDE = (
    Story("a", shares="log.txt"), Story("b", failures=1), Story("c", needs="R1"), Story("d", shares="log.txt"),
    Story("e", chunk="B", failures=1, shares="log.txt"), Story("f", chunk="B"), Story("g", chunk="B", needs="R5"),
)  # fmt: skip
"""Seven stories that can overlap, so that work is merged and verified again."""


def git(repo: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(["git", *arguments], cwd=repo, env=GIT, capture_output=True, check=False, text=True)
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr}")
    return done.stdout.strip()


def document(stories: tuple[Story, ...]) -> str:
    """Return the requirements document of these stories."""
    lines, chunk = ["# PRD: Small things", ""], ""
    for number, story in enumerate(stories, 1):
        if story.chunk != chunk:
            chunk = story.chunk
            lines += [f"## Phase {chunk}", ""]
        files = ", ".join(f"`{name}`" for name in (f"{story.file}.txt", story.shares) if name)
        lines += [
            f"### R{number}: Thing {story.file}",
            "",
            *([f"Depends on: {story.needs}", ""] if story.needs else []),
        ]
        lines += [f"**Files:** {files}", "", "**Acceptance Criteria:**", "", f"- [ ] {story.file} is good", ""]
        lines += [f"**Verification:** `{story.check or f'grep -qx good {story.file}.txt'}`", ""]
    return "\n".join(lines)


def playbook(stories: tuple[Story, ...]) -> dict[str, Any]:
    """Return what the agent does: some attempts fail, all later ones do the same good work."""

    def moves(story: Story) -> list[dict[str, Any]]:
        more = {"append": {story.shares: f"{story.file}\n"}} if story.shares else {}
        bad = [{"write": {f"{story.file}.txt": f"bad {n}\n"}} for n in range(story.failures)]
        return [*bad, {"write": {f"{story.file}.txt": "good\n"}, **more}]

    made = {f"R{number}": moves(story) for number, story in enumerate(stories, 1)}
    for number, story in enumerate(stories, 1):
        for part in range(1, story.parts + 1):
            files = [f"{story.file}{part}.txt", *([f"{story.file}.txt"] if part == story.parts else [])]
            made[f"S{number}.{part}"] = [{"write": dict.fromkeys(files, "good\n")}]
    proposals = {f"R{number}": [{"detail": detail(story)}] for number, story in enumerate(stories, 1)}
    return {"stories": made, "proposals": proposals}


def detail(story: Story) -> dict[str, Any]:
    """Return the detailed plan of a story, as its agent writes it."""
    parts = [
        {"title": f"Part {part}", "actions": ["Write it."], "checks": [f"grep -qx good {story.file}{part}.txt"]}
        for part in range(1, story.parts + 1)
    ]
    return {"objective": f"{story.file} is good", "actions": ["Write it."], "substeps": parts}


@dataclass
class World:
    """One folder that holds everything; `reset` makes it new."""

    top: Path
    stories: tuple[Story, ...] = SMALL
    policy: Mapping[str, Any] = field(default_factory=dict)
    template: Path | None = None
    lines: bytes = field(default=b"")
    """The log's whole lines when it was last looked at."""

    @property
    def repo(self) -> Path:
        return self.top / "repo"

    @property
    def out(self) -> Path:
        return self.top / "out"

    @property
    def log(self) -> Path:
        return self.out / "progress.ndjson"

    def make(self, spare: Path) -> World:
        """Make the world, and a copy in `spare` that resets come from."""
        shutil.rmtree(self.top, ignore_errors=True)
        self.repo.mkdir(parents=True)
        (self.repo / "prd.md").write_text(document(self.stories), encoding="utf-8")
        (self.repo / "playbook.yaml").write_text(json.dumps(playbook(self.stories)), encoding="utf-8")
        git(self.repo, "init", "-q", "--template=", "-b", "main")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-qm", "one")
        self._plan()
        self.template = spare
        shutil.rmtree(spare, ignore_errors=True)
        shutil.copytree(self.top, spare, symlinks=True)
        return self

    def _plan(self) -> None:
        made = self.top / "planned"
        forked.run(
            ["plan", "prd.md", "--out-dir", str(made)], cwd=self.repo, env=dict(os.environ), seconds=300
        ).check_returncode()
        settings = {
            "contract_version": 1, "run_id": RUN, "repo_path": "repo", "prd_path": "prd.md",
            "agent": {"mode": "scripted", "playbook": "playbook.yaml"}, "policy": {"sandbox": "off", "unproven": "accept", **self.policy},
            "limits": {"story_max_attempts": 1000, "run_max_attempts": 10000, "story_max_proposals": 1000},
        }  # fmt: skip
        (self.top / "in.json").write_text(json.dumps(settings), encoding="utf-8")
        (made / "plan.json").rename(self.top / "plan.json")
        shutil.rmtree(made)

    def reset(self) -> None:
        assert self.template is not None
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.copytree(self.template, self.top, symlinks=True)
        self.lines = b""

    def arguments(self, jobs: int) -> list[str]:
        """Return the command line that executes the run, or goes on with it."""
        return [
            "execute", "--input", str(self.top / "in.json"), "--plan", str(self.top / "plan.json"),
            "--out-dir", str(self.out), "--jobs", str(jobs), "--trust-commands", "--no-input",
        ]  # fmt: skip


def memory_folder() -> str | None:
    """Return where files cost least; None where that is nowhere special."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
