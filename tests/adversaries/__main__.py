"""`python -m tests.adversaries [NAME…]`: run the trials outside pytest, print how each ended, and count those that are wrong."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.adversaries.arena import Ending, make_template, trial, wrong_with
from tests.adversaries.table import TRIALS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tests.adversaries.adversary import Adversary, Fence


def endings(names: Collection[str] = (), places: int = 2) -> Iterator[tuple[Adversary, Fence, Ending]]:
    """Have those of these names tried, or all; several at once."""
    wanted = [(one, fence) for one, fence in TRIALS if not names or one.name in names]
    with (
        tempfile.TemporaryDirectory(prefix="adversaries-", ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(places) as pool,
    ):
        template = make_template(Path(folder, "template"))

        def tried(one: Adversary, fence: Fence) -> tuple[Adversary, Fence, Ending]:
            place = Path(folder, f"{one.name}-{fence}")
            place.mkdir()
            return one, fence, trial(one, fence, template, place)

        yield from pool.map(lambda work: tried(*work), wanted)


def main(names: Collection[str] = (), places: int = 2) -> int:
    wrong = 0
    for one, fence, ending in endings(names, places):
        faults = wrong_with(one, fence, ending)
        wrong += bool(faults)
        print(f"{one.name:38}{fence:6}{ending.exit_code:4} {ending.reason:28}{', '.join(faults)}", flush=True)
        if faults and names:
            print(ending.words[-3000:])
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
