"""The suite against bugs planted on purpose: each must be noticed by the very checkers that the real tests use."""

from collections.abc import Callable, Iterator

import pytest
from proofs.crash import probes
from proofs.crash.planted import BUGS
from proofs.crash.sweeps import Death, Place, place


def _dying(*deaths: Death) -> Callable[[Place], list[str]]:
    return lambda here: probes.deaths(here, deaths)


NOTICED_BY: dict[str, tuple[Callable[[Place], list[str]], str]] = {
    "no_sync_after_append": (probes.order_of_syncs, "an event was acknowledged before it was on disk"),
    "no_folder_sync": (probes.order_of_syncs, "the result was not on disk when the run ended"),
    "work_not_synced": (probes.order_of_syncs, "work was recorded before it was on disk"),
    "result_in_place": (_dying(Death("half", 1, kind="result.json")), "result.json is torn"),
    "torn_tail_stays": (_dying(Death("half", 6, kind="progress.ndjson")), "the log does not read"),
    "unreadable_means_empty": (lambda here: probes.damaged_lines(here, (0.5,)), "a damaged log was changed"),
    "done_before_integrated": (_dying(Death("before", 1, kind="put note.txt")), "is done, but not on the branch"),
    "sync_error_swallowed": (lambda here: probes.failing_syncs(here, (6,)), "failed, and the run ended with 0"),
    "temporaries_stay": (probes.rubbish, "left behind: "),
    "cut_work_not_disowned": (
        lambda here: probes.work_that_may_be_cut(here, ["restore"]),
        "after a death at restore: failed",
    ),
}
"""The probe that notices each bug, where it shows, and what is said then."""

pytestmark = pytest.mark.xdist_group("planted bugs")


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with place() as made:
        yield made


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(here: Place, bug: str) -> None:
    here.plant = bug
    probe, words = NOTICED_BY[bug]
    assert any(words in what for what in probe(here))
