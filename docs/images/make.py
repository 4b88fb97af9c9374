"""Draws the terminal pictures of the documentation from real output, in a repository that holds examples/ledger:

python docs/images/make.py NAME COMMAND…
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text


def main(name: str, command: list[str]) -> None:
    """Run a command with colours on and write its output as an SVG beside this file."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={
            "FORCE_COLOR": "1",
            "COLUMNS": "100",
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": "/nonexistent",
        },
    )
    console = Console(record=True, width=100, file=open("/dev/null", "w"), force_terminal=True)  # noqa: SIM115, PTH123
    console.print(Text.from_ansi(f"$ {' '.join(command)}\n{done.stdout}".rstrip()))
    svg = console.export_svg(title=" ".join(command[:2]))
    # No font from elsewhere: the picture must be the same without a network.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "monospace")
    Path(__file__).with_name(f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
