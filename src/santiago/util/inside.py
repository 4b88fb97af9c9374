"""Whether a path stays in a folder once all links on its way are followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_inside(path: Path | str, folder: Path | str) -> bool:
    """Tell whether a path is the folder or leads to a place below it. Links in a circle count as outside."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip("/") + "/")
