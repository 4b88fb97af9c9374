"""The suite against bugs planted on purpose: each must be noticed by the very checkers that the real tests use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash import probes
from tests.crash.planted import BUGS
from tests.crash.sweeps import Death, Place, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _around_the_first_done(here: Place) -> list[str]:
    """Die after effects in the middle of the run until something is found: stories become done there."""
    for number in range(here.effects * 2 // 5, here.effects):
        if found := probes.deaths(here, [Death("after", number)]):
            return found
    return []


NOTICED_BY: dict[str, Callable[[Place], list[str]]] = {
    "no_sync_after_append": probes.order_of_syncs,
    "no_folder_sync": probes.order_of_syncs,
    "work_not_synced": probes.order_of_syncs,
    "result_in_place": lambda here: probes.torn_writes(here, lambda count: (count,)),
    "torn_tail_stays": lambda here: probes.torn_writes(here, lambda count: (count // 2 - 1, count // 2)),
    "unreadable_means_empty": lambda here: probes.damaged_lines(here, (0.5,)),
    "done_before_integrated": _around_the_first_done,
    "sync_error_swallowed": lambda here: probes.failing_syncs(here, (6,)),
    "temporaries_stay": probes.rubbish,
}


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with place() as made:
        yield made


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(here: Place, bug: str) -> None:
    here.plant = bug
    assert NOTICED_BY[bug](here) != []
