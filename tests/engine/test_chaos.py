"""A sample of `python -m proofs machines`: a whole run under every kind of fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proofs.chaos import FENCED, STORIES, Chaos, Faults, ground

from tests.crash.world import Story
from tests.engine import networks, servers

pytestmark = pytest.mark.xdist_group("chaos")
LEASE_S, SEED = 4, 1
FEW = STORIES[:24]
"""Two chunks, a story that needs another, some that fail first, and two that share a file."""
FAULTS = Faults(kill=2, pause=2, cut=1, server=1, coordinator=1)
ALONE: dict[tuple[Story, ...], str] = {}


@pytest.mark.parametrize("kind", ["postgres", "temporal"])
def test_whatever_fails_every_story_is_done_once(kind: str) -> None:
    if missing := servers.missing_postgres() if kind == "postgres" else servers.missing_temporal():
        pytest.skip(missing)
    alone = networks.missing()
    faults = replace(FAULTS, cut=0) if alone else FAULTS
    with ground(kind, 0 if alone else FENCED) as place:
        chaos = Chaos(place, SEED, LEASE_S, FEW)
        try:
            tally = chaos.carry_out(len(FEW), faults, print, ALONE)
        finally:
            chaos.close()
    assert tally.violations == [], "\n".join(tally.violations)
    assert tally.orders == tally.ends.total() >= len(FEW)
    assert tally.faults.total() == sum(vars(faults).values())
