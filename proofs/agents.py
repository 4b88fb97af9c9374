"""All agent programs that can be fetched, against the scripted model: stories, time-outs, and the whole table of faults."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.agents.install import OVER_ACP, PROGRAMS

from proofs.figures import ROOT, Figure, Skipped
from proofs.suite import counted

if TYPE_CHECKING:
    from proofs.figures import Measured

TESTS = ["tests/agents/test_stories.py", "tests/agents/test_steps.py", "tests/agents/test_faults.py"]


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs agents")
    names = [name for name in PROGRAMS if name not in OVER_ACP]
    parser.add_argument("names", nargs="*", default=names, help="which of " + ", ".join(names))
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--places", type=int, default=2, help="how many at once")
    chosen = parser.parse_args(arguments)
    return [tested("agents", chosen.names, chosen.tests, chosen.places)]


def tested(row: str, names: list[str], tests: list[str], places: int) -> Measured:
    """Run tests of agents with these programs."""
    env = {**os.environ, "SANTIAGO_TEST_AGENTS": " ".join(names)}
    words = [sys.executable, "-m", "pytest", "-n", str(places), "-rfEs", "--durations=0", *tests]
    done = subprocess.run(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    counts = counted(done.stdout)
    if not done.returncode and not counts["passed"]:
        return Skipped(row=row, reason=f"all {counts['skipped']} tests were skipped")
    figure = f"{len(names)} programs: {counts['passed']} tests passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return Figure(row=row, figure=figure, target="0 failed", missed=bool(done.returncode))
