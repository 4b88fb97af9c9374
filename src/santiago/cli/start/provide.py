"""The ignored files that a checkout needs, such as `.env`: copied where the repository has them and the commit has not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.util.inside import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterable


def provide(repo: Path, names: Iterable[str], folder: str) -> None:
    for name in names:
        source, target = repo / name, Path(folder) / name
        # A link that an agent left here could lead santiago to write anywhere.
        safe = target.parent.is_dir() and is_inside(target.parent, folder)
        if safe and source.is_file() and not os.path.lexists(target):
            shutil.copyfile(source, target)
