"""Schedules of faults on the simulation's clock, each by its seed; and planted bugs, each of which they must find."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from proofs.figures import Figure
from proofs.simulating.planted import BUGS
from proofs.simulating.schedule import broken_by
from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

COUNT, MOST = 20_000, 2_000
"""How many schedules, and within how many each planted bug must be found."""
PIECE = 250


def run(arguments: list[str]) -> list[Measured]:
    parser = options("simulate", places=2)
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many schedules ({COUNT:,})")
    parser.add_argument("--seed", type=int, help="carry out this one alone, and say what it breaks")
    parser.add_argument("--planted", action="store_true", help="plant each bug, and find it")
    parser.add_argument("--only", metavar="BUG", default="", help="with --planted or --seed: this bug")
    chosen = parser.parse_args(arguments)
    if chosen.seed is not None:
        return [outcome("simulate", "1 schedule", _pieces([chosen.seed], chosen.only))]
    if chosen.planted:
        return _planted([chosen.only] if chosen.only else list(BUGS), chosen.places)
    wrong: list[str] = []
    with ProcessPoolExecutor(chosen.places) as pool:
        for at, found in enumerate(pool.map(_piece, range(0, chosen.count, PIECE)), 1):
            wrong += found
            print(
                "\n".join([*found, f"  {at * PIECE:,} schedules, {len(wrong)} violations"]), file=sys.stderr, flush=True
            )
    return [outcome("simulate", f"{chosen.count:,} schedules", wrong)]


def _piece(first: int) -> list[str]:
    return _pieces(range(first, first + PIECE))


def _pieces(seeds: Iterable[int], bug: str = "") -> list[str]:
    """Return what is broken, each with the command that shows it again."""
    told = ((seed, _with(bug, seed)) for seed in seeds)
    return [f"{words}   (python -m proofs simulate --seed {seed})" for seed, words in told if words]


def _with(bug: str, seed: int) -> str:
    if not bug:
        return broken_by(seed)
    with BUGS[bug]():
        return broken_by(seed)


def found_at(bug: str) -> int | None:
    """Return the first seed that finds a planted bug; None where none of many does."""
    return next((seed for seed in range(MOST) if _with(bug, seed)), None)


def _planted(bugs: list[str], places: int) -> list[Measured]:
    with ProcessPoolExecutor(places) as pool:
        seeds = dict(zip(bugs, pool.map(found_at, bugs), strict=True))
    for bug, seed in seeds.items():
        print(f"  {bug}: {'not found' if seed is None else f'seed {seed}: {_with(bug, seed)}'}")
    missing = [bug for bug, seed in seeds.items() if seed is None]
    last = max((seed for seed in seeds.values() if seed is not None), default=0)
    told = f"{len(bugs) - len(missing)} of {len(bugs)} planted bugs found, the last at seed {last:,}"
    return [Figure(row="simulate-planted", figure=told, target=f"all, within {MOST:,} seeds", missed=bool(missing))]
