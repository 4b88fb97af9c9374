"""Forecasts held against what then happens: each from thirty attempts of a world of its own, and one true run of it."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from math import exp
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from proofs.figures import Figure
from proofs.telling import options
from santiago.contract.policy import Limits, Policy
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.simulation.drawn_run import Task, drawn
from santiago.simulation.draws import Draws
from santiago.simulation.forecast import forecast
from santiago.simulation.history import History, Tried
from santiago.simulation.random_plans import random_plan

if TYPE_CHECKING:
    from proofs.figures import Measured

COUNT, ATTEMPTS, RUNS = 400, 30, 60
LEAST, MOST = 0.72, 0.88
"""Four runs in five should end between p10 and p90."""


class Truth(Draws):
    """How long agents of one world really take, and how often they fail."""

    def __init__(self, seed: int, run: str) -> None:
        super().__init__(History(attempts=(Tried(0, 0),)), f"{seed}/{run}")
        world = Random(seed)
        self.middle, self.width = world.uniform(12, 13.5), world.uniform(0.2, 0.8)
        self.passing, self.seconds = world.uniform(0.6, 0.95), world.randint(5, 90)

    def attempt(self, story: str, number: int) -> Tried:
        random = Random(f"{self.seed}/{story}/{number}")
        reason = None if random.random() < self.passing else Reason.STORY_VERIFICATION_FAILED
        agent = round(exp(random.gauss(self.middle, self.width)))
        return Tried(agent, self.check(story), reason, micro_usd=agent // 2)

    def check(self, step: str) -> int:
        return round(self.seconds * 1000 * Random(f"{self.seed}/{step}").uniform(0.8, 1.2))


class Held(NamedTuple):
    time: bool
    money: bool


def held(seed: int, runs: int = RUNS) -> Held:
    """Tell whether a true run ended between p10 and p90 of its forecast."""
    random = Random(seed)
    limits = Limits(
        story_max_attempts=20,
        run_max_attempts=10_000,
        run_timeout_minutes=Minutes.of(1e6),
        story_timeout_minutes=Minutes.of(1e5),
    )
    task = Task(plan=random_plan(random, most=14), limits=limits, policy=Policy())
    jobs, known = random.choice((1, 2, 4)), Truth(seed, "before")
    attempts = tuple(known.attempt("S", number) for number in range(ATTEMPTS))
    history = History(attempts=attempts, checks=tuple(known.check(f"{at}") for at in range(10)), origin="here")
    said = forecast(task, history, jobs, runs, seed)
    true = drawn(task, Truth(seed, "then"), jobs)
    assert said.micro_usd is not None
    assert true.micro_usd is not None
    return Held(said.ms.low <= true.ms <= said.ms.high, said.micro_usd.low <= true.micro_usd <= said.micro_usd.high)


def run(arguments: list[str]) -> list[Measured]:
    parser = options("calibration", places=2)
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many forecasts ({COUNT})")
    chosen = parser.parse_args(arguments)
    found: list[Held] = []
    with ProcessPoolExecutor(chosen.places) as pool:
        for one in pool.map(held, range(chosen.count), chunksize=10):
            found.append(one)
            if len(found) % 50 == 0:
                print(f"  {len(found)} forecasts", file=sys.stderr)
    time, money = (sum(share) / len(found) for share in zip(*found, strict=True))
    told = f"{time:.0%} of the times and {money:.0%} of the costs of {len(found)} runs"
    missed = not all(LEAST <= share <= MOST for share in (time, money))
    return [Figure(row="calibration", figure=told, target=f"{LEAST:.0%} to {MOST:.0%} of each", missed=missed)]
