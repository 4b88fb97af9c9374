"""Agents that draft as they are told to: programs of a few lines, started by santiago like any other."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli import greeter
from tests.cli.inside import Told, inside
from tests.cli.santiago import santiago

PROGRAM = """\
import json, os, pathlib, sys
prompt = sys.stdin.read()
merging = prompt.startswith("# Merge")
given = pathlib.Path(os.environ["SANTIAGO_PLAN_DIR"])
seen = sorted(str(one.relative_to(given)) for one in given.rglob("*") if one.is_file()) if given.is_dir() else []
print("sees", *seen)
for words, does in PLAYS:
    if words == "MERGE" and merging or words != "MERGE" and words in prompt:
        break
if "say" in does:
    print(does["say"])
if "wait" in does:
    import time
    time.sleep(does["wait"])
if "touch" in does:
    try:
        pathlib.Path(does["touch"]).write_text("mine")
    except OSError as error:
        print("cannot write:", error)
if "write" in does:
    text = does["write"] if isinstance(does["write"], str) else json.dumps(does["write"])
    pathlib.Path(os.environ["SANTIAGO_DRAFT"]).write_text(text)
sys.exit(does.get("exit", 0))
"""


def drafter(folder: Path, name: str, *plays: tuple[str, dict[str, Any]]) -> str:
    """Write a program that plays the first of these whose words stand in its prompt; return the command line that starts it."""
    path = folder / f"{name}.py"
    path.write_text(f"PLAYS = {list(plays)!r}\n{PROGRAM}")
    return f"{sys.executable} {path}"


def plan(*titles: str, chunk: str = "C01_core", **more: Any) -> dict[str, Any]:
    """Return a plan with these stories, each after the one before, as an agent writes it."""
    stories = [
        {
            "id": f"S{number}", "title": title, "description": f"Do {title}.", "chunk": chunk, "requirements": [],
            "criteria": [], "depends_on": [f"S{number - 1}"] if number > 1 else [], "files": [f"{number}.txt"],
            "verify": [f"grep -q {number} {number}.txt"],
        }
        for number, title in enumerate(titles, 1)
    ]  # fmt: skip
    chunks = [{"label": chunk, "stories": [story["id"] for story in stories]}]
    whole = {"contract_version": 1, "title": "Small things", "requirements": [], "stories": stories, "chunks": chunks}
    return {**whole, "run_verify": [], **more}


class Place:
    """A repository with a person in it, who plans."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.repo = greeter.committed(folder / "repo", {"README.md": "Small things.\n", **(files or {})})

    def drafter(self, name: str, *plays: tuple[str, dict[str, Any]]) -> str:
        return drafter(self.folder, name, *plays)

    def says(self, *words: str, **more: str) -> Told | subprocess.CompletedProcess[str]:
        """Say something; what starts an agent is a process of its own."""
        starts = words[0] in ("plan", "draft", "resume") or {"--edit", "--continue", "--take-up"} & {*words}
        if starts or ("--finalize" in words and "--no-start" not in words):
            return self.apart(*words, **more)
        return inside(*words, cwd=self.repo, env={**greeter.place(self.repo), "SANTIAGO_ACTOR": "ann", **more})

    def apart(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Say something as a process of its own."""
        return santiago(*words, cwd=self.repo, env={**greeter.place(self.repo), "SANTIAGO_ACTOR": "ann", **more})

    def begin(self, subject: str, *agents: str, more: tuple[str, ...] = ()) -> Path:
        """Begin a session and return its folder."""
        given = [word for agent in agents for word in ("--with", agent)]
        said = self.says("plan", subject, *given, *more)
        assert said.returncode == 0, said.stderr
        return self.session

    @property
    def session(self) -> Path:
        """The newest session."""
        return max((self.repo / ".santiago" / "sessions").iterdir(), key=os.path.getmtime)

    def runs(self) -> list[Path]:
        return sorted(self.repo.glob(".santiago/runs/*"))

    def events(self, folder: Path | None = None) -> list[dict[str, Any]]:
        log = (folder or self.session) / "progress.ndjson"
        whole = log.read_bytes().rpartition(b"\n")[0]  # who writes it may be in the middle of a line
        return [json.loads(line) for line in whole.splitlines()]

    def shown(self) -> dict[str, Any]:
        """Return the session.json of the newest session."""
        found: dict[str, Any] = json.loads((self.session / "session.json").read_bytes())
        return found

    def revision(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.session / "revisions" / f"{number:04}.json").read_bytes())
        return found
