"""What a proof says while it runs, and at its end."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crash.sweeps import Tally

EVERY = 10.0
"""Seconds between two lines."""


def options(name: str, arguments: list[str], count: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m proofs {name}")
    parser.add_argument("--count", type=int, default=count, help="how many deaths or plans")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=2, help="how many worlds at once")
    return parser.parse_args(arguments)


def progress(began: float) -> Callable[[Tally], None]:
    """Return what tells of a tally now and then."""
    last = [began]

    def tell(tally: Tally) -> None:
        now = time.monotonic()
        if now - last[0] >= EVERY:
            last[0] = now
            print(f"  {now - began:5.0f} s  {tally.deaths} deaths, {len(tally.violations)} violations", file=sys.stderr)

    return tell


def verdict(what: str, tally: Tally, began: float, enough: int) -> int:
    """Print the figures; return the exit code."""
    for violation in tally.violations[:50]:
        print(f"  {violation}")
    print(
        f"{what}: {tally.deaths} deaths in {tally.runs} starts, {len(tally.violations)} violations, {time.monotonic() - began:.0f} s"
    )
    return 1 if tally.violations or tally.deaths < enough else 0
