"""A sample of `python -m proofs machines`: whole runs under every kind of fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine import networks, servers
from tests.engine.chaos import FENCED, Chaos, Faults, ground

pytestmark = pytest.mark.xdist_group("chaos")
ORDERS, LEASE_S, SEED = 60, 4, 1


@pytest.mark.parametrize("kind", ["postgres", "temporal"])
def test_whatever_fails_every_story_is_done_once(kind: str) -> None:
    if missing := servers.missing_postgres() if kind == "postgres" else servers.missing_temporal():
        pytest.skip(missing)
    alone = networks.missing()
    faults = replace(Faults().tenth(), cut=0) if alone else Faults().tenth()
    with ground(kind, 0 if alone else FENCED) as place:
        chaos = Chaos(place, SEED, LEASE_S)
        try:
            tally = chaos.carry_out(ORDERS, faults, print)
        finally:
            chaos.close()
    assert tally.violations == [], "\n".join(tally.violations)
    assert tally.orders == tally.ends.total() >= ORDERS
    assert tally.faults.total() == sum(vars(faults).values())
