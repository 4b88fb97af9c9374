"""Ids stay, at length: a requirement added at any place of a hundred renames none, and a hundred thousand boxes are read."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.planner.test_compile import added_at

from proofs.telling import options, outcome
from santiago.planner import reading
from santiago.planner.source import Source

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    parser = options("ids", places=0)
    parser.add_argument("--places", type=int, default=101, help="at how many places a requirement is added")
    chosen, wrong = parser.parse_args(arguments), list[str]()
    places = list(product(range(chosen.places), (True, False)))
    for place, ids in places:
        kept, now = added_at(place, ids=ids)
        if now != {**now, **kept} or [now[title] for title in now if title not in kept] != ["S101"]:
            wrong.append(f"place {place}, {'with' if ids else 'without'} ids of its own")
    document = reading.by_readers(Source("# TODO\n" + "- [ ] Do it\n" * 100_000))
    if document is None or len(document.units) != 100_000:
        wrong.append("a hundred thousand boxes are not read")
    return [outcome("ids", f"{len(places)} places, 100,000 boxes", wrong)]
