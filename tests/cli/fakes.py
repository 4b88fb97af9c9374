"""Agents that are no agents: small programs under a real one's name that print what it would print, turn by turn."""

import contextlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from santiago.cli.main import main
from tests.cli import greeter
from tests.cli.santiago import santiago

Step = dict[str, Any]
"""`print` a line of the stream, `write` files, `wait_for` a file, `sleep`, `exit`."""

PROGRAM = f"""#!{sys.executable}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).resolve().parent
name = pathlib.Path(__file__).name
if "--version" in sys.argv:
    print((here / (name + ".version")).read_text())
    sys.exit(0)
prompt = "" if sys.stdin.isatty() else sys.stdin.read()
turns = json.loads((here / (name + ".json")).read_text())
calls = here / (name + ".calls")
try:
    with calls.open("a") as file:
        file.write(json.dumps({{"argv": sys.argv[1:], "prompt": prompt}}) + "\\n")
except OSError:
    pass  # in a sandbox it cannot keep count
number = len(calls.read_text().splitlines()) if calls.exists() else 1
turn = turns[min(number, len(turns)) - 1]
for step in turn:
    if "print" in step:
        line = step["print"]
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
    for path, text in step.get("write", {{}}).items():
        pathlib.Path(path).write_text(text)
    while "wait_for" in step and not pathlib.Path(step["wait_for"]).exists():
        time.sleep(0.02)
    time.sleep(step.get("sleep", 0))
    if "exit" in step:
        sys.exit(step["exit"])
"""

PRD = """\
# PRD: Greeter

### R1: Say hello

**Files:** `hello.txt`

- [ ] hello.txt says hello

**Verification:** `grep hello hello.txt`
"""


class Place:
    """A repository, and a machine on which nothing but the given agents is installed."""

    def __init__(self, folder: Path, settings: str = "", prd: str = PRD) -> None:
        self.folder = folder
        self.bin, self.home = folder / "bin", folder / "home"
        self.bin.mkdir(parents=True)
        self.home.mkdir()
        files = {
            "prd.md": prd,
            "playbook.yaml": greeter.GOOD,
            "santiago.toml": f'[policy]\nsandbox = "off"\n{settings}',
        }
        self.repo = greeter.committed(folder / "repo", files)
        # Only programs that checks need: what else is installed here must not be found.
        tools = folder / "tools"
        tools.mkdir()
        for name in ("git", "sh", "grep", "cat", "env", "test", "true", "rm"):
            (tools / name).symlink_to(shutil.which(name) or "")
        self.env = {
            **greeter.place(self.repo), "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"),
            "PATH": f"{self.bin}:{tools}",
        }  # fmt: skip

    def install(self, name: str, *turns: list[Step], version: str = "9.9.9") -> None:
        """Put an agent where it is found; what it plays is given turn by turn, the last one for all that follow."""
        program = self.bin / name
        program.write_text(PROGRAM)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (self.bin / f"{name}.json").write_text(json.dumps(turns or [[]]))
        (self.bin / f"{name}.version").write_text(version)

    def calls(self, name: str) -> list[dict[str, Any]]:
        path = self.bin / f"{name}.calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def sign_in(self, variable: str = "ANTHROPIC_API_KEY") -> None:
        self.env[variable] = "sk-not-a-real-key-0123456789"

    def santiago(self, *arguments: str | Path, code: int | None = None) -> subprocess.CompletedProcess[str]:
        return santiago(*arguments, cwd=self.repo, env={**_unset(), **self.env}, code=code)

    def run(self, *arguments: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
        return self.santiago("run", "prd.md", "--trust-commands", *arguments, code=code)

    def look(self, *arguments: str) -> str:
        """Return what a command prints that only looks; the program's own entry, without a process for each look."""
        told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with (
            mock.patch.dict(os.environ, {**_unset(), **self.env}),
            contextlib.chdir(self.repo),
            contextlib.redirect_stdout(told),
            contextlib.redirect_stderr(told),
        ):
            assert main(list(arguments)) == 0
        told.seek(0)
        return told.read()

    def json(self, *arguments: str) -> Any:
        return json.loads(self.look(*arguments, "--json"))

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (greeter.out_dir(self.repo) / "progress.ndjson").read_text().splitlines()]

    def result(self) -> Any:
        return json.loads((greeter.out_dir(self.repo) / "result.json").read_text())


def _unset() -> dict[str, str]:
    """Return the agents' own variables of this machine, emptied: a test must not be signed in by accident."""
    families = ("ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_", "OPENCODE_")
    return {name: "" for name in os.environ if name.startswith(families)}


def begins(session: str = "5e55-10") -> Step:
    return {"print": {"type": "system", "subtype": "init", "session_id": session}}


def says(text: str, **more: Any) -> Step:
    return {"print": {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, **more}}


def uses(tool: str, **given: Any) -> Step:
    return {
        "print": {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": tool, "input": given}]}}
    }


def plans(*todos: tuple[str, str]) -> Step:
    return uses("TodoWrite", todos=[{"content": text, "status": status} for text, status in todos])


def writes(name: str, text: str) -> Step:
    return {**uses("Write", file_path=name), "write": {name: text}}


def ends(text: str = "Done.", tokens: int | None = 1200, cost: float | None = 0.0345, **more: Any) -> Step:
    usage = {} if tokens is None else {"usage": {"input_tokens": tokens - tokens // 6, "output_tokens": tokens // 6}}
    money = {} if cost is None else {"total_cost_usd": cost}
    body = {"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": "5e55-10"}
    return {"print": {**body, **usage, **money, **more}}


def fails(text: str, status: int, code: int = 1) -> list[Step]:
    return [begins(), ends(text, tokens=0, cost=0, is_error=True, api_error_status=status), {"exit": code}]


GOOD: list[Step] = [
    begins(),
    plans(("Look", "completed"), ("Write", "in_progress")),
    writes("hello.txt", "hello\n"),
    ends(),
]
