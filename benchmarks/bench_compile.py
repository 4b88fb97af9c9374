"""The compiler beside the parser it could be built on: time and memory, and how both grow with the document."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.documents import requirements
from benchmarks.measure import Cost, python, verdict

if TYPE_CHECKING:
    from proofs.figures import Measured

PARSE = "import sys; from markdown_it import MarkdownIt; MarkdownIt().parse(open(sys.argv[1]).read())"
COMPILE = """
import sys
from santiago.contract import codec
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
plan = compile_plan(Source(open(sys.argv[1]).read(), path='prd.md')).plan
assert plan is not None and len(plan.stories) == int(sys.argv[2]), plan
codec.canonical(plan)
"""
SIZES = (12_500, 25_000, 50_000, 100_000)


def run() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "prd.md"
        document.write_text(requirements(10_000, 3), encoding="utf-8")
        parse = python(PARSE, str(document), times=5).seconds
        compiled = python(COMPILE, str(document), "10000", times=5).seconds
        print(
            f"  10,000 requirements, 30,000 edges, {document.stat().st_size / 1e6:.1f} MB: markdown-it-py {parse:.2f} s, santiago {compiled:.2f} s"
        )
        costs = [_growth(document, size) for size in SIZES]
    # Doubling doubles, within the noise of a shared machine.
    times = [after.seconds / before.seconds for before, after in pairwise(costs)]
    memory = [after.mebibytes / before.mebibytes for before, after in pairwise(costs)]
    return [
        verdict("compile-parser", compiled / parse, 3),
        verdict("compile-time", max(times), 2.3, among=times),
        verdict("compile-memory", max(memory), 2.3, among=memory),
    ]


def _growth(document: Path, size: int) -> Cost:
    document.write_text(requirements(size, 3), encoding="utf-8")
    cost = python(COMPILE, str(document), str(size), times=2)
    print(
        f"  {size:>7,} requirements: {cost.seconds:6.2f} s, {cost.mebibytes:6.0f} MiB, document {document.stat().st_size / 1e6:.1f} MB"
    )
    return cost
