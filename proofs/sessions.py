"""Death before and after every event of a planning session with two turns and a finalize, and of the run that it makes."""

from __future__ import annotations

import time

from tests.crash.planned import planned


def run(_: list[str]) -> int:
    """Return the number of violations; print them, and the figures."""
    began, deaths, violations = time.monotonic(), 0, 0
    with planned() as place:
        every = place.deaths()
        for death in every:
            tally = place.episode(death)
            deaths += tally.deaths
            violations += len(tally.violations)
            for wrong in tally.violations:
                print(f"  {wrong}")
    print(f"sessions: {deaths} deaths of {len(every)}, {violations} violations, {time.monotonic() - began:.0f} s")
    return violations + (deaths < len(every))
