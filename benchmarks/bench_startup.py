"""What a command costs before it does anything: child processor time beside a bare interpreter in turns, median of 15.

The modules are compiled first, as an installation does it. A `resume` of a run that was killed is measured up to its
first step: its agent kills santiago, as it did before.
"""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import verdict
from benchmarks.stories import GIT
from proofs.figures import ROOT, Skipped

import santiago

if TYPE_CHECKING:
    from proofs.figures import Measured

TIMES = 15
BEFORE_MCP = "b31c2f41^"
"""The commit before the MCP server came: what no MCP client calls must not start later because of it."""
STARTED = ("sh", "-c", 'echo $$ >../pid && exec "$@"', "sh")
"""Leaves the number of the process that it becomes to the agent."""
SANTIAGO = (*STARTED, sys.executable, "-m", "santiago")
AGENT = "read coordinator <{}/pid && kill -9 $coordinator\n"
BARE = "from mcp.server.mcpserver import MCPServer as S; s = S('bare'); s.add_tool(lambda x: x, name='same'); s.run()"
"""The least server of the same library."""
NOTHING = [sys.executable, "-c", "pass"]
ASKS = """\
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
"""
"""What a client of MCP says until it knows the tools. Other commands read none of it."""
REQUIREMENT = """
### R{0}: Thing {0}

- [ ] it does thing {0}

**Verification:** `grep {0} thing{0}.txt`
"""


def run() -> list[Measured]:
    compileall.compile_dir(Path(santiago.__file__).parent, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        _prepare(top)
        found: list[Measured] = []
        for row, target, arguments in (
            ("startup-help", 8, ["--help"]),
            ("startup-plan", 20, ["plan", "prd.md"]),
            ("startup-plan-again", 20, ["plan", "prd.md", "--out-dir", "../again"]),
            ("startup-status", 25, ["status"]),
            ("startup-run-help", 20, ["run", "--help"]),
            ("startup-stop", 25, ["stop"]),
            ("startup-queue-list", 25, ["queue", "list"]),
            ("startup-resume", 25, _resume(top)),
        ):
            code = -9 if "resume" in arguments else 0
            found.append(verdict(row, _ratio([*SANTIAGO, *arguments], NOTHING, top, code), target))
        (top / "asks").write_text(ASKS, encoding="utf-8")
        found.append(verdict("startup-mcp", _ratio([*SANTIAGO, "mcp"], [sys.executable, "-c", BARE], top), 1.3))
        found.append(_without_mcp(top))
    return found


def _without_mcp(top: Path) -> Measured:
    """Compare `--help` with that of the commit before MCP, in turns."""
    packed = subprocess.run(["git", "archive", BEFORE_MCP, "src"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        return Skipped(row="startup-help-mcp", reason=f"the commit {BEFORE_MCP} is not here")
    subprocess.run(["tar", "-x"], cwd=top, input=packed.stdout, check=True)
    compileall.compile_dir(top / "src", quiet=2)
    program = "import sys; sys.path.insert(0, {!r}); from santiago.cli.entry import entry; sys.argv = ['santiago', '--help']; entry()"
    now, before = ([sys.executable, "-c", program.format(str(folder / "src"))] for folder in (ROOT, top))
    ratios = [_seconds(now, top / "repo", 0) / _seconds(before, top / "repo", 0) for _ in range(5 * TIMES)]
    return verdict("startup-help-mcp", statistics.median(ratios), 1.02)


def _prepare(top: Path) -> None:
    """Make a repository with a document, a plan of it, and a run that was killed; `before` is a copy of how it stands."""
    repo = top / "repo"
    repo.mkdir()
    text = "# PRD: Twenty\n\n## Requirements\n" + "".join(REQUIREMENT.format(number) for number in range(1, 21))
    (repo / "prd.md").write_text(text, encoding="utf-8")
    (top / "agent").write_text(AGENT.format(top), encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=repo, env=GIT, check=True)
    _seconds([*SANTIAGO, "plan", "prd.md"], repo, 0)
    _seconds([*SANTIAGO, "run", "prd.md", *_resume(top)[1:]], repo, -9)
    shutil.copytree(repo, top / "before", symlinks=True)


def _resume(top: Path) -> list[str]:
    return ["resume", "--no-input", "--trust-commands", "--sandbox", "off", "--agent", f"sh {top}/agent"]


def _ratio(arguments: list[str], least: list[str], top: Path, code: int = 0) -> float:
    """Return what a command costs beside the least that could, in turns: a machine is not as fast at every moment."""
    ratios = []
    for _ in range(TIMES):
        shutil.rmtree(top / "repo")
        shutil.copytree(top / "before", top / "repo", symlinks=True)
        ratios.append(_seconds(arguments, top / "repo", code) / _seconds(least, top / "repo", 0))
    return statistics.median(ratios)


def _seconds(arguments: list[str], cwd: Path, code: int) -> float:
    """Return the user and system time of a command and of what it started and waited for."""
    asks = cwd.parent / "asks"
    with (asks if asks.exists() else Path(os.devnull)).open("rb") as said:
        process = subprocess.Popen(arguments, stdin=said, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime
