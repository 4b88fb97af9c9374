"""Random runs on simulated ports, and answers to one question at once, at length: the tests try a part of these seeds and rounds."""

from __future__ import annotations

import tempfile
from inspect import unwrap
from pathlib import Path
from typing import TYPE_CHECKING

from tests.artifacts.test_inbox import both_answer
from tests.executor import test_simulated_runs as runs
from tests.executor import test_waiting as waits
from tests.tui.made import asking_run
from tests.web.served import repository
from tests.web.test_requests import one_of_three_counts

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

SEEDS = {
    runs.test_parallel_equals_serial_whatever_the_timing: 200,
    runs.test_the_makespan_is_that_of_the_reference_scheduler: 1000,
    runs.test_attempts_whose_ground_goes_while_they_run_are_void_and_tried_again: 60,
    runs.test_death_at_any_event_and_resume_ends_like_an_uninterrupted_run: 60,
    waits.test_refusals_cost_no_attempt_nothing_begins_during_a_wait_and_waiting_is_bounded: 60,
    waits.test_death_at_any_event_of_a_run_that_waits_ends_like_an_uninterrupted_one: 20,
}
ROUNDS = 1000


def run(arguments: list[str]) -> list[Measured]:
    chosen, wrong = options("seeds", step=1, places=0).parse_args(arguments), list[str]()
    tried = [(test, seed) for test, count in SEEDS.items() for seed in range(0, count, chosen.step)]
    for test, seed in tried:
        try:
            unwrap(test)(seed)
        except Exception as error:  # a broken run is a finding, not the end of the others
            wrong.append(f"{test.__name__}, seed {seed}: {error!r}")
    rounds = ROUNDS // chosen.step
    with tempfile.TemporaryDirectory(prefix="seeds-") as folder:
        try:
            both_answer(Path(folder), rounds)
            one_of_three_counts(repository(Path(folder), asking=asking_run), rounds)
        except Exception as error:
            wrong.append(f"answers to one question: {error!r}")
    return [outcome("seeds", f"{len(tried):,} seeds, {rounds:,} questions to two and to three", wrong)]
