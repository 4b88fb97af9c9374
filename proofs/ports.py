"""Death before, after and in the middle of every effect at the store and workspace ports, one story at a time."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random

from tests.crash.sweeps import Death, at_every_port, many, place, twice

from proofs.telling import options, progress, verdict


def run(arguments: list[str]) -> int:
    chosen = options("ports", arguments, 100)
    began = time.monotonic()
    with ExitStack() as stack:
        places = [stack.enter_context(place()) for _ in range(chosen.places)]
        effects = places[0].effects
        places[0].new()
        writes = places[0].start(Death("half", 0)).count
        episodes = [
            *at_every_port(effects, "before"),
            *at_every_port(effects, "after"),
            *at_every_port(writes, "half"),
            *twice(effects, Random(chosen.seed), chosen.count),
        ]
        print(f"{effects} effects, {writes} writes, {chosen.count} runs that die again while they are resumed")
        tally = many(places, episodes, told=progress(began))
    return verdict("ports", tally, began, 2 * effects + writes)
