"""Death of the loop before and after everything that it and its run record."""

from __future__ import annotations

import time

from tests.crash.boarded import WHENS, boarded
from tests.crash.sweeps import Death


def run(_: list[str]) -> int:
    """Return the number of violations; print them, and the figures."""
    began, deaths, violations = time.monotonic(), 0, 0
    with boarded() as place:
        every = [(when, at) for at in range(1, sum(place.kinds().values()) + 1) for when in WHENS]
        for when, at in every:
            tally = place.episode(Death(when, at))
            deaths += tally.deaths
            violations += len(tally.violations)
            for wrong in tally.violations:
                print(f"  {wrong}")
    print(f"loop: {deaths} deaths of {len(every)}, {violations} violations, {time.monotonic() - began:.0f} s")
    # How often the board's files are written depends on the time, so the last deaths may come after the end.
    return violations + (deaths < 0.9 * len(every))
