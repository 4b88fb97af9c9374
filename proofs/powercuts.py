"""Power cuts at random system calls: repository and out-dir on an ext4 of their own that is shut down under the run.

After each cut the disk is mounted again, what was acknowledged must be there, and the run is resumed; after its end
the power is cut once more.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.crash.world import WIDE

from proofs.crash.power import why_not
from proofs.crash.sweeps import Death, at_calls, many, place
from proofs.crash.tracing import library
from proofs.figures import Skipped
from proofs.telling import deaths, options, progress

if TYPE_CHECKING:
    from proofs.figures import Measured

_NEW_MOUNTS = 0x00020000
"""CLONE_NEWNS of sched.h."""


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("powercuts", count=60).parse_args(arguments)
    if reason := why_not():
        return [Skipped(row="powercuts", reason=reason)]
    _own_mounts()
    began = time.monotonic()
    with ExitStack() as stack:
        helper = library(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        if not helper:
            return [Skipped(row="powercuts", reason="there is no C compiler to build the tracing helper with")]
        places = [stack.enter_context(place(WIDE, 3, library=helper, power=True)) for _ in range(chosen.places)]
        places[0].new()
        counted = places[0].start(Death("syscall", 0))
        episodes = at_calls(counted.count, Random(chosen.seed))
        tally = many(places, episodes, enough=chosen.count, told=progress(began))
    return deaths("powercuts", tally, chosen.count)


def _own_mounts() -> None:
    """Give this process mounts of its own: where others copy them, a disk could not be let go."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
