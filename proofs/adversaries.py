"""Every lying or hostile agent of docs/adversaries.md; the tests have one of each kind."""

from __future__ import annotations

import argparse
import time

from tests.adversaries.__main__ import main
from tests.adversaries.table import TRIALS


def run(arguments: list[str]) -> int:
    """Return the number of trials that end otherwise than they must; print them, and the figures."""
    parser = argparse.ArgumentParser(prog="python -m proofs adversaries")
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--places", type=int, default=2, help="how many at once")
    chosen, began = parser.parse_args(arguments), time.monotonic()
    names = set(filter(None, chosen.only.split(",")))
    count = sum(not names or one.name in names for one, _ in TRIALS)
    wrong = main(names, chosen.places)
    print(f"adversaries: {count} trials, {wrong} violations, {time.monotonic() - began:.0f} s")
    return wrong + (not count)
