"""Santiago on a pseudo-terminal that can do much, with nothing set by whoever runs the tests."""

import os
import sys
from pathlib import Path

from tests.util import terminal


class Terminal(terminal.Terminal):
    def __init__(self, *words: str, cwd: Path, env: dict[str, str] | None = None) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SANTIAGO_", "NO_COLOR"))}
        whole = {**clean, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
        super().__init__([sys.executable, *words], cwd, whole)
