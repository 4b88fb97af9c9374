"""ENOSPC, EROFS and EIO at every write of the out-dir, the repository, the cache and TMPDIR; then the disk is mended."""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from tests.crash.sick import PLACES, every_write, library, sick_place, sweep

from proofs.telling import progress


def run(arguments: list[str]) -> int:
    """Return the number of violations; print them, and the figures."""
    parser = argparse.ArgumentParser(prog="python -m proofs faults --only disk")
    parser.add_argument("--where", default=",".join(PLACES), help=f"of {', '.join(PLACES)}")
    parser.add_argument("--step", type=int, default=1, help="take each N-th write only")
    parser.add_argument("--first", type=int, default=1, help="the first write that fails")
    parser.add_argument("--count", type=int, default=None, help="at most so many faults")
    parser.add_argument("--places", type=int, default=2, help="how many worlds at once")
    chosen, began = parser.parse_known_args(arguments)[0], time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            print("disk: there is no C compiler to build the interposed library with; nothing was done")
            return 0
        places = [stack.enter_context(sick_place(helper)) for _ in range(chosen.places)]
        faults = every_write(places[0], chosen.where.split(","), first=chosen.first, step=chosen.step)
        tally = sweep(places, list(islice(faults, chosen.count)), told=progress(began))
    for violation in tally.violations[:50]:
        print(f"  {violation}")
    seconds = time.monotonic() - began
    print(f"disk: {tally.deaths} faults in {tally.runs} starts, {len(tally.violations)} violations, {seconds:.0f} s")
    return len(tally.violations)
