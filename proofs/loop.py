"""Death of the loop before and after everything that it and its run record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofs.crash.boarded import WHENS, boarded
from proofs.crash.sweeps import Death
from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("loop", step=2, places=0).parse_args(arguments)
    with boarded() as place:
        every = [Death(when, at) for at in range(1, sum(place.kinds().values()) + 1, chosen.step) for when in WHENS]
        tallies = [place.episode(death) for death in every]
    died = sum(tally.deaths for tally in tallies)
    violations = [wrong for tally in tallies for wrong in tally.violations]
    # How often the board's files are written depends on the time, so the last deaths may come after the end.
    enough = 9 * len(every) // 10
    return [outcome("loop", f"{died:,} deaths", violations, enough=f"{enough:,} or more", reached=died >= enough)]
