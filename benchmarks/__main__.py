"""`./dev bench [--no-write] [NAME …]`: run the benchmarks, and write their figures into docs/proofs.md."""

from __future__ import annotations

import sys
from importlib import import_module

from proofs.rows import BENCHMARKS
from proofs.running import each, one

COMMANDS = {measurement.words[0]: measurement.command for measurement in BENCHMARKS}


def main(arguments: list[str]) -> int:
    no_write = "--no-write" in arguments
    names = [word for word in arguments if word != "--no-write"] or list(COMMANDS)
    if unknown := [name for name in names if name not in COMMANDS]:
        print(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(COMMANDS)}")
        return 2
    if names[1:]:
        return each([["-m", "benchmarks", name, *(["--no-write"] if no_write else [])] for name in names])
    run = import_module(f"benchmarks.bench_{names[0]}").run
    return one(COMMANDS[names[0]], run, why_not="--no-write was given" if no_write else "")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
