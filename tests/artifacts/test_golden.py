"""Logs of every released format version tell the same story today as on the day they were written (promises 3 and 4)."""

from __future__ import annotations

import json
from pathlib import Path

from santiago.artifacts.reader import read_log
from santiago.contract import codec
from santiago.contract.fold import fold_all
from santiago.contract.plan import Plan
from tests.golden.essence import essence
from tests.util.each import each

GOLDEN = Path(__file__).parents[1] / "golden"
VERSIONS = sorted(path.parent.name for path in GOLDEN.glob("*/progress.ndjson"))


def test_there_is_a_golden_log() -> None:
    assert "v1" in VERSIONS


@each("version", VERSIONS)
def test_replaying_a_golden_log_gives_the_recorded_state(version: str) -> None:
    folder = GOLDEN / version
    plan = codec.decode(Plan, (folder / "plan.json").read_bytes(), "plan.json")
    state = fold_all(plan, read_log(folder / "progress.ndjson"))
    assert essence(state) == json.loads((folder / "state.json").read_bytes())
