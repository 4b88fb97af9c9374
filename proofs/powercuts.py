"""Power cuts at random system calls: repository and out-dir on an ext4 of their own that is shut down under the run.

After each cut the disk is mounted again, what was acknowledged must be there, and the run is resumed; after its end
the power is cut once more.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

from tests.crash.power import why_not
from tests.crash.sweeps import Death, at_calls, many, place
from tests.crash.tracing import library
from tests.crash.world import WIDE

from proofs.telling import options, progress, verdict

PRIVATE = "PROOFS_PRIVATE_MOUNTS"


def run(arguments: list[str]) -> int:
    chosen = options("powercuts", arguments, 200)
    if reason := why_not():
        print(f"powercuts: {reason}; nothing was done")
        return 0
    unshare = shutil.which("unshare")
    if PRIVATE not in os.environ and unshare:
        # Where other processes copy the mounts of this one, a disk could not be let go.
        os.environ[PRIVATE] = "1"
        own = [unshare, "--mount", "--propagation", "private", sys.executable, "-m", "proofs", "powercuts", *arguments]
        os.execv(unshare, own)  # this very program
    began = time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            print("powercuts: there is no C compiler to build the tracing helper with; nothing was done")
            return 0
        places = [stack.enter_context(place(WIDE, 3, library=helper, power=True)) for _ in range(chosen.places)]
        places[0].new()
        counted = places[0].start(Death("syscall", 0))
        episodes = at_calls(counted.count, Random(chosen.seed))
        tally = many(places, episodes, enough=chosen.count, told=progress(began))
    return verdict("powercuts", tally, began, chosen.count)
