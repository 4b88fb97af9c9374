"""`python -m proofs faults [--only PART,…] [options of the parts]`: what a machine and its users do to a run while it works.

Each part is a module of this package with `run(arguments) -> int`, which prints its figures and returns its violations.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from proofs import disk, fenced_kills, flips, maintenance

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS: dict[str, Callable[[list[str]], int]] = {
    "git": maintenance.run,
    "disk": disk.run,
    "kills": fenced_kills.run,
    "flips": flips.run,
}
"""Name → what is done; each takes the options that are left, and returns how many violations it found."""


def run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs faults", add_help=False)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    chosen, rest = parser.parse_known_args(arguments)
    names = chosen.only.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        print(f"faults: there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
        return 2
    return 1 if sum(PARTS[name](rest) for name in names) else 0
