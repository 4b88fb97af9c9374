"""kill -9 at the events of a planning session with two turns and a finalize: a sample of `python -m proofs sessions`."""

from proofs.crash.planned import WHENS, Death, planned

KINDS = (
    ("session_created", "question_answered", "session_finalized"),
    ("turn_started", "draft_started", "question_answered"),
    ("draft_ended", "turn_ended", "run_created"),
    ("question_asked", "turn_started", "session_finalized"),
)
"""An event of each of the three commands of a session; every kind is among them."""


def test_lines_2_and_18_a_session_that_is_killed_at_its_events_loses_nothing_and_makes_one_run() -> None:
    whens = [WHENS, WHENS[::-1]]
    sessions = [
        [Death(command, 1, whens[number % 2][command % 2], kind) for command, kind in enumerate(kinds)]
        for number, kinds in enumerate(KINDS)
    ]
    with planned() as place:
        tallies = [place.episode(*deaths) for deaths in sessions]
    assert [wrong for tally in tallies for wrong in tally.violations] == []
    assert sum(tally.deaths for tally in tallies) == sum(map(len, sessions))
