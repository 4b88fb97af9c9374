"""kill -9 at random system calls with three stories side by side, kills during the resume included."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.crash.world import WIDE

from proofs.crash.sweeps import Death, at_calls, many, place
from proofs.crash.tracing import library
from proofs.figures import Skipped
from proofs.telling import deaths, options, progress

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("kills", count=600).parse_args(arguments)
    began = time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            return [Skipped(row="kills", reason="there is no C compiler to build the tracing helper with")]
        places = [stack.enter_context(place(WIDE, 3, library=helper)) for _ in range(chosen.places)]
        places[0].new()
        counted = places[0].start(Death("syscall", 0))
        if counted.code == 255:
            return [Skipped(row="kills", reason="tracing a process is not permitted here")]
        print(f"{counted.count} system calls in an undisturbed run")
        episodes = at_calls(counted.count, Random(chosen.seed))
        tally = many(places, episodes, enough=chosen.count, told=progress(began))
    return deaths("kills", tally, chosen.count)
