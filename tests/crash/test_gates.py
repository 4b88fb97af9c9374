"""kill -9 at the events of a run that goes step by step: the same questions stay open, and every answer counts once."""

from __future__ import annotations

from tests.crash.gated import at_one_in, gated, many


def test_line_18_a_step_by_step_run_with_substeps_that_is_killed_at_its_events_loses_no_question_and_no_answer() -> (
    None
):
    with gated() as place:
        tally = many([place], [at_one_in(5, 3)])
    assert tally.violations == []
    assert tally.deaths > 20
