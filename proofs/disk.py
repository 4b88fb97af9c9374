"""ENOSPC, EROFS and EIO at every write of the out-dir, the repository, the cache and TMPDIR; then the disk is mended."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.crash.sick import PLACES, every_write, library, sick_place
from proofs.crash.sweeps import many
from proofs.figures import Skipped
from proofs.telling import options, outcome, progress

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    parser = options("disk", step=6)
    parser.add_argument("--where", default=",".join(PLACES), help=f"of {', '.join(PLACES)}")
    parser.add_argument("--first", type=int, default=1, help="the first write that fails")
    parser.add_argument("--count", type=int, default=None, help="at most so many faults")
    chosen, began = parser.parse_args(arguments), time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            return [Skipped(row="disk", reason="there is no C compiler to build the interposed library with")]
        places = [stack.enter_context(sick_place(helper)) for _ in range(chosen.places)]
        faults = every_write(places[0], chosen.where.split(","), first=chosen.first, step=chosen.step)
        tally = many(places, list(islice(faults, chosen.count)), told=progress(began))
    counted = f"{tally.deaths:,} faults in {tally.runs:,} starts"
    return [outcome("disk", counted, tally.violations, reached=tally.deaths > 0)]
