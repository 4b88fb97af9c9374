"""`python -m tests.docs [--write] PAGE…` types pages, and prints, or writes into them, what they show otherwise than it is."""

import sys
import tempfile
from pathlib import Path

from tests.docs.playing import Typed, play
from tests.docs.renewing import renew

for page in (Path(word) for word in sys.argv[1:] if word != "--write"):
    found: list[Typed] = []
    with tempfile.TemporaryDirectory() as folder:
        for typed in play(page, Path(folder)):
            found.append(typed)
            print(f"{typed.place} {'as shown' if typed.is_right else 'differs'}: $ {typed.command}")
            print("".join(f"{line}\n" for line in typed.printed if not typed.is_right), end="", flush=True)
    if "--write" in sys.argv:
        renew(page, found)
