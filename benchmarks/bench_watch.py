"""The browser and the review on a pseudo-terminal, 2,000 stories in 40 chunks: first paint beside a bare Textual tree of the
same rows, from process start; from key to repaint; memory while a log of 100,000 events is followed."""

from __future__ import annotations

import compileall
import os
import select
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import verdict
from tests.tui.made import Made, document
from tests.tui.made_session import MadeSession
from tests.tui.terminal import Terminal

import santiago
from santiago.contract.events import EventKind

if TYPE_CHECKING:
    from proofs.figures import Measured

CHUNKS, STORIES, EVENTS, TIMES, KEYS = 40, 50, 100_000, 5, 200
TREE = """
import sys
from textual.app import App
from textual.widgets import Tree
class Bare(App):
    def compose(self):
        yield Tree('rows')
    def on_mount(self):
        tree = self.query_one(Tree)
        tree.root.expand()
        for chunk in range(int(sys.argv[1])):
            node = tree.root.add(f'Part {chunk}')
            for story in range(int(sys.argv[2])):
                node.add_leaf(f'story {story}')
Bare().run()
"""
PAINTED = b"Part 0"
"""The first row of the list, in both."""


def run() -> list[Measured]:
    compileall.compile_dir(Path(santiago.__file__).parent, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        made = _made(Path(folder) / "run")
        watch = ("-m", "santiago", "watch", str(made.out_dir))
        review = ("-m", "santiago", "review", str(_session(Path(folder))))
        found: list[Measured] = []
        for name, words, all_read in (("watch", watch, b"current"), ("review", review, b"uncovered")):
            found.append(verdict(f"{name}-paint", _beside_a_tree(words), 1.5))
            print(
                f"  everything read and painted: {statistics.median(_painted(*words, text=all_read) for _ in range(TIMES)):.2f} s"
            )
            found.append(verdict(f"{name}-key", _key_ms(words), 50, unit=" ms"))
        before, after = _memory(made, watch)
        print(f"  {before:.0f} MiB before, {after:.0f} MiB after {EVENTS:,} events")
        return [*found, verdict("watch-memory", after / before, 1.1)]


def _beside_a_tree(words: tuple[str, ...]) -> float:
    """Return how much longer the first paint takes than that of a bare tree."""
    bare = ("-c", TREE, str(CHUNKS), str(STORIES))
    _painted(*words), _painted(*bare)  # both compiled and read once
    pairs = [(_painted(*words), _painted(*bare)) for _ in range(TIMES)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"  first paint {ours:.2f} s, a bare tree {theirs:.2f} s, median of {TIMES}")
    return float(ours / theirs)


def large_document() -> str:
    return document(
        {
            f"Part {chunk}": tuple(f"Story {story} of part {chunk}" for story in range(STORIES))
            for chunk in range(CHUNKS)
        }
    )


def _session(root: Path) -> Path:
    session = MadeSession(root)
    session.has_turn(large_document())
    session.has_turn(large_document(), said="more")
    return session.folder


def _made(out_dir: Path) -> Made:
    made = Made(out_dir, large_document())
    made.begin()
    made.chunk(0)
    return made


def _painted(*words: str, text: bytes = PAINTED) -> float:
    """Return how long a program takes from its start to its first paint, or to a text that comes later."""
    start = time.perf_counter()
    terminal = Terminal(*words, cwd=Path.cwd())
    terminal.until(text)
    took = time.perf_counter() - start
    _leave(terminal)
    return took


def _leave(terminal: Terminal) -> None:
    terminal.process.terminate()
    terminal.ends()
    terminal.close()


def _key_ms(words: tuple[str, ...]) -> float:
    """Return the 95th percentile of the time from a key to what it paints."""
    terminal = Terminal(*words, cwd=Path.cwd())
    terminal.until(PAINTED)
    _quiet(terminal, 0.5)  # the screen paints once a second anyway
    took = []
    for _ in range(KEYS):
        start = time.perf_counter()
        os.write(terminal.ours, b"j")
        select.select([terminal.ours], [], [], 5)
        took.append((time.perf_counter() - start) * 1000)
        _quiet(terminal, 0.03)
    _leave(terminal)
    return statistics.quantiles(took, n=20)[-1]


def _quiet(terminal: Terminal, seconds: float) -> None:
    """Read on until nothing came for so long."""
    while select.select([terminal.ours], [], [], seconds)[0]:
        os.read(terminal.ours, 65536)


def _memory(made: Made, words: tuple[str, ...]) -> tuple[float, float]:
    """Return the resident memory of the browser before and after very many events, in MiB."""
    terminal = Terminal(*words, cwd=Path.cwd())
    terminal.until(PAINTED)
    _quiet(terminal, 0.5)  # the screen paints once a second anyway
    before = resident(terminal.process.pid)
    made.kept_back = True
    for _ in range(EVENTS):
        made.add(EventKind.TIME_USED, after=0, ms=1)
    made.kept_back = False
    made.add(EventKind.QUESTION_ASKED, "S2", question="S2-agent-1", kind="agent", text="Seen?", round=1)
    terminal.until(b"S2-agent-1 asks")
    after = resident(terminal.process.pid)
    _leave(terminal)
    return before, after


def resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"no memory of process {pid} on {sys.platform}")
