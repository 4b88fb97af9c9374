"""A folder for what a program writes beside its work; it is gone afterwards, whatever was put into it."""

from __future__ import annotations

import contextlib
import tempfile
from typing import TYPE_CHECKING

from santiago.util.removal import remove

if TYPE_CHECKING:
    from pathlib import Path


class Temporary:
    """Use it with `with`; what a crash leaves is swept with the rest of the scratch folder."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    def __enter__(self) -> str:
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.path = tempfile.mkdtemp(prefix="tmp-", dir=self.scratch)
        return self.path

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # what still resists stays for the next clean-up
            remove(self.path)
