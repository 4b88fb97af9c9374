"""Whether a path stays in a folder once all links on its way are followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_inside(path: Path | str, folder: Path | str) -> bool:
    """Say whether a path is the folder, or leads to a place below it; links in a circle lead nowhere, and are no error."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip("/") + "/")
