"""Death before or after any effect at the ports, one story at a time: promises 3 and 4, nothing is lost, nothing rewinds."""

from collections.abc import Iterator
from random import Random

import pytest
from proofs.crash import probes
from proofs.crash.sweeps import Death, Place, many, of_each_kind, place, together, twice

pytestmark = pytest.mark.xdist_group("deaths at ports")


@pytest.fixture(scope="module")
def places() -> Iterator[list[Place]]:
    with place() as one, place() as other:
        yield [one, other]


def test_a_run_that_dies_around_any_kind_of_effect_comes_to_the_same_end_when_resumed(places: list[Place]) -> None:
    """Several deaths on the way of one run; `python -m proofs ports` has one at every effect."""
    deaths = of_each_kind(places[0].kinds, ("before", "after"))
    tally = many(places, together(deaths, 4))
    assert tally.violations == []
    assert tally.deaths == len(deaths) > 40


def test_a_run_that_dies_again_while_it_is_resumed_comes_to_the_same_end(places: list[Place]) -> None:
    tally = many(places, twice(places[0].effects, Random(3), 3))
    assert tally.violations == []
    assert tally.deaths > 4


def test_a_write_that_a_death_cut_in_half_is_never_taken_for_whole(places: list[Place]) -> None:
    """The first of each file, and a line in the middle of the log."""
    places[0].new()
    files = places[0].start(Death("half", 0)).kinds
    deaths = [*of_each_kind(files, ("half",)), Death("half", 6, kind="progress.ndjson")]
    tally = many(places, together(deaths, 4))
    assert tally.violations == []
    assert tally.deaths == len(deaths) > 15


def test_nothing_is_acknowledged_before_it_is_on_disk(places: list[Place]) -> None:
    assert probes.order_of_syncs(places[0]) == []


def test_a_sync_that_fails_ends_the_run_and_the_same_command_goes_on(places: list[Place]) -> None:
    assert probes.failing_syncs(places[0], (1, 11)) == []


def test_a_log_that_is_damaged_before_its_end_is_refused_and_left_as_it_is(places: list[Place]) -> None:
    assert probes.damaged_lines(places[0], (0.0, 0.5, 0.9)) == []


def test_unfinished_files_of_a_death_are_gone_after_the_next_start(places: list[Place]) -> None:
    assert probes.rubbish(places[0]) == []


def test_folders_that_a_death_after_success_left_are_gone_after_the_next_start(places: list[Place]) -> None:
    assert probes.rubbish_after_success(places[0]) == []


def test_work_that_a_restarted_machine_may_have_cut_is_kept_and_never_judged(places: list[Place]) -> None:
    assert probes.work_that_may_be_cut(places[0]) == []
