"""kill -9 of santiago at random moments while real programs work inside a fence; nothing survives, nothing done is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.cli import fenced, greeter

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

KINDS = ("bubblewrap", "landlock")
MOST_STARTS = 12
"""After these a run must have ended; the last ones are not killed."""
AGENT = """import os, pathlib, subprocess, sys, time
subprocess.Popen(["sleep", "300"], start_new_session=True)
name = {"S1": "hello", "S2": "bye", "S3": "both"}[os.environ["SANTIAGO_STORY"]]
time.sleep(0.1)
pathlib.Path(f"{name}.txt").write_text({"bye": "goodbye"}.get(name, name) + "\\n")
"""


@dataclass
class Tally:
    kills: int = 0
    violations: list[str] = field(default_factory=list)


def run(arguments: list[str]) -> list[Measured]:
    """Kill so often in each kind of fence."""
    chosen = options("fenced-kills", count=100).parse_args(arguments)
    tallies = {kind: killed(kind, chosen.count, chosen.seed, chosen.places) for kind in KINDS}
    return [
        outcome(f"fenced-kills-{kind}", f"{tally.kills:,} kills", tally.violations, reached=tally.kills >= chosen.count)
        for kind, tally in tallies.items()
    ]


def killed(kind: str, enough: int, seed: int, places: int) -> Tally:
    """Kill runs inside one kind of fence until there were enough kills."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(places) as pool:

        def work(place: int) -> None:
            chance, number = Random(seed * 1009 + place), 0
            while tally.kills < enough and len(tally.violations) < 20:
                number += 1
                _one(Path(top, f"{place}-{number}"), kind, chance, tally)

        list(pool.map(work, range(places)))
    return tally


def _one(folder: Path, kind: str, chance: Random, tally: Tally) -> None:
    """Start a run, kill it, resume it, kill it again, and so on until it ends; look at what is left each time."""
    files = {"prd.md": greeter.PRD, ".gitignore": ".santiago\n"}
    repo = greeter.committed(folder / "repo", files)
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    begin = [
        "run",
        "prd.md",
        "--agent",
        f"{sys.executable} {agent}",
        "--trust-commands",
        "--unproven",
        "accept",
        "--jobs",
        "2",
    ]
    done: list[str] = []
    for start in range(MOST_STARTS):
        has_begun = any(log.stat().st_size for log in repo.glob(".santiago/runs/*/progress.ndjson"))
        words = ["resume", "--add-attempts", "5", "--trust-commands"] if has_begun else begin
        code = _start(repo, kind, words, chance.random() * 1.5 if start < MOST_STARTS - 3 else None)
        tally.kills += code == -signal.SIGKILL
        wrong, done = _look(repo, done, ended=code == 0)
        tally.violations += [f"{folder.name} in {kind}, start {start + 1}: {one}" for one in wrong]
        if code == 0 or wrong:
            break
    else:
        tally.violations.append(f"{folder.name} in {kind}: not ended after {MOST_STARTS} starts (exit {code})")
    shutil.rmtree(folder, ignore_errors=True)


def _start(repo: Path, kind: str, words: list[str], kill_after: float | None) -> int:
    """Start santiago inside a kind of fence and return its exit code; killed after some seconds, or not at all."""
    command = [sys.executable, "-P", fenced.__file__, kind, *words]
    env = {**os.environ, **greeter.place(repo), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _look(repo: Path, before: list[str], *, ended: bool) -> tuple[list[str], list[str]]:
    """Return what is wrong after a start, and the stories that are done."""
    wrong: list[str] = []
    logs = list((repo / ".santiago" / "runs").glob("*/progress.ndjson"))
    lines = logs[0].read_bytes().split(b"\n")[:-1] if logs else []
    done = [event["story_id"] for event in map(json.loads, lines) if event["phase"] == "done" and event["story_id"]]
    if done[: len(before)] != before or len(set(done)) != len(done):
        wrong.append(f"done was {before} and is {done}")
    if ended:
        audit = subprocess.run(
            [sys.executable, "-P", fenced.__file__, "none", "audit"], cwd=repo, capture_output=True, text=True, check=False,
            env={**os.environ, **greeter.place(repo), "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        wrong += [f"audit: {audit.stdout[-300:]}"] if audit.returncode else []
        wrong += [f"alive: {left}" for left in _alive(repo)]
    return wrong, done


def _alive(repo: Path) -> list[str]:
    """Return the processes that still carry the mark of the run."""
    found, mark = [], os.fsencode(repo)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes() and b"SANTIAGO_STORY" in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found
