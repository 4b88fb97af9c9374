"""`./dev bench [NAME …]`: run the benchmarks and print their ratios beside the targets."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("startup", "compile", "log", "execute", "watch", "board")


def main(arguments: list[str]) -> int:
    chosen = arguments or list(NAMES)
    missed = 0
    for name in chosen:
        if name not in NAMES:
            print(f"there is no benchmark {name!r}; there are {', '.join(NAMES)}")
            return 2
        print(f"\n== {name}")
        missed += import_module(f"benchmarks.bench_{name}").run()
    print(f"\n{'all targets reached' if not missed else f'{missed} targets missed'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
