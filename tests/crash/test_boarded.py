"""kill -9 of the loop whenever something is recorded: a sample of `python -m proofs loop`."""

from __future__ import annotations

from tests.crash.boarded import WHENS, boarded


def test_a_killed_loop_loses_no_ticket_and_does_nothing_twice() -> None:
    """Board line 50."""
    with boarded() as place:
        deaths = [(when, at) for at in range(1, place.count() + 1, 23) for when in WHENS]
        tallies = [place.episode(when, at) for when, at in deaths]
    assert [wrong for tally in tallies for wrong in tally.violations] == []
    # How often the board's files are written depends on the time, so the last deaths may come after the end.
    assert sum(tally.deaths for tally in tallies) >= len(tallies) - 2
