"""Measuring children: CPU time and peak memory of a fresh process, the best of several; and a figure beside its target."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from proofs.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence


class Cost(NamedTuple):
    seconds: float
    """User and system time of the child."""
    mebibytes: float
    """Peak resident memory."""


def child(arguments: list[str], *, times: int = 1, cwd: str | None = None) -> Cost:
    """Run a command several times and return its smallest cost."""
    best = Cost(float("inf"), float("inf"))
    for _ in range(times):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{arguments} ended with {process.returncode}")
        cost = Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = Cost(min(best.seconds, cost.seconds), min(best.mebibytes, cost.mebibytes))
    return best


def python(code: str, *arguments: str, times: int = 1) -> Cost:
    return child([sys.executable, "-c", code, *arguments], times=times)


def verdict(row: str, value: float, target: float, *, unit: str = "x", among: Sequence[float] = ()) -> Figure:
    """Return a figure that must not be above its target, with the least and the most of the values that it is taken from."""
    spread = f" ({min(among):.2f} to {max(among):.2f})" if among else ""
    figure, most = f"{value:.2f}{unit}{spread}", f"at most {target:g}{unit}"
    return Figure(row=row, figure=figure, target=most, missed=value > target)
