"""`python -m tests.docs PAGE…` types pages and prints what commands print that the page shows otherwise, for those who write them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs.playing import play

for name in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        for typed in play(Path(name), Path(folder)):
            print(f"{typed.place} {'as shown' if typed.is_right else 'differs'}: $ {typed.command}")
            print(
                *([] if typed.is_right else typed.printed),
                sep="\n",
                end="\n" if typed.printed and not typed.is_right else "",
            )
