"""Faults of the disk, in short; `python -m proofs disk` has many more."""

from __future__ import annotations

import json
from errno import EIO, ENOSPC, EROFS
from typing import TYPE_CHECKING

import pytest

from santiago.app.start.scratch import scratch_of
from tests.crash.checks import events_of
from tests.crash.sick import Fault, SickPlace, every_write, library, sick_place, sweep
from tests.crash.world import RUN

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SickPlace]:
    helper = library(tmp_path_factory.mktemp("sick"))
    if not helper:
        pytest.skip("there is no C compiler to build the interposed library with")
    with sick_place(helper) as made:
        yield made


@pytest.mark.parametrize(("where", "step"), [("out-dir", 140), ("repository", 120), ("cache", 320), ("TMPDIR", 18)])
def test_a_write_that_fails_ends_with_a_name_and_costs_nothing_recorded(
    place: SickPlace, where: str, step: int
) -> None:
    tally = sweep([place], every_write(place, [where], first=3, step=step))
    assert tally.violations == []
    assert tally.deaths >= 4


@pytest.mark.parametrize("number", [ENOSPC, EROFS, EIO])
@pytest.mark.parametrize("name", ["progress.ndjson", "lock", "evidence", "attempts"])
def test_log_lock_and_evidence_may_fail_at_their_first_write(place: SickPlace, name: str, number: int) -> None:
    for lasting in (False, True):
        place.world.reset()
        place.sickness.begin(Fault("out-dir", number, 1, lasting), place.world.out / name)
        report = place.nursery.run(place.world)
        _, failed, first = place.sickness.lift()
        assert failed, name
        assert report.code in (0, 20, 30), (first, report)
        assert report.code == 0 or "fix: " in report.words
        assert place.nursery.run(place.world).code == 0


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
