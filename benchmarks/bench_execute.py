"""What santiago itself costs per story: git processes, syncs, processor time, and wall time beside a bare shell loop."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import verdict
from benchmarks.stories import GIT, make
from proofs.figures import Figure, Skipped

if TYPE_CHECKING:
    from proofs.figures import Measured

FEW, MORE = 5, 25
"""Two sizes whose difference is the steady state, without what a start and an end cost."""
PAIRS, IN_A_PAIR = 5, 100
SOME, MANY = 100, 1000
TIMES = 3
"""How often processor time is taken: a busy machine only ever adds to it."""

RUN = """
import json, resource, sys, time
from santiago.cli.main import main
began = time.monotonic()
code = main(sys.argv[2:])
wall = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_SELF)
open(sys.argv[1], 'w').write(json.dumps(
    {'code': code, 'user': used.ru_utime, 'kernel': used.ru_stime, 'wall': wall, 'memory': used.ru_maxrss}
))
"""
_GIT = re.compile(r'execve\("[^"]*/git", .*(?: = 0|<unfinished \.\.\.>)$')
_SYNC = re.compile(r"\b(?:fsync|fdatasync|syncfs)\(")


def run() -> list[Measured]:
    few, more = (min((_santiago(stories) for _ in range(TIMES)), key=_cpu) for stories in (FEW, FEW + SOME))
    user, kernel = ((more[kind] - few[kind]) / SOME * 1000 for kind in ("user", "kernel"))
    print(f"  execute-cpu: {user:.2f} ms in santiago, {kernel:.2f} ms in the kernel for it")
    some, many = _santiago(SOME), _santiago(MANY)
    return [
        *_counts(),
        verdict("execute-cpu", user + kernel, 20, unit=" ms"),
        _beside_a_loop("execute-wall-real", real=True),
        _beside_a_loop("execute-wall-empty", real=False),
        verdict("execute-wall-growth", many["wall"] / some["wall"], MANY / SOME),
        verdict("execute-cpu-growth", _cpu(many) / _cpu(some), MANY / SOME),
        verdict("execute-memory-growth", many["memory"] / some["memory"], MANY / SOME),
    ]


def _cpu(found: dict[str, float]) -> float:
    return found["user"] + found["kernel"]


def _beside_a_loop(row: str, *, real: bool) -> Figure:
    """Interleave both, so that whatever else the machine does hits one as much as the other."""
    ratios = [_santiago(IN_A_PAIR, real=real)["wall"] / _loop(IN_A_PAIR, real=real) for _ in range(PAIRS)]
    print(f"  {row}: {', '.join(f'{ratio:.2f}' for ratio in ratios)} in {PAIRS} pairs of {IN_A_PAIR} stories")
    return verdict(row, statistics.median(ratios), 1.15, among=ratios)


def _counts() -> list[Measured]:
    if not shutil.which("strace"):
        return [Skipped(row=row, reason="strace is missing") for row in ("execute-git", "execute-syncs")]
    few, more = _traced(FEW), _traced(MORE)
    git, syncs = ((b - a) / (MORE - FEW) for a, b in zip(few, more, strict=True))
    return [verdict("execute-git", git, 14, unit=""), verdict("execute-syncs", syncs, 12, unit="")]


def _traced(stories: int) -> tuple[int, int]:
    """Return how many git processes and syncs a run takes."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace")
        calls = "trace=execve,fsync,fdatasync,syncfs"
        _execute(Path(folder, "top"), stories, ["strace", "-f", "-qq", "-o", str(trace), "-e", calls])
        lines = trace.read_text(encoding="utf-8", errors="replace").splitlines()
    return sum(bool(_GIT.search(line)) for line in lines), sum(bool(_SYNC.search(line)) for line in lines)


def _santiago(stories: int, *, real: bool = False) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        return _execute(Path(folder, "top"), stories, [], real=real)


def _execute(top: Path, stories: int, before: list[str], *, real: bool = False) -> dict[str, float]:
    arguments = make(top, stories, real=real)
    figures = top / "figures.json"
    environment = {**os.environ, "XDG_CACHE_HOME": str(top / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed programs are compiled; only a fresh checkout is not
    subprocess.run(
        [*before, sys.executable, "-c", RUN, str(figures), *arguments],
        env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    found: dict[str, float] = json.loads(figures.read_text(encoding="utf-8"))
    if found["code"]:
        raise SystemExit(f"the run ended with {found['code']}")
    return found


def _loop(stories: int, *, real: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder, "top")
        make(top, stories, real=real)
        began = time.monotonic()
        subprocess.run(["sh", str(top / "loop.sh"), str(stories), str(top)], env=GIT, check=True)
        return time.monotonic() - began
