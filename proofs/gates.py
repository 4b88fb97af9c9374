"""Death before and after every event of a run that goes step by step, whose questions a person answers in between."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

from proofs.crash.gated import at_every_event, at_one_in, gated
from proofs.crash.sweeps import many
from proofs.telling import deaths, options, progress

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("gates", count=1, step=1).parse_args(arguments)
    began, random = time.monotonic(), Random(chosen.seed)
    with ExitStack() as stack:
        places = [stack.enter_context(gated()) for _ in range(chosen.places)]
        events = min(place.events for place in places)
        again = [at_one_in(random.randint(4, 12), random.randint(1, 12)) for _ in range(chosen.count)]
        every = at_every_event(events)[:: chosen.step]
        print(f"{events} events, {chosen.count} runs that die again and again")
        tally = many(places, [*every, *again], told=progress(began))
    return deaths("gates", tally, len(every))
