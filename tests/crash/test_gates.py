"""kill -9 at the events of a run that goes step by step: the same questions stay open, and every answer counts once."""

from proofs.crash.gated import WHENS, gated
from proofs.crash.sweeps import Death

KINDS = (
    "proposal_started", "story_proposed", "question_asked", "question_answered", "story_split", "claim_judged",
    "ticks_written",
)  # fmt: skip
"""What no other run records, in the order in which each first comes; `python -m proofs gates` has every event."""


def test_line_18_a_killed_step_by_step_run_with_substeps_loses_no_question_and_no_answer() -> None:
    deaths = [Death(when, 1, all=when == WHENS[0], kind=kind) for kind in KINDS for when in WHENS]
    with gated() as place:
        tally = place.episode(deaths)
    assert tally.violations == []
    assert tally.deaths == len(deaths)
