"""kill -9 at random system calls with three stories side by side, also during the resume; alone or with all children.

A sample of `python -m proofs kills`.
"""

from pathlib import Path
from random import Random

import pytest
from proofs.crash.sweeps import Death, at_calls, many, place
from proofs.crash.tracing import library

from tests.crash.world import WIDE

KILLS = 12
FEW = WIDE[:4]
"""Two that share a file, so that work is merged; one that is repaired, and one that waits for another."""


def test_a_run_that_is_killed_at_random_system_calls_comes_to_the_same_end(tmp_path: Path) -> None:
    helper = library(tmp_path)
    if not helper:
        pytest.skip("there is no C compiler to build the tracing helper with")
    with place(FEW, 3, library=helper) as one, place(FEW, 3, library=helper) as other:
        one.world.reset()
        counted = one.start(Death("syscall", 0))
        if counted.code == 255:
            pytest.skip("tracing a process is not permitted here")
        tally = many([one, other], at_calls(counted.count, Random(11)), enough=KILLS)
    assert tally.violations == []
    assert tally.deaths >= KILLS
