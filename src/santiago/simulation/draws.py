"""Chance: how long attempts last and how they end in one simulated run, drawn from what earlier runs or options say."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import exp, log
from random import Random
from statistics import NormalDist, stdev
from typing import TypeVar

from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.simulation.history import History, Tried

T = TypeVar("T")
_EVEN = (0.6180339887, 0.4142135624)
"""Multiples of each, without their whole part, lie evenly: what options say is spread over the sample without chance."""


@record
class Said:
    """What options say, in place of a history."""

    attempt: tuple[int, int] | None = None
    """Milliseconds that an agent works: four attempts in five last between these."""
    success: float | None = None
    micro_usd: int | None = None
    check_ms: int | None = None


ASSUMED = Said(attempt=(180_000, 480_000), success=0.8, micro_usd=400_000, check_ms=60_000)
"""Where neither history nor options say it."""


def with_options(history: History | None, said: Said) -> History:
    """Return the history with what options say in its place; without a history, what is assumed stands for the rest."""
    found = history or History(attempts=(Tried(0, 0),) * 200)
    base = said if history else _over(said, ASSUMED)
    tried, count = list(found.attempts), len(found.attempts)
    if base.attempt:
        tried = [one._replace(agent_ms=ms) for one, ms in zip(tried, _spread(*base.attempt, count), strict=True)]
    if base.success is not None:
        passes = [(at * _EVEN[0]) % 1 < base.success for at in range(1, count + 1)]
        failed = Reason.STORY_VERIFICATION_FAILED
        tried = [
            one._replace(reason=None if ok else one.reason or failed) for one, ok in zip(tried, passes, strict=True)
        ]
    if base.micro_usd is not None:
        tried = [one._replace(micro_usd=base.micro_usd) for one in tried]
    checks = found.checks
    if base.check_ms is not None:
        tried, checks = [one._replace(verify_ms=base.check_ms) for one in tried], (base.check_ms,)
    words = {"attempt": "time of an attempt", "success": "success", "micro_usd": "cost", "check_ms": "time of checks"}
    named = tuple(word for name, word in words.items() if getattr(said, name) is not None)
    return replace(found, attempts=tuple(tried), checks=checks, said=named)


def _over(said: Said, other: Said) -> Said:
    names = ("attempt", "success", "micro_usd", "check_ms")
    return Said(**{name: mine if (mine := getattr(said, name)) is not None else getattr(other, name) for name in names})


def _spread(low: int, high: int, count: int) -> list[int]:
    """Return times of which one in ten is shorter than `low` and one in ten longer than `high`; long ones lie farther apart."""
    middle, tenth = (log(low) + log(high)) / 2, NormalDist().inv_cdf(0.9)
    bell = NormalDist(middle, max(1e-9, (log(high) - log(low)) / 2 / tenth))
    places = [(at * _EVEN[1]) % 1 for at in range(1, count + 1)]
    return [round(exp(bell.inv_cdf(min(max(place, 0.01), 0.99)))) for place in places]


class Draws:
    """Chance of one simulated run. Each draw depends on its name alone, so that two plans with one seed can be compared.

    A history is only a sample. So each run weighs its attempts anew, draws how often attempts pass, and takes none exactly as it
    was: otherwise thirty attempts would promise as much as three thousand.
    """

    def __init__(self, history: History, seed: str) -> None:
        self.seed, random = seed, Random(seed)
        self.sure = not history.origin
        passed = [one for one in history.attempts if one.reason is None]
        failed = [one for one in history.attempts if one.reason is not None]
        share = len(failed) / max(1, len(history.attempts))
        self.failing = share if self.sure else random.betavariate(len(failed) + 0.5, len(passed) + 0.5)
        instead = [one._replace(reason=Reason.STORY_VERIFICATION_FAILED) for one in passed]
        self.failed, self.passed = self._weighed(failed or instead, random), self._weighed(passed or failed, random)
        logs = [log(one.agent_ms) for one in history.attempts if one.agent_ms > 0]
        self.blur = 0.0 if self.sure or len(logs) < 2 else stdev(logs) * len(logs) ** -0.2
        """How much an attempt may differ from those that were seen: by less, the more of them there are."""
        checks = history.checks or [one.verify_ms for one in history.attempts if one.verify_ms] or [0]
        self.checks = self._weighed(checks, random)
        self.people = self._weighed(history.people or [PERSON_MS], random)
        self.conflicts = history.conflicts
        self.attended = bool(history.people)
        self.known: dict[tuple[str, int], Tried] = {}

    def attempt(self, story: str, number: int) -> Tried:
        found = self.known.get((story, number))
        if found is None:
            random = Random(f"{self.seed}/{story}/{number}")
            found = _pick(self.failed if random.random() < self.failing else self.passed, random)
            found = self.known[story, number] = (
                found if self.sure else _scaled(found, exp(random.gauss(-self.blur * self.blur / 2, self.blur)))
            )
        return found

    def check(self, step: str) -> int:
        return _pick(self.checks, Random(f"{self.seed}/{step}"))

    def person(self, question: str) -> int:
        return _pick(self.people, Random(f"{self.seed}?{question}"))

    def fits(self, story: str, attempt: int) -> bool:
        return not self.conflicts or Random(f"{self.seed}!{story}/{attempt}").random() >= self.conflicts

    def _weighed(self, sample: Sequence[T], random: Random) -> tuple[Sequence[T], list[float]]:
        # A little more uneven than the sample alone says, since long attempts are rare in a small one.
        weights = [1.0 if self.sure else random.gammavariate(0.7, 1) for _ in sample]
        return sample, list(accumulate(weights))


def _scaled(one: Tried, factor: float) -> Tried:
    """Return an attempt that took longer, and used as much more; or less."""
    tokens, cost = (None if used is None else round(used * factor) for used in (one.tokens, one.micro_usd))
    return one._replace(agent_ms=round(one.agent_ms * factor), tokens=tokens, micro_usd=cost)


PERSON_MS = 10 * 60_000
"""How long a person takes to answer, where nothing tells it."""


def _pick(sample: tuple[Sequence[T], list[float]], random: Random) -> T:
    values, sums = sample
    return values[min(bisect(sums, random.random() * sums[-1]), len(values) - 1)]
