"""`./dev test` as a newcomer types it: a fresh clone, an empty home folder, nothing installed; how long it takes."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.figures import ROOT, Figure

if TYPE_CHECKING:
    from proofs.figures import Measured

MINUTES, CORE_MINUTES, QUICK_MINUTES = 10, 18, 3
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")


def run(arguments: list[str]) -> list[Measured]:
    parser = argparse.ArgumentParser(prog="python -m proofs suite")
    parser.add_argument("--quick", action="store_true", help="only what `./dev test --quick` runs")
    parser.add_argument("tests", nargs="*", help="only these tests")
    chosen = parser.parse_args(arguments)
    words = ["./dev", "test", *(["--quick"] if chosen.quick else []), *chosen.tests]
    with tempfile.TemporaryDirectory(prefix="suite-") as folder:
        clone, env = _clone(Path(folder))
        if chosen.quick:  # it is for those who edit, and have set up long ago
            subprocess.run(["./dev", "shell"], cwd=clone, env=env, check=True)
        began, before = time.monotonic(), os.times()
        done = subprocess.run(words, cwd=clone, env=env, stdout=subprocess.PIPE, text=True, check=False)
        minutes, after = (time.monotonic() - began) / 60, os.times()
    print(done.stdout[-3000:])
    cores = (after.children_user + after.children_system - before.children_user - before.children_system) / 60
    counts = counted(done.stdout)
    figure = f"{minutes:.1f} minutes, {cores:.1f} core minutes; {counts['passed']:,} tests passed, {counts['skipped']} skipped"
    most = QUICK_MINUTES if chosen.quick else MINUTES
    return [
        Figure(
            row="suite-quick" if chosen.quick else "suite",
            figure=figure + (f", exit {done.returncode}" if done.returncode else ""),
            target=f"at most {most} minutes" + ("" if chosen.quick else f" and {CORE_MINUTES} core minutes"),
            missed=bool(done.returncode) or minutes > most or (not chosen.quick and cores > CORE_MINUTES),
        )
    ]


def _clone(folder: Path) -> tuple[Path, dict[str, str]]:
    """Clone what is committed, with the shared folder beside it; return it, and an environment without a past."""
    subprocess.run(["git", "clone", "-q", ROOT, folder / "main"], check=True)
    (folder / "home").mkdir()
    if (shared := ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(shared)
    own = ("XDG_", "SANTIAGO_", "PYTHON", "PYTEST_", "VIRTUAL_ENV", "GIT_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return folder / "main", {**env, "HOME": str(folder / "home"), "PYTHON": sys.executable}


def counted(printed: str) -> Counter[str]:
    """Return the numbers of pytest's last line."""
    last = printed.rstrip().rpartition("\n")[2]
    return Counter({word: int(number) for number, word in _COUNT.findall(last)})
