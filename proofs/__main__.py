"""`python -m proofs NAME [--count N] [--seed N] [--places N]`: one proof, its figures, and exit code 1 where it fails."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = (
    "ports",
    "kills",
    "gates",
    "sessions",
    "loop",
    "powercuts",
    "parity",
    "flood",
    "agents",
    "honest",
    "mutations",
    "faults",
    "board",
    "adversaries",
    "pages",
)


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    if not arguments or arguments[0] not in NAMES:
        print(f"usage: python -m proofs {'|'.join(NAMES)} [options]")
        return 2
    code: int = import_module(f"proofs.{arguments[0]}").run(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
