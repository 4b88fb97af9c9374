"""Runs while the repository is cleaned up, packed and pruned at random moments; each must end as ever, and leave it whole."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.cli import greeter
from tests.cli.santiago import santiago

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

COMMANDS = (
    ("gc", "--prune=now"),
    ("repack", "-a", "-d"),
    ("repack", "-A", "-d"),
    ("prune", "--expire=now"),
    ("pack-refs", "--all"),
    ("gc", "--aggressive", "--prune=now"),
    ("multi-pack-index", "write"),
    ("maintenance", "run", "--task=gc", "--task=incremental-repack"),
)


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("maintenance", count=60).parse_args(arguments)
    wrong = violations(chosen.count, chosen.seed, chosen.places)
    return [outcome("maintenance", f"{chosen.count:,} runs", wrong)]


def violations(count: int, seed: int, places: int) -> list[str]:
    """Return what went wrong in `count` runs."""
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(places) as pool:
        jobs = [pool.submit(_run, Path(top, str(number)), Random(seed * 100_003 + number)) for number in range(count)]
        return [wrong for job in jobs for wrong in job.result()]


def _run(folder: Path, chance: Random) -> list[str]:
    repo = greeter.make(folder / "repo", greeter.SLOW)
    started: list[str] = []
    done = threading.Event()
    maid = threading.Thread(target=_maintain, args=(repo, chance, done, started))
    maid.start()
    try:
        ran = greeter.carry_out(repo)
    finally:
        done.set()
        maid.join()
    told = {
        "the run": (ran.returncode, ran.stderr),
        "git fsck": _git(repo, "fsck", "--full", "--strict", "--no-dangling"),
        "git gc": _git(repo, "gc", "--quiet", "--prune=now"),
    }
    audit = santiago("audit", greeter.out_dir(repo), cwd=repo, env=greeter.place(repo))
    told["the audit"] = audit.returncode, audit.stdout + audit.stderr
    shutil.rmtree(folder, ignore_errors=True)
    return [f"{what} ended with {code} after {started}: {words[-300:]}" for what, (code, words) in told.items() if code]


def _maintain(repo: Path, chance: Random, done: threading.Event, started: list[str]) -> None:
    while not done.wait(chance.random() * 0.2):
        command = chance.choice(COMMANDS)
        started.append(" ".join(command))
        _git(repo, *command)


def _git(repo: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(["git", *arguments], cwd=repo, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr
