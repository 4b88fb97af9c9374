"""kill -9 at the events of a planning session with two turns and a finalize: a sample of `python -m proofs sessions`."""

from __future__ import annotations

from tests.crash.planned import planned


def test_lines_2_and_18_a_session_that_is_killed_at_its_events_loses_nothing_and_makes_one_run() -> None:
    with planned() as place:
        tallies = [place.episode(death) for death in place.deaths()[::6]]
    assert [wrong for tally in tallies for wrong in tally.violations] == []
    assert sum(tally.deaths for tally in tallies) == len(tallies)
