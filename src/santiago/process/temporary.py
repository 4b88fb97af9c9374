"""A temporary folder for a program. It is removed afterwards, whatever was put into it."""

from __future__ import annotations

import contextlib
import tempfile
from typing import TYPE_CHECKING

from santiago.util.removal import remove

if TYPE_CHECKING:
    from pathlib import Path


class Temporary:
    """Use it with `with`. What a crash leaves is removed with the rest of the scratch folder."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch

    def __enter__(self) -> str:
        try:
            self.path = tempfile.mkdtemp(prefix="tmp-", dir=self.scratch)
        except FileNotFoundError:  # the first one
            self.scratch.mkdir(parents=True, exist_ok=True)
            self.path = tempfile.mkdtemp(prefix="tmp-", dir=self.scratch)
        return self.path

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # what cannot be removed is left for the next clean-up
            remove(self.path)
