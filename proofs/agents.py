"""All agent programs that can be fetched, against the scripted model: stories, time-outs, and the whole table of faults."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.agents.install import PROGRAMS

TESTS = ("tests/agents/test_stories.py", "tests/agents/test_steps.py", "tests/agents/test_faults.py")


def run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs agents")
    parser.add_argument("names", nargs="*", default=[*PROGRAMS], help="which of " + ", ".join(PROGRAMS))
    parser.add_argument("--places", type=int, default=2, help="how many at once")
    chosen = parser.parse_args(arguments)
    env = {**os.environ, "SANTIAGO_TEST_AGENTS": " ".join(chosen.names)}
    tests = [sys.executable, "-m", "pytest", "-n", str(chosen.places), "--durations=0", *TESTS]
    return subprocess.run(tests, cwd=Path(__file__).parents[1], env=env, check=False).returncode
