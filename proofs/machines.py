"""Whole runs on six workers, three of them in networks of their own, while workers, networks, servers and coordinators fail."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.engine import networks, servers

from proofs.chaos import FENCED, Chaos, Faults, ground, times
from proofs.figures import Skipped
from proofs.telling import outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

LEASE_S = 4
ORDERS = 3000


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs machines")
    parser.add_argument("--engine", choices=("postgres", "temporal"), action="append", help="only this one")
    parser.add_argument("--orders", type=int, default=ORDERS, help=f"how many orders on each engine ({ORDERS:,})")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="300 orders and a tenth of the faults")
    parser.add_argument("--only", choices=tuple(vars(Faults())), action="append", help="only faults of this kind")
    chosen = parser.parse_args(arguments)
    return [_engine(kind, chosen) for kind in chosen.engine or ("postgres", "temporal")]


def _engine(kind: str, chosen: argparse.Namespace) -> Measured:
    row = f"machines-{kind}"
    if missing := servers.missing_postgres() if kind == "postgres" else servers.missing_temporal():
        return Skipped(row=row, reason=missing)
    faults = Faults().tenth() if chosen.short else Faults()
    if why := networks.missing():
        print(f"  skipped: no worker has a network of its own, so none is cut off: {why}")
    without = {"cut"} if why else set()
    without |= set(vars(faults)) - set(chosen.only or vars(faults))
    faults = replace(faults, **dict.fromkeys(without, 0))
    orders = chosen.orders // 10 if chosen.short else chosen.orders
    began = time.monotonic()

    def tell(words: str) -> None:
        print(f"  {kind}, {time.monotonic() - began:4.0f} s: {words}", flush=True)

    violations: list[str] = []
    with ground(kind, 0 if why else FENCED) as place:
        chaos = Chaos(place, chosen.seed, LEASE_S)
        try:
            tally = chaos.carry_out(orders, faults, tell, {})
        finally:
            chaos.close()
        for words, seconds, most in times(place, LEASE_S):
            tell(f"{words}: {seconds:.1f} (at most {most:g})")
            violations += [words] if seconds > most else []
    for line in tally.told():
        tell(line)
    counted = f"{tally.orders:,} orders, {tally.ends['lost']} lost, {tally.faults.total()} faults"
    return outcome(
        row,
        counted,
        [*tally.violations, *violations],
        enough=f"{orders:,} orders or more",
        reached=tally.orders >= orders,
    )
