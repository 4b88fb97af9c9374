"""kill -9 of the loop whenever something is recorded: a sample of `python -m proofs loop`."""

from proofs.crash.boarded import WHENS, boarded
from proofs.crash.sweeps import of_each_kind, together


def test_a_killed_loop_loses_no_ticket_and_does_nothing_twice() -> None:
    """Board line 50."""
    with boarded() as place:
        deaths = of_each_kind(place.kinds(), WHENS)
        tallies = [place.episode(*some) for some in together(deaths, 5)]
    assert [wrong for tally in tallies for wrong in tally.violations] == []
    assert sum(tally.deaths for tally in tallies) == len(deaths) > 20
