"""Runs santiago with one kind of fence: `fenced.py KIND ARGUMENTS…`, as on a machine where no stronger one works."""

import sys

from santiago.cli.main import main
from santiago.process import sandbox


def weaken(kind: str) -> None:
    """Let stronger kinds be missing."""
    if kind != "bubblewrap":
        sandbox._bubblewrap = lambda _: None  # type: ignore[assignment]  # as if it were not installed
    if kind not in ("bubblewrap", "namespaces"):
        sandbox._namespaces = lambda _: None  # type: ignore[assignment]  # as if the kernel gave none


if __name__ == "__main__":
    weaken(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
