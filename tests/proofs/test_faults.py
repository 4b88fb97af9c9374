"""Faults of the disk, in short; `python -m proofs disk` has many more."""

import json
from collections.abc import Iterator
from errno import ENOSPC

import pytest
from proofs.crash.checks import events_of
from proofs.crash.sick import ERRORS, PLACES, Fault, SickPlace, library, sick_place
from proofs.crash.sweeps import many

from santiago.app.paths import scratch_of
from tests.crash.world import RUN

pytestmark = pytest.mark.xdist_group("failing disk")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SickPlace]:
    helper = library(tmp_path_factory.mktemp("sick"))
    if not helper:
        pytest.skip("there is no C compiler to build the interposed library with")
    with sick_place(helper) as made:
        yield made


@pytest.mark.parametrize("where", PLACES)
def test_a_write_that_fails_ends_with_a_name_and_costs_nothing_recorded(place: SickPlace, where: str) -> None:
    """Every error, once and lasting, spread over the writes of a run."""
    count = place.writes(where, ENOSPC)
    ways = [(number, lasting) for lasting in (False, True) for number in ERRORS]
    faults = [Fault(where, number, 3 + n * count // 7, lasting) for n, (number, lasting) in enumerate(ways)]
    tally = many([place], faults)
    assert tally.violations == []
    assert tally.deaths >= 4


def test_log_lock_and_evidence_may_fail_at_their_first_write(place: SickPlace) -> None:
    wrong = []
    for name in ("progress.ndjson", "lock", "evidence", "attempts"):
        for lasting, number in enumerate((*ERRORS, ERRORS[0])):
            place.world.reset()
            place.sickness.begin(Fault("out-dir", number, 1, lasting % 2 == 1), place.world.out / name)
            report = place.nursery.run(place.world)
            _, failed, first = place.sickness.lift()
            is_told = report.code == 0 or (report.code in (20, 30) and "fix: " in report.words)
            if not (failed and is_told and place.nursery.run(place.world).code == 0):
                wrong.append((name, number, first, report))
    assert wrong == []


def test_an_attempt_whose_agent_never_started_costs_nothing(place: SickPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded: attempts are counted from the log, and what was never asked is no attempt."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.world.top / "cache"))
    place.world.reset()
    notes = scratch_of(place.world.repo) / RUN / "own"
    place.sickness.begin(Fault("cache", ENOSPC, 1, lasting=True), notes)
    report = place.nursery.run(place.world)
    assert place.sickness.lift()[1]
    assert report.code == 20
    assert "XDG_CACHE_HOME" in report.words
    assert place.nursery.run(place.world).code == 0
    ends = [event for event in events_of(place.world) if event["event"] in ("attempt_ended", "attempt_voided")]
    assert (ends[0]["event"], ends[0]["attempt"]) == ("attempt_voided", 1)
    result = json.loads((place.world.out / "result.json").read_bytes())
    assert [story["attempts"] for story in result["stories"]] == [1, 1]
