"""What a run will take: the real loop over and over, with other luck each time; and what holds it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from santiago.contract.plan import Chunk, Plan, Story
from santiago.contract.quantities import Minutes
from santiago.contract.record import lean
from santiago.executor.schedule import followed, overlap
from santiago.simulation.drawn_run import REFUSALS, WHOLE, Course, Drawn, Task, Without, drawn
from santiago.simulation.draws import Draws
from santiago.simulation.history import History

ENDLESS = 10**9
_WORTH = 0.03
"""The share of the time from which on something is worth saying."""


class Spread(NamedTuple):
    """One in ten is below `low`, one in two below `middle`, nine in ten below `high`."""

    low: float
    middle: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    ranked = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ranked) - 1)
        below = int(place)
        above = min(below + 1, len(ranked) - 1)
        return ranked[below] + (ranked[above] - ranked[below]) * (place - below)

    return Spread(at(0.1), at(0.5), at(0.9))


@lean(kw_only=True)
class Forecast:
    """What many simulated runs came to."""

    jobs: int
    runs: tuple[Drawn, ...]

    @property
    def ms(self) -> Spread:
        return spread([one.ms for one in self.runs])

    @property
    def micro_usd(self) -> Spread | None:
        known = [one.micro_usd for one in self.runs if one.micro_usd is not None]
        return spread(known) if known and len(known) == len(self.runs) and any(known) else None

    @property
    def tokens(self) -> Spread | None:
        known = [one.tokens for one in self.runs if one.tokens is not None]
        return spread(known) if known and len(known) == len(self.runs) and any(known) else None

    @property
    def ends(self) -> Counter[str]:
        """How often it ended without all stories on the branch, by reason and limit."""
        return Counter(f"{one.reason} {one.limit}".strip() for one in self.runs if one.reason)

    @property
    def chance(self) -> float:
        """Return how likely it is that all stories come onto the branch, within the budgets."""
        return sum(one.reason is None for one in self.runs) / len(self.runs)

    @property
    def mostly_whole(self) -> bool:
        return self.chance >= 0.5

    @property
    def usual(self) -> Drawn:
        """Return the run in the middle, of those that brought all stories if these are many."""
        whole = [one for one in self.runs if one.reason is None] if self.mostly_whole else list(self.runs)
        return sorted(whole, key=lambda one: one.ms)[len(whole) // 2]


def forecast(task: Task, history: History, jobs: int, runs: int, seed: int = 0, without: Without = WHOLE) -> Forecast:
    made = (drawn(task, Draws(history, f"{seed}:{number}"), jobs, without) for number in range(runs))
    return Forecast(jobs=jobs, runs=tuple(made))


# What holds it up


class Gain(NamedTuple):
    """What a run would gain if one thing did not hold it up."""

    name: str
    ms: float


def gains(task: Task, history: History, found: Forecast, runs: int, seed: int = 0) -> list[Gain]:
    """Return what each thing costs, the most expensive first: the same luck with and without it.

    Where most runs end early there is nothing to compare: a run that ends later may have got further.
    """
    if not found.mostly_whole:
        return []
    usual = spread([one.ms for one in found.runs[:runs]]).middle
    others = {
        name: forecast(changed, history, more, runs, seed, without).ms.middle
        for name, (changed, more, without) in _variants(task, history, found).items()
    }
    gained = [Gain(name, usual - ms) for name, ms in others.items()]
    return sorted((one for one in gained if one.ms > _WORTH * usual), key=lambda one: -one.ms)


ONE_MORE = "one more job"


def _variants(task: Task, history: History, forecast: Forecast) -> dict[str, tuple[Task, int, Without]]:
    """Return what may make a run faster. What cannot is left out, since each costs many runs."""
    jobs, stories = forecast.jobs, len(task.plan.stories)
    found: dict[str, tuple[Task, int, Without]] = {}
    if any(run.was_full for run in forecast.runs):
        found[ONE_MORE] = (task, jobs + 1, WHOLE)
        if stories > jobs + 1:
            found["jobs"] = (task, stories, WHOLE)
    found |= {name: (other, jobs, WHOLE) for name, other in _other_plans(task).items()}
    found["integration"] = (task, jobs, Without(integration=True))
    if any(one.reason in REFUSALS for one in history.attempts):
        found["rate limits"] = (task, jobs, Without(refusals=True))
    if history.people or task.policy.closed:
        found["people's gates"] = (task, jobs, Without(people=True))
    return found


def _other_plans(task: Task) -> dict[str, Task]:
    """Return the task with other plans, each without one of the things that stories wait for."""
    stories = task.plan.stories
    waiting = followed(task.plan, optimistic=task.policy.optimistic)
    own = {story.id: replace(story, files=(f"~/{story.id}",)) for story in stories}
    found: dict[str, Task] = {}
    if any(story.depends_on for story in stories):
        found["dependencies"] = _with(task, {story.id: replace(story, depends_on=()) for story in stories})
    if any(story.files and waiting[story.id] for story in stories):
        found["files that stories share"] = _with(task, {s.id: own[s.id] for s in stories if s.files})
    if any(not story.files for story in stories) and not task.policy.optimistic:
        found["stories without files"] = _with(task, {s.id: own[s.id] for s in stories if not s.files})
    if len(task.plan.chunks) > 1:
        found["chunks"] = _in_one_chunk(task)
    return found


def _with(task: Task, changed: Mapping[str, Story]) -> Task:
    return replace(task, plan=replace(task.plan, stories=tuple(changed.get(one.id, one) for one in task.plan.stories)))


def _in_one_chunk(task: Task) -> Task:
    label = task.plan.chunks[0].label
    chunk = Chunk(label=label, stories=tuple(story.id for story in task.plan.stories))
    moved = _with(task, {story.id: replace(story, chunk=label) for story in task.plan.stories})
    return replace(moved, plan=replace(moved.plan, chunks=(chunk,)))


def unlimited(task: Task) -> Task:
    """Return the task without limits on what the whole run may use."""
    limits = replace(
        task.limits,
        run_max_attempts=ENDLESS,
        run_timeout_minutes=Minutes(ENDLESS),
        run_max_tokens=None,
        run_max_cost_usd=None,
    )
    return replace(task, limits=limits)


# The critical path


class Hop(NamedTuple):
    """One story of the critical path."""

    story: str
    ms: int
    """From its beginning, or from the end of the one before, to what the next one waited for."""
    why: str
    """Why it came after the one before: `needs`, `shares …`, `names no files`, `chunk`, `a free job`, `integration`; empty for the first."""


def critical_path(plan: Plan, course: Course) -> list[Hop]:
    """Return the stories whose time adds up to that of the run, from the first to the last."""
    by_id = {story.id: story for story in plan.stories}
    hops: list[Hop] = []
    name = max((one for one in by_id if one in course.done), key=lambda one: course.done[one], default="")
    until = course.done.get(name, 0)
    while name and len(hops) < len(by_id):
        before, why, at = _before(by_id, course, name, until)
        hops.append(Hop(name, until - at, why))
        name, until = before, at
    return hops[::-1]


def _before(by_id: Mapping[str, Story], course: Course, name: str, until: int) -> tuple[str, str, int]:
    """Return the story that held this one up, how, and until when."""
    verified = course.verified.get(name, until)
    order = list(by_id)
    ahead = [other for other in order[: order.index(name)] if verified < course.done.get(other, 0) <= until]
    if ahead and until == course.done.get(name):  # its work was finished, and waited for others to come onto the branch
        last = max(ahead, key=lambda other: course.done[other])
        return last, "integration", course.done[last]
    begun = course.begun.get(name, 0)
    story = by_id[name]
    ended = {**course.done, **course.verified}
    times = {other: at for other in by_id if other != name and (at := ended.get(other, begun + 1)) <= begun}
    if not times:
        return "", "", 0 if begun < 1000 else begun
    last = max(times, key=lambda other: (times[other], _near(story, by_id[other])))
    return last, _why(story, by_id[last]), times[last]


def _near(story: Story, other: Story) -> int:
    return 2 * (other.id in story.depends_on) + bool(_why(story, other) != FREE_JOB)


FREE_JOB = "a free job"


def _why(story: Story, other: Story) -> str:
    if other.id in story.depends_on:
        return "needs"
    if other.chunk != story.chunk:
        return "chunk"
    if not story.files or not other.files:
        return "names no files"
    shared = [one for one in story.files if any(overlap(one, theirs) for theirs in other.files)]
    return f"shares {shared[0]}" if shared else FREE_JOB
