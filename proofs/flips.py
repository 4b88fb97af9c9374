"""One random bit of every byte of every file of a small finished run flipped, one at a time: none unnoticed by an audit."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.cli import greeter

from proofs.figures import Figure
from proofs.telling import options
from santiago.app.auditing import Audit

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    parser = options("flips")
    parser.add_argument("--every", type=int, default=20, help="flip a bit in each N-th byte only (20)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    count, unnoticed = violations(chosen.every, chosen.seed, chosen.places)
    for one in unnoticed[:20]:
        print(f"  unnoticed: {one}")
    figure = f"{count:,} bits flipped, {len(unnoticed):,} unnoticed"
    return [Figure(row="flips", figure=figure, target="0 unnoticed", missed=bool(unnoticed) or not count)]


def violations(every: int, seed: int, places: int) -> tuple[int, list[str]]:
    """Flip a bit in each `every`-th byte; return how many, and which of them nobody noticed."""
    with tempfile.TemporaryDirectory() as top, ProcessPoolExecutor(places) as pool:
        repo = greeter.make(Path(top, "repo"))
        greeter.carry_out(repo).check_returncode()
        original = greeter.out_dir(repo)
        paths = sorted(str(path.relative_to(original)) for path in original.rglob("*") if path.is_file())
        copies = [shutil.copytree(original, Path(top, str(place))) for place in range(places)]
        jobs = [
            pool.submit(_flipped, copies[place], paths[place::places], every, seed + place) for place in range(places)
        ]
        found = [job.result() for job in jobs]
    return sum(count for count, _ in found), [miss for _, missed in found for miss in missed]


def _flipped(out_dir: Path, paths: list[str], every: int, seed: int) -> tuple[int, list[str]]:
    chance, count, missed = Random(seed), 0, []
    for path in paths:
        whole = (out_dir / path).read_bytes()
        for place in range(chance.randrange(every), len(whole), every):
            bad = bytearray(whole)
            bad[place] ^= 1 << chance.randrange(8)
            (out_dir / path).write_bytes(bad)
            audit = Audit(out_dir)
            audit.run()
            count += 1
            if not audit.faults:
                missed.append(f"{path}, byte {place}")
        (out_dir / path).write_bytes(whole)
    return count, missed
