"""What a command costs before it does anything: child CPU time beside a bare interpreter, minimum of 15."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.documents import requirements
from benchmarks.measure import child, verdict

TIMES = 15


def run() -> int:
    santiago = str(Path(sys.executable).with_name("santiago"))
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "prd.md"
        document.write_text(requirements(20, 1), encoding="utf-8")
        bare = child([sys.executable, "-c", "pass"], times=TIMES).seconds
        version = child([santiago, "--help"], times=TIMES).seconds
        plan = child([santiago, "plan", str(document), "--out-dir", f"{folder}/out"], times=TIMES).seconds
    print(
        f"  python -c pass {bare * 1000:.0f} ms, --help {version * 1000:.0f} ms, plan of 20 requirements {plan * 1000:.0f} ms"
    )
    return verdict("santiago --help / python -c pass", version / bare, 8) + verdict(
        "santiago plan (20) / python -c pass", plan / bare, 30
    )
