"""The suite against bugs planted on purpose: each must be noticed by the very checkers that the real tests use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash import probes
from tests.crash.planted import BUGS
from tests.crash.sweeps import Death, Place, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def _around_the_first_done(here: Place) -> list[str]:
    """Die after effects in the middle of the run until something is found: stories become done there."""
    return _first_found(probes.deaths(here, [Death("after", at)]) for at in range(here.effects // 2, here.effects))


def _torn_one_by_one(here: Place) -> list[str]:
    """Die in the middle of one write after the other until something is found: some are of the log."""
    here.world.reset()
    writes = here.start(Death("half", 0)).count
    return _first_found(probes.deaths(here, [Death("half", at)]) for at in range(writes // 3, writes))


def _first_found(looks: Iterable[list[str]]) -> list[str]:
    return next(filter(None, looks), [])


NOTICED_BY: dict[str, tuple[Callable[[Place], list[str]], str]] = {
    "no_sync_after_append": (probes.order_of_syncs, "an event was acknowledged before it was on disk"),
    "no_folder_sync": (probes.order_of_syncs, "the result was not on disk when the run ended"),
    "work_not_synced": (probes.order_of_syncs, "work was recorded before it was on disk"),
    "result_in_place": (lambda here: probes.torn_writes(here, lambda count: (count,)), "result.json is torn"),
    "torn_tail_stays": (_torn_one_by_one, "the log does not read"),
    "unreadable_means_empty": (lambda here: probes.damaged_lines(here, (0.5,)), "a damaged log was changed"),
    "done_before_integrated": (_around_the_first_done, "is done, but not on the branch"),
    "sync_error_swallowed": (lambda here: probes.failing_syncs(here, (6,)), "failed, and the run ended with 0"),
    "temporaries_stay": (probes.rubbish, "left behind: "),
    "cut_work_not_disowned": (probes.work_that_may_be_cut, "after a death at restore: failed"),
}
"""The probe that notices each bug, and what it says."""


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with place() as made:
        yield made


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(here: Place, bug: str) -> None:
    here.plant = bug
    probe, words = NOTICED_BY[bug]
    assert any(words in what for what in probe(here))
