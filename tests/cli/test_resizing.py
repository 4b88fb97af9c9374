"""The live table in a terminal that gets another size: it stands there once in every size, and leaves no copies behind."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import fakes
from tests.cli.santiago import trusted

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux, a terminal that breaks its lines anew"
)

TITLES = [
    f"Say word {number} so loudly that everybody in the room can hear it and write it down" for number in range(5)
]
PRD = "# PRD: Words\n\n" + "\n".join(
    f"### R{number}: {title}\n\n**Files:** `w{number}.txt`\n\n- [ ] it says w\n\n**Verification:** `test -f w{number}.txt`\n"
    for number, title in enumerate(TITLES, 1)
)


class Window:
    """A window of tmux with a program in it, on a server of its own."""

    def __init__(self, place: fakes.Place, command: list[str], columns: int, rows: int) -> None:
        self.socket = place.folder / "tmux"
        words = shlex.join(
            ["env", "-u", "COLUMNS", "-u", "LINES", *(f"{name}={value}" for name, value in place.env.items()), *command]
        )
        self.tmux(
            "-f", os.devnull, "new-session", "-d", "-c", str(place.repo), "-x", str(columns), "-y", str(rows),
            f"echo before the run; {words}; echo ended; cat",
        )  # fmt: skip

    def tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, check=True, timeout=60
        ).stdout

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def lines(self) -> list[str]:
        """Return what the window holds, and what has left it at the top."""
        return self.tmux("capture-pane", "-p", "-S", "-").splitlines()

    def until(self, true: Callable[[list[str]], bool]) -> list[str]:
        deadline = time.monotonic() + 60
        while not true(lines := self.lines()):
            assert time.monotonic() < deadline, "\n".join(lines)
            time.sleep(0.05)
        return lines


def _once(lines: list[str], columns: int) -> bool:
    """Tell whether the table stands there, once, in its form for that many columns."""
    heads = [line for line in lines if line.lstrip().startswith("story ")]
    rows = [line for line in lines if line.startswith((" ▶ ", " · "))]
    return (
        [row.split()[1] for row in rows] == [f"S{number}" for number in range(1, len(TITLES) + 1)]
        and rows[0].endswith("…")
        and len(rows[0]) == columns - 1
        and [("try" in head) for head in heads] == [columns > 60]
        and sum("ctrl-c stops safely" in line for line in lines) == 1
    )


def test_the_table_stands_there_once_in_every_size_and_leaves_only_what_stays(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path, prd=PRD)
    place.sign_in()
    said = fakes.says("I look at all the files that there are, and then at each of them once more. " * 3)
    halt = {"wait_for": str(tmp_path / "go")}
    turns = [[{"write": {f"w{number}.txt": "w\n"}}, fakes.ends(tokens=10, cost=0.01)] for number in range(1, 6)]
    place.install("claude", [fakes.begins(), said, halt, *turns[0]], *turns[1:])
    command = [sys.executable, "-m", "santiago", *trusted("run", "prd.md", "--trust-commands", "--jobs", "1")]
    window = Window(place, command, 200, 24)
    try:
        window.until(lambda lines: _once(lines, 200))
        for columns, rows in ((40, 24), (120, 20), (60, 24), (200, 40), (40, 18), (80, 24)):
            window.resize(columns, rows)
            window.until(lambda lines, columns=columns: _once(lines, columns))  # type: ignore[misc]
        (tmp_path / "go").touch()
        lines = window.until(lambda lines: "ended" in lines)
    finally:
        window.tmux("kill-server")
    assert lines[0] == "before the run"
    assert sum("begins: 5 stories" in line for line in lines) == 1
    assert [line.split()[1] for line in lines if line.startswith(" ✓ ")] == [f"S{n}" for n in range(1, len(TITLES) + 1)]
    assert not any("ctrl-c" in line or line.lstrip().startswith("story ") for line in lines)
