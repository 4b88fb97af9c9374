"""What the proofs share: their options, what they say while they run, and the figure that they end with."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from proofs.figures import Figure, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proofs.crash.sweeps import Tally

EVERY = 10.0
"""Seconds between two lines."""


def options(name: str, *, count: int = 0, step: int = 0, places: int = 2) -> argparse.ArgumentParser:
    """Return a parser of the options that many proofs share; an option whose default is 0 is left out."""
    parser = argparse.ArgumentParser(prog=f"python -m proofs {name}")
    if count:
        parser.add_argument("--count", type=int, default=count, help=f"how many deaths, plans or runs ({count})")
        parser.add_argument("--seed", type=int, default=1)
    if step:
        parser.add_argument("--step", type=int, default=step, help=f"take each N-th place only ({step})")
    if places:
        parser.add_argument("--places", type=int, default=places, help=f"how many worlds at once ({places})")
    return parser


def progress(began: float) -> Callable[[Tally], None]:
    """Return what tells of a tally now and then."""
    last = [began]

    def tell(tally: Tally) -> None:
        now = time.monotonic()
        if now - last[0] >= EVERY:
            last[0] = now
            print(f"  {now - began:5.0f} s  {tally.deaths} deaths, {len(tally.violations)} violations", file=sys.stderr)

    return tell


def outcome(row: str, counted: str, violations: Sequence[str], *, enough: str = "", reached: bool = True) -> Measured:
    """Print the violations; return the figure. It is missed where there is one, or where not enough was counted."""
    for violation in violations[:50]:
        print(f"  {violation}")
    return Figure(
        row=row, figure=f"{counted}, {len(violations):,} violations", target=f"0 violations{enough and f' in {enough}'}",
        missed=bool(violations) or not reached,
    )  # fmt: skip


def deaths(row: str, tally: Tally, enough: int) -> list[Measured]:
    counted = f"{tally.deaths:,} deaths in {tally.runs:,} starts"
    return [
        outcome(row, counted, tally.violations, enough=f"{enough:,} deaths or more", reached=tally.deaths >= enough)
    ]
