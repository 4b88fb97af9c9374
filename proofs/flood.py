"""Gigabytes of verification output in a real run: the peak memory of santiago and of every supervisor that it forks."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.greeter import git

from proofs.figures import Figure
from santiago.process.tree import descendants

if TYPE_CHECKING:
    from proofs.figures import Measured

LIMIT_MIB = 64
PRD = "# PRD: Flood\n\n### R1: Make it\n\n**Files:** `work.txt`\n\n- [ ] work.txt is there\n"


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs flood")
    parser.add_argument("--gigabytes", type=float, default=2)
    size = int(parser.parse_args(arguments).gigabytes * 10**9)
    with tempfile.TemporaryDirectory() as folder:
        repo = _repository(Path(folder, "repo"), size)
        code, peaks = _watched(repo)
        record = json.loads((repo.parent / "out/attempts/S1/1/verification.json").read_bytes())
        printed = sum(result["output"]["total"] for result in record["results"])
    names = " and ".join(f"{name} {mib:.0f} MiB" for name, mib in sorted(peaks.items()))
    good = code == 0 and printed >= size and max(peaks.values()) <= LIMIT_MIB
    figure = f"{names}; printed {printed / 1e9:.1f} GB{f', exit {code}' if code else ''}"
    return [Figure(row="flood", figure=figure, target=f"at most {LIMIT_MIB} MiB each", missed=not good)]


def _repository(repo: Path, size: int) -> Path:
    """Make a repository whose one check prints much, and fails where the work is missing."""
    repo.mkdir(parents=True)
    (repo / "prd.md").write_text(PRD)
    check = f"yes test_of_something PASSED after a while | head -c {size}; test -e work.txt"
    settings = '[agent]\ncommand = ["touch", "work.txt"]\n[policy]\nsandbox = "off"\nunproven = "accept"\n'
    settings += f"[verification]\nstory_commands = [{json.dumps(check)}]\ntimeout_minutes = 120\n"
    (repo / "santiago.toml").write_text(settings)
    git(repo, "init", "-q", "-b", "main", ".")
    git(repo, "config", "user.name", "Ann")
    git(repo, "config", "user.email", "ann@example.org")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Start")
    return repo


def _watched(repo: Path) -> tuple[int, dict[str, float]]:
    """Carry the document out; return the exit code, and the peaks that the system noted for santiago's own processes."""
    words = [sys.executable, "-m", "santiago", "run", "prd.md", "--trust-project", "--out-dir", "../out"]
    env = {
        **os.environ,
        "XDG_CACHE_HOME": str(repo.parent / "cache"),
        "XDG_STATE_HOME": str(repo.parent / "state"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    mine = b"".join(word.encode() + b"\0" for word in words)
    peaks: dict[str, float] = {}
    with subprocess.Popen(words, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for pid in (process.pid, *descendants(process.pid)):
                name = "santiago" if pid == process.pid else "supervisors"
                with contextlib.suppress(OSError):
                    # A fork of santiago has its command line; what it runs has another.
                    if Path("/proc", str(pid), "cmdline").read_bytes() == mine:
                        peaks[name] = max(peaks.get(name, 0), _peak(pid))
            time.sleep(0.05)
    return process.returncode, peaks


def _peak(pid: int) -> float:
    status = Path("/proc", str(pid), "status").read_text()
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)
