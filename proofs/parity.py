"""Promise 7 with real git, at length: random plans end with eight jobs as they end with one.

Each plan is carried out twice, with checks, failing attempts and random delays; completions, commit subjects and the
tree must be the same.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.world import memory_folder
from tests.executor.parity import compare

from proofs.telling import EVERY, options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured


def one(seed: int) -> str:
    """Return what is wrong with this plan; empty where nothing is."""
    with tempfile.TemporaryDirectory(prefix="parity-", dir=memory_folder()) as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        try:
            compare(seed, Path(folder))
        except Exception as error:  # a broken plan is a finding, not the end of the others
            return f"seed {seed}: {error!r}"
    return ""


def run(arguments: list[str]) -> list[Measured]:
    chosen = options("parity", count=200).parse_args(arguments)
    began = told = time.monotonic()
    plans, wrong = 0, list[str]()
    # Processes and not threads, since a run forks its helper before it has threads.
    with ProcessPoolExecutor(chosen.places, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(one, range(chosen.seed, chosen.seed + chosen.count)):
            plans += 1
            wrong += [found] if found else []
            if time.monotonic() - told >= EVERY:
                told = time.monotonic()
                print(f"  {told - began:5.0f} s  {plans} plans, {len(wrong)} violations", file=sys.stderr)
    return [outcome("parity", f"{plans:,} plans", wrong, reached=plans > 0)]
