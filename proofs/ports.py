"""Death before, after and in the middle of every effect at the store and workspace ports, one story at a time."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

from proofs.crash.sweeps import Death, at_every_port, many, place, twice
from proofs.telling import deaths, options, progress

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("ports", count=100, step=1).parse_args(arguments)
    began = time.monotonic()
    with ExitStack() as stack:
        places = [stack.enter_context(place()) for _ in range(chosen.places)]
        effects = places[0].effects
        places[0].new()
        writes = places[0].start(Death("half", 0)).count
        every = [
            *at_every_port(effects, "before", step=chosen.step),
            *at_every_port(effects, "after", step=chosen.step),
            *at_every_port(writes, "half", step=chosen.step),
        ]
        again = twice(effects, Random(chosen.seed), chosen.count)
        print(f"{effects} effects, {writes} writes, {chosen.count} runs that die again while they are resumed")
        tally = many(places, [*every, *again], told=progress(began))
    return deaths("ports", tally, len(every))
