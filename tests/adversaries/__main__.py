"""`python -m tests.adversaries [NAME…]`: run the trials outside pytest and print how each ended."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.adversaries.arena import make_template, trial
from tests.adversaries.table import ADVERSARIES

if __name__ == "__main__":
    wanted = [
        (one, fence) for one in ADVERSARIES for fence in one.fences if not sys.argv[1:] or one.name in sys.argv[1:]
    ]
    with (
        tempfile.TemporaryDirectory(prefix="adversaries-", ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(2) as pool,
    ):
        template = make_template(Path(folder, "template"))
        places = [Path(folder, f"{one.name}-{fence}") for one, fence in wanted]
        for place in places:
            place.mkdir()
        endings = pool.map(lambda work, place: trial(work[0], work[1], template, place), wanted, places)
        for (one, fence), ending in zip(wanted, endings, strict=True):
            is_false = ending.reason == "done" and not ending.true
            faults = ["FALSE DONE"] * (is_false and not one.unseen) + ["CRASH"] * (ending.exit_code == 70)
            faults += [f"ALIVE {len(ending.alive)}"] * bool(ending.alive) + ["MARK"] * ending.mark.exists()
            faults += [f"EXPECTED {one.ends_in(fence)}"] * (ending.reason != one.ends_in(fence))
            print(f"{one.name:34}{fence:6}{ending.exit_code:4} {ending.reason:28}{' '.join(faults)}", flush=True)
            if faults and len(sys.argv) > 1:
                print(ending.words[-3000:])
