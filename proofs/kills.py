"""kill -9 at random system calls with three stories side by side, kills during the resume included."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

from tests.crash.sweeps import Death, at_calls, many, place
from tests.crash.tracing import library
from tests.crash.world import WIDE

from proofs.telling import options, progress, verdict


def run(arguments: list[str]) -> int:
    chosen = options("kills", arguments, 2000)
    began = time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            print("kills: there is no C compiler to build the tracing helper with; nothing was done")
            return 0
        places = [stack.enter_context(place(WIDE, 3, library=helper)) for _ in range(chosen.places)]
        places[0].new()
        counted = places[0].start(Death("syscall", 0))
        if counted.code == 255:
            print("kills: tracing a process is not permitted here; nothing was done")
            return 0
        print(f"{counted.count} system calls in an undisturbed run")
        episodes = at_calls(counted.count, Random(chosen.seed))
        tally = many(places, episodes, enough=chosen.count, told=progress(began))
    return verdict("kills", tally, began, chosen.count)
