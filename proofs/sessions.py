"""Death before and after every event of a planning session with two turns and a finalize, and of the run that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofs.crash.planned import planned
from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("sessions", step=1, places=0).parse_args(arguments)
    with planned() as place:
        every = place.deaths()[:: chosen.step]
        tallies = [place.episode(death) for death in every]
    died = sum(tally.deaths for tally in tallies)
    violations = [wrong for tally in tallies for wrong in tally.violations]
    return [outcome("sessions", f"{died:,} deaths", violations, enough=f"{len(every):,}", reached=died >= len(every))]
