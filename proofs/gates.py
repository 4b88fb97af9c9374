"""Death before and after every event of a run that goes step by step, whose questions a person answers in between."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random

from tests.crash.gated import at_every_event, at_one_in, gated, many

from proofs.telling import options, progress, verdict


def run(arguments: list[str]) -> int:
    chosen = options("gates", arguments, 20)
    began, random = time.monotonic(), Random(chosen.seed)
    with ExitStack() as stack:
        places = [stack.enter_context(gated()) for _ in range(chosen.places)]
        events = min(place.events for place in places)
        again = [at_one_in(random.randint(4, 12), random.randint(1, 12)) for _ in range(chosen.count)]
        print(f"{events} events, {chosen.count} runs that die again and again")
        tally = many(places, [*at_every_event(events), *again], told=progress(began))
    return verdict("gates", tally, began, 2 * events)
