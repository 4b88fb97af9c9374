"""Forty stories whose checks mostly sleep, with four jobs: this commit beside another one, in alternation.

`python -m benchmarks.ahead CHECKOUT` names a checkout of the other commit. It is no row of the proofs, since what it is
compared with is gone as soon as it has served.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.stories import GIT

PAIRS, STORIES, JOBS = 3, 40, 4
RUN = """
import sys, time
from pathlib import Path
from santiago.app.start.compose import execute
from santiago.app.start.request import Request
from santiago.contract.policy import Agent, Limits, Policy, RunInput, Verification
from santiago.simulation.random_plans import plan_of, story

top, count, jobs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
plan = plan_of([story(f"S{n}", files=[f"S{n}.txt"]) for n in range(1, count + 1)])
run_input = RunInput(
    contract_version=1, run_id="run", repo_path=str(top / "repo"), prd_path="prd.md", limits=Limits(run_max_attempts=1000),
    verification=Verification(story_commands=("sleep 3; ls S*.txt",)), agent=Agent(mode="scripted", playbook="play.yaml"),
    policy=Policy(sandbox="off", unproven="accept"),
)
began = time.monotonic()
state = execute(Request(out_dir=top / "out", run_input=run_input, plan=plan, jobs=jobs))
assert state.phase == "success", state.reason
print(time.monotonic() - began)
"""


def seconds(source: Path) -> float:
    """Return how long the run takes with the santiago of one checkout."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder, "repo")
        repo.mkdir()
        play = "".join(f'  S{n}: [{{seconds: 0.5, write: {{"S{n}.txt": "it"}}}}]\n' for n in range(1, STORIES + 1))
        (repo / "play.yaml").write_text(f"stories:\n{play}", encoding="utf-8")
        for arguments in (["init", "-q", "-b", "main", "."], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
            subprocess.run(["git", *arguments], cwd=repo, env=GIT, check=True)
        environment = {**os.environ, "PYTHONPATH": str(source / "src"), "XDG_CACHE_HOME": f"{folder}/cache"}
        told = subprocess.run(
            [sys.executable, "-c", RUN, folder, str(STORIES), str(JOBS)],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    return float(told.split()[-1])


def main(other: Path) -> None:
    here, ratios = Path(__file__).parent.parent, list[float]()
    for _ in range(PAIRS):
        mine, its = seconds(here), seconds(other)
        ratios.append(mine / its)
        print(f"  {mine:.0f} s beside {its:.0f} s: {ratios[-1]:.2f}x", flush=True)
    print(f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f}), at most 0.7x")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
