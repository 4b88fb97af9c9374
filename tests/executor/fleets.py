"""Runs like those of a fleet: many stories, attempts of about eight minutes, checks of one."""

from __future__ import annotations

from random import Random

from santiago.contract.policy import Limits
from santiago.contract.quantities import Minutes
from santiago.contract.reasons import Reason
from santiago.contract.steps import Attempt, Integrate, Step, VerifyAhead
from santiago.simulation.random_plans import plan_of, story
from santiago.simulation.world import SimulatedPerformer, Simulation, Tree


class Fleet:
    """Half of the stories depend on another, and one in five fails once."""

    def __init__(self, stories: int, jobs: int, *, seed: int = 1, check_ms: int = 60_000, reds: float = 0) -> None:
        self.seed, self.check_ms, self.reds = seed, check_ms, reds
        self.verified = 0
        """How many second verdicts were begun."""
        random = self.luck("plan")
        made = [story(f"S{n}", needs=_needs(n, random)) for n in range(1, stories + 1)]
        failing = {one.id for one in made if random.random() < 0.2}
        self.run = Simulation(
            plan_of(made), jobs=jobs, duration=self._lasts,
            performer=OftenRed(self, fails=lambda name, attempt: FAILED if attempt == 1 and name in failing else None),
            limits=Limits(run_max_attempts=10 * stories, run_timeout_minutes=Minutes.of(1e6)),
        )  # fmt: skip

    def _lasts(self, step: Step) -> int:
        self.verified += isinstance(step, Integrate | VerifyAhead)
        return self.luck(step.id).randint(240_000, 720_000) if isinstance(step, Attempt) else self.check_ms

    def luck(self, name: str) -> Random:
        """Return the same luck whenever something happens."""
        return Random(f"{self.seed} {name}")

    def hours(self) -> float:
        """Carry it out, and return how long that took on the virtual clock."""
        assert self.run.run().phase == "success"
        return self.run.clock.now / 3_600_000


def _needs(number: int, random: Random) -> list[str]:
    depends = number > 1 and random.random() < 0.5
    return [f"S{random.randint(max(1, number - 300), number - 1)}"] if depends else []


class OftenRed(SimulatedPerformer):
    """Of the works of stories, some fail beside the work of others, whatever that is."""

    def __init__(self, fleet: Fleet, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self.fleet = fleet

    def _passes(self, step: Integrate | VerifyAhead, after: Tree) -> bool:
        luck = self.fleet.luck(f"beside others/{step.story}/{step.attempt}")
        return self._is_own(step, after) or luck.random() >= self.fleet.reds


FAILED = Reason.STORY_VERIFICATION_FAILED
