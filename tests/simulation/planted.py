"""A repository with a history: runs whose logs the simulation wrote, as real ones lie on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from santiago.artifacts import registry
from santiago.artifacts.log import Log
from santiago.contract.codec import canonical, sealed
from santiago.contract.moments import ms_of, text_of
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, Policy, RunInput
from santiago.contract.quantities import Minutes
from santiago.simulation.drawn_run import Task, prepared
from santiago.simulation.draws import Draws, Said, with_options
from santiago.simulation.random_plans import plan_of, story

PLAN = plan_of([story("S1"), story("S2"), story("S3", needs=["S1"]), story("S4", files=["S1.py"]), story("S5")])
SAID = Said(attempt=(120_000, 480_000), success=0.8, micro_usd=300_000, check_ms=20_000)
DAY = 86_400_000
LIMITS = Limits(story_max_attempts=20, run_max_attempts=1000, story_timeout_minutes=Minutes.of(200))


def plant(repo: Path, runs: int, plan: Plan = PLAN, *, whole: bool = True) -> list[Path]:
    """Add runs of a plan, a day apart; the last one stops in the middle unless it is to be whole."""
    found = []
    for number in range(1, runs + 1):
        task, draws = (
            Task(plan=plan, limits=LIMITS, policy=Policy()),
            Draws(with_options(None, SAID), f"planted {number}"),
        )
        run, _ = prepared(task, draws, 2)
        run.run()
        name = f"r_2026010{number}_000000"
        folder = repo / ".santiago" / "runs" / name
        folder.mkdir(parents=True)
        (folder / "plan.json").write_bytes(canonical(sealed(plan)))
        settings = RunInput(
            contract_version=1,
            run_id=name,
            repo_path="../../..",
            prd_path="prd.md",
            limits=LIMITS,
            policy=Policy(jobs=2),
        )
        (folder / "run-input.json").write_bytes(canonical(settings))
        log = run.store.log if whole or number < runs else run.store.log[: len(run.store.log) // 2]
        made = Log.open(folder / "progress.ndjson", lambda: "")
        made.append([replace(one, run_id=name, timestamp=text_of(ms_of(one.timestamp) + number * DAY)) for one in log])
        made.close()
        registry.register(repo / ".git", name, folder, f"2026-01-0{number}T00:00:00Z")
        found.append(folder)
    return found
