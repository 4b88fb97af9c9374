"""Other programs and santiago: clients of MCP use every tool of its server, and santiago has agents work that speak ACP.

The clients are the library's own, MCP Inspector's command line, and Claude Code with a hook that accepts every form.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.agents.homes import home
from tests.agents.install import INSPECTOR, NO_NPM, OVER_ACP, PROGRAMS, InstallError, Program, have_npm, install
from tests.agents.model import Model
from tests.agents.running import alive, surroundings
from tests.agents.script import Action, Call, Say, Shell
from tests.cli import greeter
from tests.mcp.asking import ASKED, MODES, Asked, made
from tests.tui.made import RUN

from mcp import Client, StdioServerParameters
from proofs.agents import tested
from proofs.figures import ROOT, Figure, Skipped
from santiago.artifacts.inbox import Inbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from proofs.figures import Measured

QUESTION = f"S{ASKED.index('agent') + 1}-agent-1"
BEFORE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("status", {}, RUN),
    ("plan", {"document": "docs/prd.md"}, "R1"),
    ("questions", {"run": RUN}, QUESTION),
    ("task_mirror", {"call": "TaskUpdate", "arguments": {"taskId": "S2", "status": "completed"}}, "Not taken"),
    ("answer", {"question": QUESTION}, f"santiago answer {QUESTION} WORD"),
    ("start", {"document": "docs/prd.md"}, "A person starts it: santiago run docs/prd.md"),
    ("enqueue", {"title": "More"}, '"More"'),
    ("claim", {"ticket": "T1"}, '"T1"'),
)
COMMIT = "echo hello >hello.txt && git add hello.txt && git commit -q -m Hello"
AFTER: tuple[str, dict[str, Any], str] = ("verify", {"ticket": "T1"}, "is being judged")
"""A tool, its arguments, and words of its answer. The work on the ticket is committed before the last one."""
RESOURCE = f"santiago://runs/{RUN}/stories/S1/evidence"
APPROVES = (
    'echo \'{"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {"text": "ok"}}}\''
)
SECONDS = 120


class World(NamedTuple):
    """A repository with a run that asks everything, and a board with a ticket."""

    repo: Path
    env: dict[str, str]

    @property
    def server(self) -> list[str]:
        return [sys.executable, "-m", "santiago", "mcp", "--repo", str(self.repo)]

    def settings(self) -> str:
        """Write the settings that most clients take; return their path."""
        command, *args = self.server
        kept = {name: self.env[name] for name in ("HOME", "PATH", "USER", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
        path = self.repo.parent / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"santiago": {"command": command, "args": args, "env": kept}}}))
        return str(path)

    def santiago(self, *words: str) -> str:
        return _output([sys.executable, "-m", "santiago", *words], self.repo, self.env)

    def wrong(self) -> Iterator[str]:
        """Wait for what was begun, and yield what is not as it should be then: nothing is answered, and the ticket was judged."""
        while alive(self.env["HOME"], ""):
            time.sleep(0.1)
        if Inbox(self.repo / ".santiago" / "runs" / RUN).collect():
            yield "something was recorded as an answer"
        reviewed = json.loads(self.santiago("queue", "list", "--json"))["planner-review"]
        if "T1" not in [ticket["id"] for ticket in reviewed]:
            yield "the ticket was not verified"


@contextmanager
def world() -> Iterator[World]:
    with TemporaryDirectory(prefix="interop-") as folder:
        made(Path(folder))
        repo, own = Path(folder, "repo"), Path(folder, "home")
        own.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SANTIAGO_", "XDG_"))}
        one = World(repo, {**clean, **greeter.place(repo), "HOME": str(own), "USER": "ann"})
        one.santiago("queue", "init")
        words = ("--queue", "developer-todo", "--id", "T1", "--title", "Say hello", "--verify", "grep hello hello.txt")
        one.santiago("queue", "add", *words)
        yield one


def run(arguments: list[str]) -> list[Measured]:
    ways: dict[str, Callable[[], Measured]] = {
        "client": _library, "inspector": _inspector, "claude": _claude, "plug-in": _plug_in, "acp": _acp,
    }  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m proofs interop")
    parser.add_argument("ways", nargs="*", default=[*ways], help="which of " + ", ".join(ways))
    found: list[Measured] = []
    for name in parser.parse_args(arguments).ways:
        try:
            found.append(ways[name]())
        except InstallError as error:
            found.append(Skipped(row=f"interop-{name}", reason=str(error).partition("\n")[0]))
    return found


def _needs(program: Program) -> str:
    """Return the PATH with a program on it."""
    if not have_npm():
        raise InstallError(NO_NPM)
    return f"{install(program)}:{os.environ['PATH']}"


def _used(row: str, told: list[tuple[str, str, str]], wrong: list[str]) -> Measured:
    """Judge what tools answered: their name, what was wanted, what was told."""
    wrong += [f"{name} said {text[:300]!r}" for name, wanted, text in told if wanted not in text]
    for line in wrong:
        print(f"  {row}: {line}")
    figure = f"{len(told)} answers, {len(wrong)} wrong"
    return Figure(row=row, figure=figure, target="0 wrong", missed=bool(wrong) or len(told) <= len(BEFORE))


# Clients


def _library() -> Measured:
    told: list[tuple[str, str, str]] = []
    wrong: list[str] = []

    async def calls(mode: str, at: World) -> None:
        command, *args = at.server
        async with Client(StdioServerParameters(command=command, args=args, env=at.env), mode=mode) as client:
            asked = Asked(client)
            told.extend([(name, wanted, await asked.tool(name, **given)) for name, given, wanted in BEFORE])
            _output(["sh", "-c", COMMIT], at.repo, at.env)
            name, given, wanted = AFTER
            told.extend([(name, wanted, await asked.tool(name, **given))])
            told.extend([(RESOURCE, "return 409", await asked.resource(RESOURCE))])

    for mode in MODES:
        with world() as at:
            asyncio.run(calls(mode, at))
            wrong += at.wrong()
    return _used("interop-client", told, wrong)


def _inspector() -> Measured:
    path = _needs(INSPECTOR)
    with world() as at:
        words = ["mcp-inspector", "--cli", "--config", at.settings(), "--server", "santiago"]

        def asks(*more: str) -> str:
            return _output([*words, *more], at.repo, {**at.env, "PATH": path})

        def calls(name: str, given: dict[str, Any], wanted: str) -> tuple[str, str, str]:
            texts = {key: one if isinstance(one, str) else json.dumps(one) for key, one in given.items()}
            arguments = [word for key, text in texts.items() for word in ("--tool-arg", f"{key}={text}")]
            said = json.loads(asks("--method", "tools/call", "--tool-name", name, *arguments))
            return name, wanted, said["content"][0]["text"]

        told = [("tools/list", '"task_mirror"', asks("--method", "tools/list"))]
        told += [calls(*one) for one in BEFORE]
        _output(["sh", "-c", COMMIT], at.repo, at.env)
        told += [calls(*AFTER), (RESOURCE, "return 409", asks("--method", "resources/read", "--uri", RESOURCE))]
        wrong = list(at.wrong())
    return _used("interop-inspector", told, wrong)


def _claude() -> Measured:
    acts: list[Action] = [*(Call(f"mcp__santiago__{name}", given) for name, given, _ in BEFORE), Shell(COMMIT)]
    acts += [Call(f"mcp__santiago__{AFTER[0]}", AFTER[1]), Say("Done.")]
    with world() as at:
        said = _spoken(acts, at, "--mcp-config", at.settings(), "--strict-mcp-config")
        wrong = list(at.wrong())
    results = [
        part["content"] if isinstance(part["content"], str) else "".join(one.get("text", "") for one in part["content"])
        for line in said
        if line["type"] == "user"
        for part in line["message"]["content"]
        if part["type"] == "tool_result"
    ]
    wanted = [*((name, words) for name, _, words in BEFORE), ("commit", ""), (AFTER[0], AFTER[2])]
    told = [(name, words, text) for (name, words), text in zip(wanted, results, strict=False) if name != "commit"]
    return _used("interop-claude", told, wrong)


def _plug_in() -> Measured:
    """Have Claude Code look at the plug-in and its marketplace, and load it."""
    path = _needs(PROGRAMS["claude"])
    with world() as at:
        env = {**at.env, "PATH": f"{Path(sys.executable).parent}:{path}"}
        wrong = []
        for folder in (ROOT, ROOT / "plugin"):
            done = subprocess.run(
                ["claude", "plugin", "validate", str(folder)], env=env, capture_output=True, text=True, check=False
            )
            said = done.stdout + done.stderr
            wrong += [said] if done.returncode or "warning" in said.lower() else []
        begun = _spoken([Say("Done.")], at, "--plugin-dir", str(ROOT / "plugin"))[0]
    servers = {one["name"]: one["status"] for one in begun["mcp_servers"]}
    for told, wanted in (
        (str(servers), "'plugin:santiago:santiago': 'connected'"),
        (str(begun["skills"]), "santiago:santiago"),
    ):
        wrong += [] if wanted in told else [f"no {wanted} in {told}"]
    for line in wrong:
        print(f"  interop-plug-in: {line}")
    figure = f"plug-in and marketplace: {len(wrong)} complaints"
    return Figure(row="interop-plug-in", figure=figure, target="0 complaints", missed=bool(wrong))


def _spoken(acts: list[Action], at: World, *options: str) -> list[dict[str, Any]]:
    """Start Claude Code with a hook that accepts every form, and return the lines that it prints."""
    path = _needs(PROGRAMS["claude"])
    with Model(acts) as model, home("claude", model.url) as folders:
        hook = {"hooks": {"Elicitation": [{"hooks": [{"type": "command", "command": APPROVES}]}]}}
        Path(folders["HOME"], ".claude", "settings.json").write_text(json.dumps(hook))
        env = {
            **surroundings("claude", folders, at.repo.parent / "cache"), "PATH": f"{Path(sys.executable).parent}:{path}",
            "ENABLE_TOOL_SEARCH": "false", "IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip
        words = [
            "claude",
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "bypassPermissions",
        ]
        printed = _output([*words, *options], at.repo, env, "Use every tool.")
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def _acp() -> Measured:
    return tested("interop-acp", [*OVER_ACP], ["tests/agents/test_stories.py", "tests/agents/test_faults.py"], 2)


def _output(words: list[str], cwd: Path, env: dict[str, str], said: str = "") -> str:
    done = subprocess.run(
        words, cwd=cwd, env=env, input=said, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout
