"""All agent programs that can be fetched, against the scripted model: stories, time-outs, and the whole table of faults."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.agents.install import PROGRAMS

from proofs.figures import ROOT, Figure, Skipped
from proofs.suite import counted

if TYPE_CHECKING:
    from proofs.figures import Measured

TESTS = ["tests/agents/test_stories.py", "tests/agents/test_steps.py", "tests/agents/test_faults.py"]


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs agents")
    parser.add_argument("names", nargs="*", default=[*PROGRAMS], help="which of " + ", ".join(PROGRAMS))
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--places", type=int, default=2, help="how many at once")
    chosen = parser.parse_args(arguments)
    env = {**os.environ, "SANTIAGO_TEST_AGENTS": " ".join(chosen.names)}
    tests = [sys.executable, "-m", "pytest", "-n", str(chosen.places), "-rfEs", "--durations=0", *chosen.tests]
    done = subprocess.run(tests, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    counts = counted(done.stdout)
    if not done.returncode and not counts["passed"]:
        return [Skipped(row="agents", reason=f"all {counts['skipped']} tests were skipped")]
    figure = f"{len(chosen.names)} programs: {counts['passed']} tests passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return [Figure(row="agents", figure=figure, target="0 failed", missed=bool(done.returncode))]
