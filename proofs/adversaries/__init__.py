"""Every lying or hostile agent of docs/adversaries.md; the tests have one of each kind."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.adversaries.arena import make_template, trial, wrong_with
from proofs.adversaries.table import TRIALS
from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.adversaries.adversary import Adversary, Fence
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    """Have those of the given names tried, or all, several at once; print how each ended."""
    parser = options("adversaries")
    parser.add_argument("--only", default="", help="names, with commas between them")
    chosen = parser.parse_args(arguments)
    names = set(filter(None, chosen.only.split(",")))
    wanted = [(one, fence) for one, fence in TRIALS if not names or one.name in names]
    with tempfile.TemporaryDirectory(prefix="adversaries-", ignore_cleanup_errors=True) as folder:
        template = make_template(Path(folder, "template"))

        def tried(one: Adversary, fence: Fence) -> str:
            """Return what is wrong with how it ended; empty where nothing is."""
            place = Path(folder, f"{one.name}-{fence}")
            place.mkdir()
            ending = trial(one, fence, template, place)
            print(f"{one.name:38}{fence:6}{ending.exit_code:4} {ending.reason}", flush=True)
            faults = wrong_with(one, fence, ending)
            return f"{one.name}-{fence}: {', '.join(faults)}: {ending.words[-3000:]}" if faults else ""

        with ThreadPoolExecutor(chosen.places) as pool:
            wrong = list(filter(None, pool.map(lambda work: tried(*work), wanted)))
    return [outcome("adversaries", f"{len(wanted)} trials", wrong, reached=bool(wanted))]
