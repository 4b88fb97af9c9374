"""Measuring: one command whose figures are told and recorded, or several commands, each in a process of its own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.figures import PAGE, ROOT, Figure, Measured, Record, missed, read, told, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MEASURED = ("src", "tests", "proofs", "benchmarks")
"""Where a change that is not committed makes the commit of a figure a lie."""
BUSY = 0.05
"""The share of the machine from which on other programs disturb a measurement."""
_TOLD = ("  ok ", "  MISSED ", "  FAILED ", "  skipped ")


def one(command: str, measure: Callable[[], list[Measured]], *, why_not: str = "", root: Path = ROOT) -> int:
    """Measure and print; record the figures unless there is a reason not to. Return the exit code."""
    before = _commit(root)
    if why_not := why_not or _why_not_written(root, before):
        print(f"  will not be written into {PAGE}: {why_not}", flush=True)
    busy, began = machine_is_busy(), time.monotonic()
    with tempfile.TemporaryDirectory() as state:  # its runs are none of the user's, and no history for their forecasts
        os.environ["XDG_STATE_HOME"] = state
        found = measure()
    seconds = time.monotonic() - began
    load = "busy" if machine_is_busy() or busy else "quiet"
    for measured in found:
        print(told(measured))
    print(f"  {command} took {seconds:.0f} s on a {load} machine")
    if not why_not and (changed := _why_not_written(root, before)):
        print(f"  not written into {PAGE}: {changed}")
    elif not why_not:
        about = {
            "command": command,
            "commit": before,
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "load": load,
            "machine": machine(),
        }
        figures = [measured for measured in found if isinstance(measured, Figure)]
        write(read(root) | {figure.row: Record(**{**asdict(figure), **about}) for figure in figures}, root)
    return 1 if missed(found) else 0


def each(commands: Sequence[Sequence[str]]) -> int:
    """Run Python programs one after the other, whatever becomes of each; end with all that they measured."""
    lines, code = list[str](), 0
    try:
        for command in commands:
            print(f"\n== {' '.join(command[1:])}", flush=True)
            code = _started(command, lines) or code
    except KeyboardInterrupt:
        lines.append("  interrupted; what was measured before is kept")
        code = 130
    print("\n" + "\n".join(lines))
    return code


def _started(command: Sequence[str], lines: list[str]) -> int:
    """Run one and pass on what it prints; add its figures to the lines, and return 1 where it failed."""
    before, env = len(lines), {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([sys.executable, *command], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines += [line.rstrip("\n")] if line.startswith(_TOLD) else []
            code = process.wait()
        except KeyboardInterrupt:
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)  # Ctrl-C reaches it as well, and it has folders to remove
            process.terminate()
            raise
    if code and not any("MISSED" in line for line in lines[before:]):
        lines.append(f"  FAILED  {' '.join(command[1:])}: ended with {code}")
    return 1 if code else 0


def _commit(root: Path) -> str:
    """Return the commit that the code stands at."""
    return _output(root, "git", "rev-parse", "--short=7", "HEAD")


def _why_not_written(root: Path, before: str) -> str:
    if changed := _output(root, "git", "status", "--porcelain", "--", *MEASURED).split("\n")[0]:
        return f"{changed[2:].strip()} has changes without a commit, so no commit names the code that was measured"
    return "" if _commit(root) == before else f"the code was at commit {before} when the measurement began"


def machine() -> str:
    git = _output(ROOT, "git", "version").removeprefix("git version ")
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}, git {git}"


def machine_is_busy() -> bool:
    """Look for two seconds; one quiet second is enough, as the end of a measurement keeps the disk busy for a moment."""
    return all(_share_in_use(1.0) > BUSY for _ in range(2))


def _share_in_use(seconds: float) -> float:
    """Return the share of all processors that programs, or other machines on the same hardware, use meanwhile."""
    before = _ticks()
    time.sleep(seconds)
    spent = [after - at_first for at_first, after in zip(before, _ticks(), strict=True)]
    idle, waiting = spent[3:5]
    return 1 - (idle + waiting) / max(sum(spent), 1)


def _ticks() -> list[int]:
    """Return the time of user, nice, system, idle, waiting, two kinds of interrupts, and steal."""
    try:
        return [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]]
    except OSError:  # not Linux: nobody knows that the machine is quiet, and no share of it was idle
        return [0] * 8


def _output(root: Path, *words: str) -> str:
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout.rstrip()
