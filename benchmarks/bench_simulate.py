"""Fleets on the virtual clock: what second verdicts cost them; and what the simulation itself costs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.documents import requirements
from benchmarks.measure import child, python, verdict
from tests.executor.fleets import Fleet

if TYPE_CHECKING:
    from proofs.figures import Measured

STORIES, SEEDS = 300, range(1, 9)
SETTINGS = "[limits]\nstory_timeout_minutes = 1000\nrun_timeout_minutes = 100000\nrun_max_attempts = 1000\n"
LARGE = "from tests.executor.fleets import Fleet; Fleet(10_000, 1_000).hours()"


def run() -> list[Measured]:
    figures: list[Measured] = []
    verified: list[float] = []
    for jobs, most, most_red in ((64, 1.9, 1.15), (16, 4.8, 1.3)):
        plain = [Fleet(STORIES, jobs, seed=seed).hours() for seed in SEEDS]
        figures.append(verdict(f"fleet-{jobs}", sum(plain) / len(plain), most, unit=" h", among=plain))
        red = [Fleet(STORIES, jobs, seed=seed, reds=0.1) for seed in SEEDS]
        times = [one.hours() / Fleet(STORIES, jobs, seed=one.seed, reds=0.1, check_ms=0).hours() for one in red]
        figures.append(verdict(f"fleet-{jobs}-red", sum(times) / len(times), most_red, among=times))
        verified += [one.verified / STORIES for one in red]
    figures.append(verdict("fleet-verified", sum(verified) / len(verified), 2, unit="", among=verified))
    large = python(LARGE)
    figures += [
        verdict("fleet-large-time", large.seconds, 60, unit=" s"),
        verdict("fleet-large-memory", large.mebibytes, 500, unit=" MiB"),
    ]
    return [*figures, _command()]


def _command() -> Measured:
    """Return the time of a forecast of 200 runs of 100 stories, what-ifs included."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "prd.md").write_text(requirements(100, 3), encoding="utf-8")
        (Path(folder) / "santiago.toml").write_text(SETTINGS, encoding="utf-8")
        options = "--jobs 16 --runs 200 --attempt 5m..20m --success 0.8 --cost 0.40 --check 60s"
        cost = child([sys.executable, "-m", "santiago", "simulate", "prd.md", *options.split()], cwd=folder)
    return verdict("simulate-forecast", cost.seconds, 20, unit=" s")
